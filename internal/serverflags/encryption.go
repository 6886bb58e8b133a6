package serverflags

import (
	"errors"

	"fairlead.dev/internal/controlplane"
	"github.com/spf13/pflag"
)

func registerEncryption(set *pflag.FlagSet, e *controlplane.Encryption) {
	set.StringVar(&e.ConfigFile, "encryption-provider-config", "", "file with an EncryptionConfiguration: how values of which resources are encrypted in the store")
	set.BoolVar(&e.Reloads, "encryption-provider-config-automatic-reload", false, "read the file of --encryption-provider-config again when it changes")
}

func checkEncryption(e *controlplane.Encryption) error {
	if e.Reloads && e.ConfigFile == "" {
		return errors.New("--encryption-provider-config-automatic-reload must be set with --encryption-provider-config")
	}
	return nil
}
