package cli

import (
	"errors"

	"github.com/sandloop/sandloop/config"
	"github.com/sandloop/sandloop/internal/seal"
)

// Keys are the keys that jobs are signed, verified and sealed with. Each is nil where none is configured.
type Keys struct{ Sign, Verify, Seal *seal.Keys }

// ProducerKeys reads the keys of whoever submits jobs. The error names the setting and is the user's to mend.
func ProducerKeys(c config.Jobs) (k Keys, err error) {
	var problem error
	k.Sign, err = seal.ReadOptional("jobs.sign_key_file", c.SignKeyFile)
	k.Seal, problem = seal.ReadOptional("jobs.seal_key_file", c.SealKeyFile)
	if err = errors.Join(err, problem); err != nil {
		return Keys{}, UsageError(err)
	}
	return k, nil
}

// WorkerKeys reads the keys of a worker. The error names the setting.
func WorkerKeys(c config.Jobs) (k Keys, err error) {
	var problem error
	k.Verify, err = seal.ReadOptional("jobs.verify_key_file", c.VerifyKeyFile)
	k.Seal, problem = seal.ReadOptional("jobs.seal_key_file", c.SealKeyFile)
	if err = errors.Join(err, problem); err != nil {
		return Keys{}, err
	}
	return k, nil
}
