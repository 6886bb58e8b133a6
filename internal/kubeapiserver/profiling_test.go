package kubeapiserver_test

import (
	"net/http"
	"strings"
	"testing"
)

// TestProfiling: users with a rule for the paths get profiles and change the verbosity of the log, as with kube-apiserver, and
// --profiling=false leaves the paths out.
func TestProfiling(t *testing.T) {
	base, c := host(start(t, "--authorization-mode=RBAC")("root-token")), browser(t, true)
	for _, r := range []struct {
		method, path, body, token string
		code                      int
		text                      string
	}{
		{http.MethodGet, "/debug/pprof", "", "root-token", http.StatusOK, "goroutine"},
		{http.MethodGet, "/debug/pprof/goroutine?debug=1", "", "root-token", http.StatusOK, "goroutine profile: total "},
		{http.MethodGet, "/debug/pprof/goroutine?debug=1", "", "ada-token", http.StatusForbidden, "cannot get path"},
		{http.MethodGet, "/debug/flags/", "", "root-token", http.StatusOK, "/debug/flags/v"},
		{http.MethodGet, "/debug/flags/v", "", "root-token", http.StatusNotAcceptable, "unsupported http method\n"},
		{http.MethodPut, "/debug/flags/v", "much", "root-token", http.StatusBadRequest, `strconv.ParseUint: parsing "much": invalid syntax` + "\n"},
		{http.MethodPut, "/debug/flags/v", strings.Repeat("1", 200), "root-token", http.StatusBadRequest, "error reading request body: http: request body too large\n"},
		{http.MethodPut, "/debug/flags/v", "0", "ada-token", http.StatusForbidden, "cannot put path"},
		{http.MethodPut, "/debug/flags/v", "0", "root-token", http.StatusOK, "successfully set klog.logging.verbosity to 0\n"},
		{http.MethodGet, "/debug/other", "", "root-token", http.StatusNotFound, "404 page not found\n"},
	} {
		resp, text := send(t, c, r.method, base+r.path, strings.NewReader(r.body), http.Header{"Authorization": {"Bearer " + r.token}})
		if resp.StatusCode != r.code || !strings.Contains(text, r.text) {
			t.Errorf("%s %s %.10s by %s: %s %s, want %d %s", r.method, r.path, r.body, r.token, resp.Status, text, r.code, r.text)
		}
	}

	base = host(start(t, "--profiling=false")("root-token"))
	for _, path := range []string{"/debug/pprof/", "/debug/flags/v"} {
		if resp, text := send(t, c, http.MethodGet, base+path, nil, nil); resp.StatusCode != http.StatusNotFound {
			t.Errorf("%s with --profiling=false: %s %s", path, resp.Status, text)
		}
	}
}
