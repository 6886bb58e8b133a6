package partflags

import (
	"errors"
	"fmt"
	"net"
	"strconv"

	"github.com/spf13/pflag"

	"fairlead.dev/internal/controlplane"
)

// Endpoints has the flags that are those of kube-scheduler and kube-controller-manager for their health checks and metrics.
type Endpoints struct {
	port        int
	address     net.IP
	certificate controlplane.CertificateFiles
}

// Register adds the flags; usual is the port of upstream's program.
func (f *Endpoints) Register(flags *pflag.FlagSet, usual int) {
	flags.IntVar(&f.port, "secure-port", 0, fmt.Sprintf("port of /healthz, /livez, /readyz, /metrics and /configz over HTTPS, such as %d (default: they are not served)", usual))
	flags.IPVar(&f.address, "bind-address", net.IPv4zero, "address of --secure-port")
	flags.StringVar(&f.certificate.CertFile, "tls-cert-file", "", "file with the certificate of --secure-port and those between it and its CA (default: one that the process makes); read again when it changes")
	flags.StringVar(&f.certificate.KeyFile, "tls-private-key-file", "", "file with the key of that certificate")
}

// Listen returns the endpoints, nil without a port.
func (f *Endpoints) Listen() (*controlplane.Endpoints, error) {
	if (f.certificate.CertFile == "") != (f.certificate.KeyFile == "") {
		return nil, UsageError{errors.New("--tls-cert-file and --tls-private-key-file: want both or neither")}
	}
	if f.port == 0 {
		return nil, nil
	}
	if f.port < 0 || f.port > 65535 {
		return nil, UsageError{fmt.Errorf("--secure-port=%d: must be between 0 and 65535", f.port)}
	}
	l, err := net.Listen("tcp", net.JoinHostPort(f.address.String(), strconv.Itoa(f.port)))
	if err != nil {
		return nil, fmt.Errorf("--secure-port: %w", err)
	}
	return &controlplane.Endpoints{Listener: l, Certificate: f.certificate}, nil
}
