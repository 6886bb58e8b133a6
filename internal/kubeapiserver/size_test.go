package kubeapiserver_test

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
)

// laughs returns an object in YAML in which each anchor stands for twice the one before.
func laughs(doublings int) string {
	text := "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\na0: &a0 lol\n"
	for i := range doublings {
		text += fmt.Sprintf("a%d: &a%d [*a%d, *a%d]\n", i+1, i+1, i, i)
	}
	return text
}

// doubling returns a JSON patch each operation of which copies all that was copied before.
func doubling(times int) string {
	text := `[{"op":"add","path":"/metadata/annotations","value":{"a":"b"}}`
	for i := range times {
		text += fmt.Sprintf(`,{"op":"copy","from":"/metadata","path":"/metadata/copy%d"}`, i)
	}
	return text + "]"
}

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
				{"a URL of 900 KB", "GET", maps + "?labelSelector=a+in+(" + strings.Repeat("a%2C", 225_000) + "b)", "", nil, 200},
				{"a URL of 1.2 MB", "GET", maps + "?labelSelector=a+in+(" + strings.Repeat("a%2C", 300_000) + "b)", "", nil, 431},
				{"a header of 1.2 MB", "GET", maps, "", http.Header{"X-Long": {strings.Repeat("a", 1_200_000)}}, 431},
				{"100,000 header fields", "GET", maps, "", http.Header{"X-Many": slices.Repeat([]string{"12345"}, 100_000)}, 431},
				{"10,000 requirements", "GET", maps + "?labelSelector=" + strings.Repeat("a%2C", 9_999) + "b", "", nil, 200},
				{"10,001 requirements", "GET", maps + "?labelSelector=" + strings.Repeat("a%2C", 10_000) + "b", "", nil, 400},
				{"10,001 requirements of a watch", "GET", maps + "?watch=1&labelSelector=" + strings.Repeat("a%2C", 10_000) + "b", "", nil, 400},
				{"10,001 fields", "GET", maps + "?fieldSelector=" + strings.Repeat("metadata.name!%3Da%2C", 10_000) + "metadata.name!%3Db", "", nil, 400},
				{"a continue token of 100 KB", "GET", maps + "?limit=1&continue=" + strings.Repeat("a", 100_000), "", nil, 400},
				{"a body of 4 MB", "POST", maps, `{"metadata":{"name":"` + strings.Repeat("a", 4_000_000) + `"}}`, types("application/json"), 413},
				{"YAML whose aliases stand for 2^40 words", "POST", maps, laughs(40), types("application/yaml"), 400},
				{"10,001 operations of a JSON patch", "PATCH", "/api/v1/namespaces/default", "[" + strings.Repeat(`{"op":"test","path":"/kind","value":"Namespace"},`, 10_000) + `{"op":"test","path":"/kind","value":"Namespace"}]`, types("application/json-patch+json"), 413},
				{"copies of a JSON patch that double 40 times", "PATCH", "/api/v1/namespaces/default", doubling(40), types("application/json-patch+json"), 422},
				{"a strategic merge patch of 10,001 levels", "PATCH", "/api/v1/namespaces/default", nested(10_001), types("application/strategic-merge-patch+json"), 400},
				{"an applied object with aliases", "PATCH", maps + "/a?fieldManager=me", laughs(40), types("application/apply-patch+yaml"), 400},
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
