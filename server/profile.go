package server

import (
	"net/http"
	"net/http/pprof"
	"runtime"
	"strings"
)

// profiles is where kube-apiserver, too, tells what it is busy with; who may read it is
// RBAC's to say, as for every path.
const profiles = "/debug/pprof"

// memProfileRate is Go's own: a sample for so many bytes.
const memProfileRate = 512 << 10

// profile answers in the form that `go tool pprof` reads. Where a program began without
// samples of what is allocated, which cost a few megabytes, they begin with the first
// request for them.
func profile(w http.ResponseWriter, r *http.Request) {
	switch strings.TrimPrefix(r.URL.Path, profiles+"/") {
	case "heap", "allocs":
		if runtime.MemProfileRate == 0 {
			runtime.MemProfileRate = memProfileRate
		}
		pprof.Index(w, r)
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
