package server

import (
	"net/http"
	"net/http/pprof"
	"strings"
)

// profiles is the path of Go's profiles, as in kube-apiserver. RBAC decides about access, as
// for every path.
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
