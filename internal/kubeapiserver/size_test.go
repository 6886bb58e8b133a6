package kubeapiserver_test

import (
	"net/http"
	"strings"
	"testing"
)

// TestSizes sends requests just within and beyond limits on their size, over HTTP/1.1 and both implementations of
// HTTP/2.
func TestSizes(t *testing.T) {
	nested := func(levels int) string {
		return `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"generateName":"a"},"x":` + strings.Repeat("[", levels-1) + strings.Repeat("]", levels-1) + "}"
	}
	types := func(t string) http.Header { return http.Header{"Content-Type": {t}} }
	const maps = "/api/v1/namespaces/default/configmaps"
	for name, server := range map[string]struct {
		flag string
		h2   bool
	}{
		"HTTP/1.1": {"--disable-http2-serving", false}, "fairlead": {"--http2=fairlead", true}, "net/http": {"--http2=net/http", true},
	} {
		t.Run(name, func(t *testing.T) {
			base := host(start(t, server.flag)("root-token"))
			c := browser(t, server.h2)
			for _, q := range []struct {
				what, method, path, body string
				header                   http.Header
				want                     int
			}{
				{"JSON of 10,000 levels", "POST", maps, nested(10_000), types("application/json"), 201},
				{"JSON of 10,001 levels", "POST", maps, nested(10_001), types("application/json"), 400},
				{"YAML of 10,001 levels", "POST", maps, nested(10_001), types("application/yaml"), 400},
				{"a merge patch of 10,001 levels", "PATCH", "/api/v1/namespaces/default", nested(10_001), types("application/merge-patch+json"), 400},
				{"an applied object of 10,001 levels", "PATCH", maps + "/a?fieldManager=me", nested(10_001), types("application/apply-patch+yaml"), 400},
				{"a URL of 900 KB", "GET", maps + "?labelSelector=" + strings.Repeat("a%2C", 225_000) + "b", "", nil, 200},
				{"a URL of 1.2 MB", "GET", maps + "?labelSelector=" + strings.Repeat("a%2C", 300_000) + "b", "", nil, 431},
				{"a header of 1.2 MB", "GET", maps, "", http.Header{"X-Long": {strings.Repeat("a", 1_200_000)}}, 431},
			} {
				if q.want == http.StatusRequestHeaderFieldsTooLarge && server.h2 {
					continue // the client heeds the server's SETTINGS_MAX_HEADER_LIST_SIZE; internal/server/h2 tests others
				}
				resp, text := send(t, c, q.method, base+q.path, strings.NewReader(q.body), q.header)
				if resp.StatusCode != q.want {
					t.Errorf("%s: %s, want %d: %.300s", q.what, resp.Status, q.want, text)
				}
			}
		})
	}
}
