// Package debugging serves the paths below /debug/ of Kubernetes' programs: Go's profiles, and the verbosity of the log, which
// PUT /debug/flags/v changes. They tell much about the process, so a server authorizes requests for them before it calls the
// handler.
package debugging

import (
	"net/http"
	"net/http/pprof"
	"strings"
)

// Prefix begins all paths of the handler.
const Prefix = "/debug/"

// The paths of profiles and flags, as in kube-apiserver.
const (
	profiles = Prefix + "pprof"
	flags    = Prefix + "flags"
)

// Handler serves the paths. setVerbosity changes the verbosity of the log.
func Handler(setVerbosity func(v uint32) error) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch path := r.URL.Path; {
		case path == profiles:
			http.Redirect(w, r, profiles+"/", http.StatusMovedPermanently)
		case strings.HasPrefix(path, profiles+"/"):
			profile(w, r)
		case path == flags+"/v":
			verbosity(w, r, setVerbosity)
		case path == flags || strings.HasPrefix(path, flags+"/"):
			listFlags(w)
		default:
			http.NotFound(w, r)
		}
	})
}

// profile answers in the form that `go tool pprof` reads.
func profile(w http.ResponseWriter, r *http.Request) {
	switch strings.TrimPrefix(r.URL.Path, profiles+"/") {
	case "cmdline":
		pprof.Cmdline(w, r)
	case "profile":
		pprof.Profile(w, r)
	case "symbol":
		pprof.Symbol(w, r)
	case "trace":
		pprof.Trace(w, r)
	default:
		pprof.Index(w, r)
	}
}
