package serverflags

import (
	"errors"

	"fairlead.dev/internal/controlplane"
	"github.com/spf13/pflag"
)

func registerServing(set *pflag.FlagSet, a *controlplane.Access) {
	set.StringVar(&a.ServingCertFile, "tls-cert-file", "", "file with the server's certificate and those between it and its CA (default one of the server's own CA)")
	set.StringVar(&a.ServingKeyFile, "tls-private-key-file", "", "file with the key of the server's certificate")
}

func checkServing(a *controlplane.Access) error {
	if (a.ServingCertFile == "") != (a.ServingKeyFile == "") {
		return errors.New("--tls-cert-file and --tls-private-key-file: want both or neither")
	}
	return nil
}
