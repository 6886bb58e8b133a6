package kubeapiserver_test

import (
	"context"
	"net"
	"net/http"
	"os"
	"path/filepath"
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

// TestDebugSocket: the socket serves profiles and the log's verbosity without credentials, also with --profiling=false, only
// to this user, and ends with the server.
func TestDebugSocket(t *testing.T) {
	dir, err := os.MkdirTemp("", "debug") // t.TempDir is long
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "debug.sock")
	old, err := net.Listen("unix", path) // as a crash leaves it
	if err != nil {
		t.Fatal(err)
	}
	old.(*net.UnixListener).SetUnlinkOnClose(false)
	old.Close()
	t.Run("served", func(t *testing.T) {
		start(t, "--profiling=false", "--debug-socket-path="+path)("root-token")
		if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("the socket: %v, %v", info, err)
		}
		c := &http.Client{Transport: &http.Transport{DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			return new(net.Dialer).DialContext(ctx, "unix", path)
		}}}
		defer c.CloseIdleConnections()
		for _, r := range []struct {
			method, path, body string
			code               int
			text               string
		}{
			{http.MethodGet, "/debug/pprof", "", http.StatusOK, "goroutine"},
			{http.MethodGet, "/debug/pprof/goroutine?debug=1", "", http.StatusOK, "goroutine profile: total "},
			{http.MethodPut, "/debug/flags/v", "0", http.StatusOK, "successfully set klog.logging.verbosity to 0\n"},
			{http.MethodGet, "/api", "", http.StatusNotFound, "404 page not found\n"},
		} {
			resp, text := send(t, c, r.method, "http://debug"+r.path, strings.NewReader(r.body), nil)
			if resp.StatusCode != r.code || !strings.Contains(text, r.text) {
				t.Errorf("%s %s: %s %s, want %d %s", r.method, r.path, resp.Status, text, r.code, r.text)
			}
		}
	})
	if _, err := os.Lstat(path); !os.IsNotExist(err) {
		t.Errorf("after the server's end: %v", err)
	}
}
