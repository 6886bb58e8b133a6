package controlplane_test

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apiserver/pkg/server/flagz"
	"k8s.io/apiserver/pkg/server/statusz"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/yaml"

	"fairlead.dev/internal/controlplane"
	"fairlead.dev/internal/controlplane/controlplanetest"
)

// flags are those of a process, for upstream's page, too.
type flags map[string]string

func (f flags) GetFlagz() map[string]string { return f }

// TestZPages checks that /statusz and /flagz answer each Accept header as upstream's handlers do, up to times and the separator of
// the text, which upstream chooses at random.
func TestZPages(t *testing.T) {
	given := flags{"data-dir": "x", "nodes": "0"}
	cp := controlplanetest.Start(t, controlplane.Options{Flags: given})
	upstream := http.NewServeMux()
	flagz.Install(upstream, "apiserver", given)
	statusz.Install(upstream, "apiserver", statusz.NewRegistry(controlplane.NewEffectiveVersion(),
		statusz.WithListedPaths([]string{"/apis", "/flagz", "/healthz", "/healthz/ping", "/livez", "/metrics", "/metrics/slis", "/readyz", "/version"})))
	server, err := rest.HTTPClientFor(cp.Config())
	if err != nil {
		t.Fatal(err)
	}
	for path, kind := range map[string]string{"/statusz": "Statusz", "/flagz": "Flagz"} {
		for _, accept := range []string{
			"", " ", "*/*", "text/plain", "text/*", "application/json", "application/yaml", "application/json, */*", "text/html", "application/json, text/plain",
			"application/json;as=KIND;v=v1beta1;g=config.k8s.io", "application/yaml; v=v1beta1; g=config.k8s.io; as=KIND", "application/json;v=v1alpha1;g=config.k8s.io;as=KIND",
			"application/json;as=KIND;v=v1;g=config.k8s.io", "application/json;as=KIND;v=v1beta1;g=apps", "application/json;as=Other;v=v1beta1;g=config.k8s.io",
			"application/json;as=KIND;v=v1beta1;g=config.k8s.io;q=0.5, text/plain", "application/vnd.kubernetes.protobuf;as=KIND;v=v1beta1;g=config.k8s.io", "application/cbor;as=KIND;v=v1beta1;g=config.k8s.io",
			"text/plain;as=KIND;v=v1beta1;g=config.k8s.io",
		} {
			accept = strings.ReplaceAll(accept, "KIND", kind)
			request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, cp.Config().Host+path, nil)
			if err != nil {
				t.Fatal(err)
			}
			request.Header.Set("Accept", accept)
			recorded := httptest.NewRecorder()
			upstream.ServeHTTP(recorded, request)
			got, err := server.Do(request)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(answered(t, recorded.Result()), answered(t, got)); diff != "" {
				t.Errorf("%s for %q, -upstream +here:\n%s", path, accept, diff)
			}
		}
	}
}

var (
	separator = regexp.MustCompile(`(?m)^(Started|Up|Go version|Binary version|Emulation version|Paths|data-dir|nodes)(: |[:= ]) ?`)
	moment    = regexp.MustCompile(`(?m)^(Started|Up) .*$`)
)

// answered returns what the answer says, without times.
func answered(t *testing.T, res *http.Response) map[string]any {
	t.Helper()
	defer res.Body.Close()
	read, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	body := string(read)
	all := map[string]any{"code": res.StatusCode, "type": res.Header.Get("Content-Type"), "warning": res.Header.Get("Warning")}
	var object map[string]any
	switch kind, _, _ := strings.Cut(res.Header.Get("Content-Type"), ";"); {
	case kind == "application/json" && json.Unmarshal([]byte(body), &object) == nil, kind == "application/yaml" && yaml.Unmarshal([]byte(body), &object) == nil:
		for _, name := range []string{"startTime", "uptimeSeconds"} {
			if _, ok := object[name]; ok {
				object[name] = "some"
			}
		}
		all["object"] = object
		all["indented"] = strings.Contains(body, "\n ")
	default:
		all["text"] = moment.ReplaceAllString(separator.ReplaceAllString(body, "$1 "), "$1 some")
	}
	return all
}

// TestZPagesRights checks that the group system:monitoring may get the documents about the process, and others may not.
func TestZPagesRights(t *testing.T) {
	cp := controlplanetest.Start(t, controlplane.Options{Flags: map[string]string{}})
	codes := func(groups ...string) (codes []int) {
		config := rest.CopyConfig(cp.Config())
		config.Impersonate = rest.ImpersonationConfig{UserName: "ann", Groups: append(groups, "system:authenticated")}
		get := controlplanetest.Getter(t, config)
		for _, path := range []string{"/statusz", "/flagz", "/metrics", "/metrics/slis", "/livez/ping", "/readyz/ping"} {
			code, _ := get(path)
			codes = append(codes, code)
		}
		return codes
	}
	if got := codes("system:monitoring"); slices.ContainsFunc(got, func(code int) bool { return code != http.StatusOK }) {
		t.Errorf("system:monitoring: %v", got)
	}
	if got := codes(); slices.ContainsFunc(got, func(code int) bool { return code != http.StatusForbidden }) {
		t.Errorf("others: %v", got)
	}
}
