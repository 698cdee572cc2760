// Package config is every setting of sandloop: one struct, one set of defaults, one
// loader and one validator, and the table of languages that goes with it.
//
// Its one invariant: a configuration that Load returns is complete and within bounds, so
// that no part of the program checks a setting again or reads the environment itself.
//
// It imports internal/sandbox of ours, and viper.
package config
