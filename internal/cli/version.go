package cli

import (
	"fmt"
	"io"
	"runtime"
	"runtime/debug"

	"github.com/spf13/cobra"
)

// AddVersion gives a program the command version and the flag --version, which say the same.
func AddVersion(root *cobra.Command, stdout io.Writer) {
	text := fmt.Sprintf("%s %s %s %s/%s\n", root.Name(), Version(), runtime.Version(), runtime.GOOS, runtime.GOARCH)
	root.Version = Version()
	root.SetVersionTemplate(text)
	root.AddCommand(&cobra.Command{
		Use: "version", Short: "Print the version", Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			_, err := io.WriteString(stdout, text)
			return err
		},
	})
}

// Version is what the build recorded: the module's version, or else the revision of the checkout.
func Version() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "unknown"
	}
	if info.Main.Version != "" {
		return info.Main.Version
	}
	for _, setting := range info.Settings {
		if setting.Key == "vcs.revision" {
			return setting.Value
		}
	}
	return "unknown"
}
