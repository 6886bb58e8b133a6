package serverflags

import (
	"errors"
	"fmt"

	"fairlead.dev/internal/controlplane"
	"github.com/spf13/pflag"
	cliflag "k8s.io/component-base/cli/flag"
)

// Serving has the flags of TLS that have another form than their options.
type Serving struct {
	named      []cliflag.NamedCertKey
	minVersion string
	suites     []string
	curves     []int32
}

// Register registers the flags of TLS.
func (f *Serving) Register(set *pflag.FlagSet, s *controlplane.Serving) {
	set.StringVar(&s.Certificate.CertFile, "tls-cert-file", "", "file with the serving certificate and those between it and its CA (default: one that the process issues); read again when it changes")
	set.StringVar(&s.Certificate.KeyFile, "tls-private-key-file", "", "file with the key of that certificate")
	set.Var(cliflag.NewNamedCertKeyArray(&f.named), "tls-sni-cert-key", "certificate and key for clients that ask for certain host names, such as foo.crt,foo.key:*.foo.com,foo.com (default the names in the certificate); may be repeated")
	set.StringVar(&f.minVersion, "tls-min-version", "", "oldest version of TLS for clients: VersionTLS12 (the default) or VersionTLS13, and the insecure VersionTLS10 and VersionTLS11")
	set.StringSliceVar(&f.suites, "tls-cipher-suites", nil, "cipher suites for clients of TLS 1.2 and older, by the names of IANA (default those of Go)")
	set.Int32SliceVar(&f.curves, "tls-curve-preferences", nil, "key exchange mechanisms for clients, by the numbers of IANA (default those of Go)")
}

// Complete checks the flags and sets the rest of the options.
func (f *Serving) Complete(s *controlplane.Serving) (err error) {
	if (s.Certificate.CertFile == "") != (s.Certificate.KeyFile == "") {
		return errors.New("--tls-cert-file and --tls-private-key-file: want both or neither")
	}
	for _, n := range f.named {
		s.Named = append(s.Named, controlplane.NamedCertificate{CertificateFiles: controlplane.CertificateFiles{CertFile: n.CertFile, KeyFile: n.KeyFile}, Names: n.Names})
	}
	if s.MinVersion, err = cliflag.TLSVersion(f.minVersion); err != nil {
		return fmt.Errorf("--tls-min-version: %w", err)
	}
	if s.CipherSuites, err = cliflag.TLSCipherSuites(f.suites); err != nil {
		return fmt.Errorf("--tls-cipher-suites: %w", err)
	}
	if s.Curves, err = cliflag.TLSCurvePreferences(f.curves); err != nil {
		return fmt.Errorf("--tls-curve-preferences: %w", err)
	}
	return nil
}
