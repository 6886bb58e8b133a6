package server

import (
	"net/http"
	"net/http/pprof"
	"strings"
)

// profiles is where kube-apiserver, too, tells what it is busy with; who may read it is
// RBAC's to say, as for every path.
const profiles = "/debug/pprof"

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
