package serverflags

import (
	"net/http"
	"runtime"

	"fairlead.dev/internal/controlplane"
	"fairlead.dev/internal/server/debugging"
	"github.com/spf13/pflag"
)

// Profiling has the flags of the paths below /debug/.
type Profiling struct{ on, contention bool }

// Register registers the flags.
func (p *Profiling) Register(set *pflag.FlagSet) {
	set.BoolVar(&p.on, "profiling", true, "serve Go's profiles at /debug/pprof/ and the log's verbosity at /debug/flags/v to users with a rule for these paths")
	set.BoolVar(&p.contention, "contention-profiling", false, "record where goroutines wait, for the profile block, with --profiling")
}

// Handler returns the handler of the paths, nil if the flags refuse it. setVerbosity changes the verbosity of the log.
func (p *Profiling) Handler(setVerbosity func(v uint32) error) http.Handler {
	if !p.on {
		return nil
	}
	return p.handler(setVerbosity)
}

func (p *Profiling) handler(setVerbosity func(v uint32) error) http.Handler {
	if p.contention {
		runtime.SetBlockProfileRate(1)
	}
	return debugging.Handler(setVerbosity)
}

// registerDebugSocket registers the flag of the socket that serves the paths without --profiling, too.
func registerDebugSocket(set *pflag.FlagSet, s *controlplane.DebugSocket) {
	set.StringVar(&s.Path, "debug-socket-path", "", "Unix socket that serves the paths of --profiling to this user without authentication, also if that is false")
}

// serveSocket sets the handler of the socket, if there is one.
func (p *Profiling) serveSocket(s *controlplane.DebugSocket, setVerbosity func(v uint32) error) {
	if s.Path != "" {
		s.Handler = p.handler(setVerbosity)
	}
}
