package partflags

import (
	"fmt"
	"net"
	"strconv"

	"github.com/spf13/pflag"

	"fairlead.dev/internal/controlplane"
	"fairlead.dev/internal/logflags"
	"fairlead.dev/internal/serverflags"
)

// Endpoints has the flags that are those of kube-scheduler and kube-controller-manager for their health checks, metrics and profiles.
type Endpoints struct {
	port      int
	address   net.IP
	endpoints controlplane.Endpoints
	serving   serverflags.Serving
	profiling serverflags.Profiling
}

// Register adds the flags; usual is the port of upstream's program.
func (f *Endpoints) Register(flags *pflag.FlagSet, usual int) {
	flags.IntVar(&f.port, "secure-port", 0, fmt.Sprintf("port of /healthz, /livez, /readyz, /metrics, /configz and /debug/ over HTTPS, such as %d (default: they are not served)", usual))
	flags.IPVar(&f.address, "bind-address", net.IPv4zero, "address of --secure-port")
	flags.BoolVar(&f.endpoints.NoHTTP2, "disable-http2-serving", false, "serve HTTP/1.1 only at --secure-port")
	flags.IntVar(&f.endpoints.MaxStreams, "http2-max-streams-per-connection", 0, "how many requests a connection over HTTP/2 to --secure-port has at once (default that of Go)")
	f.serving.Register(flags, &f.endpoints.Serving)
	f.profiling.Register(flags)
}

// Listen returns the endpoints, nil without a port. They change the verbosity of the log.
func (f *Endpoints) Listen(log *logflags.Flags) (*controlplane.Endpoints, error) {
	if err := f.serving.Complete(&f.endpoints.Serving); err != nil {
		return nil, UsageError{err}
	}
	if f.endpoints.MaxStreams < 0 {
		return nil, UsageError{fmt.Errorf("--http2-max-streams-per-connection=%d: want 0 or more", f.endpoints.MaxStreams)}
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
	f.endpoints.Listener, f.endpoints.Debug = l, f.profiling.Handler(log.SetVerbosity)
	return &f.endpoints, nil
}
