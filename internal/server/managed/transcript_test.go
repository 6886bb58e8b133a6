package managed_test

import (
	"bytes"
	"context"
	"crypto/tls"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/rand"

	"fairlead.dev/internal/resource/builtin"
	"fairlead.dev/internal/server/admission"
	"fairlead.dev/server"
	"fairlead.dev/storage/local"
)

// TestTranscripts runs the sequences of writes in testdata. The expected answers are kube-apiserver 1.36's. They
// run against a server of ours, or against the one given by MANAGED_SERVER and MANAGED_TOKEN; with
// MANAGED_REWRITE=1 the answers are written into the files.
//
// A transcript is a series of blocks with an empty line between them: a request line, headers, the body, "----",
// and the answer: the code, whether the object has a new revision, its content without server-set fields, and its
// managedFields, sorted, without times. A second answer, behind "---- fairlead", is ours where it differs; a
// comment then gives the reason. $ns is the transcript's namespace, $run a random word.
func TestTranscripts(t *testing.T) {
	files, err := filepath.Glob("testdata/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatal("no transcripts", err)
	}
	for _, f := range files {
		t.Run(strings.TrimSuffix(filepath.Base(f), ".txt"), func(t *testing.T) { runTranscript(t, f) })
	}
}

func runTranscript(t *testing.T, file string) {
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	p := newPeer(t)
	rewrite := os.Getenv("MANAGED_REWRITE") != ""
	var out []string
	for _, block := range strings.Split(strings.TrimRight(string(data), "\n"), "\n\n") {
		if strings.HasPrefix(block, "#") {
			out = append(out, block)
			continue
		}
		request, answer, _ := strings.Cut(block, "\n----\n")
		theirs, ours, differs := strings.Cut(answer, "\n---- fairlead\n")
		got := p.do(request)
		want := &theirs
		if p.ours && differs {
			want = &ours
		}
		if got != *want && !rewrite {
			t.Errorf("%s\n got:\n%s\nwant:\n%s", request, got, *want)
		}
		*want = got
		if block = request + "\n----\n" + theirs; differs {
			block += "\n---- fairlead\n" + ours
		}
		out = append(out, block)
	}
	if rewrite {
		if err := os.WriteFile(file, []byte(strings.Join(out, "\n\n")+"\n"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// peer is the server that a transcript runs against.
type peer struct {
	t           *testing.T
	base, token string
	ours        bool
	ns, run     string
	client      *http.Client
	revision    map[string]string // by path
}

func newPeer(t *testing.T) *peer {
	id := rand.String(6)
	p := &peer{
		t: t, base: os.Getenv("MANAGED_SERVER"), token: os.Getenv("MANAGED_TOKEN"),
		ns: "mf-" + id, run: "w" + id, revision: map[string]string{},
		// certificates are not under test
		client: &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}}},
	}
	if p.base == "" {
		p.base, p.ours = serve(t), true
	}
	p.do("POST /api/v1/namespaces\n" + `{"metadata":{"name":"$ns"}}`)
	return p
}

// serve starts a server of ours with the mutating plugins.
func serve(t *testing.T) string {
	store, err := local.Open("", local.Options{InMemory: true})
	if err != nil {
		t.Fatal(err)
	}
	s, err := server.New(server.Config{Store: store, Resources: builtin.Resources(), Wire: func(c *server.Config, s *server.Server) error {
		c.Admission = slices.DeleteFunc(admission.Default(admission.Options{
			Lookup: s.Lookup(), Services: admission.ServiceOptions{Families: []corev1.IPFamily{corev1.IPv4Protocol}},
		}), func(p admission.Plugin) bool {
			return p.Name() == "ServiceAccount" || p.Name() == "CertificateApproval"
		})
		return nil
	}})
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Bootstrap(t.Context(), []runtime.Object{&networkingv1.ServiceCIDR{
		TypeMeta:   metav1.TypeMeta{APIVersion: "networking.k8s.io/v1", Kind: "ServiceCIDR"},
		ObjectMeta: metav1.ObjectMeta{Name: "kubernetes"}, Spec: networkingv1.ServiceCIDRSpec{CIDRs: []string{"10.0.0.0/24"}},
	}}, nil); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() { defer close(done); s.Run(ctx) }()
	h := httptest.NewTLSServer(s)
	t.Cleanup(func() {
		cancel()
		<-done
		h.CloseClientConnections()
		h.Close()
		store.Close()
	})
	return h.URL
}

// do sends a request and prints the answer.
func (p *peer) do(request string) string {
	p.t.Helper()
	request = strings.NewReplacer("$ns", p.ns, "$run", p.run).Replace(request)
	head, rest, _ := strings.Cut(request, "\n")
	method, path, _ := strings.Cut(head, " ")
	header := http.Header{"User-Agent": {"transcript/1.0 (linux)"}, "Content-Type": {"application/json"}}
	if method == "APPLY" {
		method = http.MethodPatch
		header.Set("Content-Type", "application/apply-patch+yaml")
	} else if method == http.MethodPatch {
		header.Set("Content-Type", "application/merge-patch+json")
	}
	for headerLine.MatchString(rest) {
		line, more, _ := strings.Cut(rest, "\n")
		k, v, _ := strings.Cut(line, ": ")
		header.Set(k, v)
		rest = more
	}
	req, err := http.NewRequest(method, p.base+path, strings.NewReader(rest))
	if err != nil {
		p.t.Fatal(err)
	}
	req.Header = header
	if p.token != "" {
		req.Header.Set("Authorization", "Bearer "+p.token)
	}
	resp, err := p.client.Do(req)
	if err != nil {
		p.t.Fatal(err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		p.t.Fatal(err)
	}
	out := fmt.Sprintln(resp.StatusCode)
	for _, w := range resp.Header.Values("Warning") {
		out += "Warning: " + w + "\n"
	}
	path, _, _ = strings.Cut(path, "?")
	return strings.NewReplacer(p.ns, "$ns", p.run, "$run").Replace(strings.TrimRight(out+p.print(path, body), "\n"))
}

var (
	headerLine = regexp.MustCompile(`^(Content-Type|User-Agent|Accept): `)
	uid        = regexp.MustCompile(`[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}`)
	instant    = regexp.MustCompile(`\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ`)
)

// sorted returns JSON with the members of its objects in order.
func sorted(text []byte) string {
	var v any
	json.Unmarshal(text, &v)
	out, _ := json.Marshal(v)
	return string(out)
}

// status formats a Status, without the Go values quoted in its message and with each cause once.
func status(s *metav1.Status) string {
	plain := func(text string) string {
		text, _, _ = strings.Cut(text, "\n@@")
		return instant.ReplaceAllString(uid.ReplaceAllString(text, "<uid>"), "<time>")
	}
	lines := []string{fmt.Sprintf("%s: %s", s.Reason, plain(s.Message))}
	if s.Details != nil {
		var causes []string
		for _, c := range s.Details.Causes {
			causes = append(causes, fmt.Sprintf("  %s %s: %s", c.Type, c.Field, plain(c.Message)))
		}
		slices.Sort(causes)
		lines = append(lines, slices.Compact(causes)...)
	}
	return strings.Join(lines, "\n")
}

// print shows an object or a Status.
func (p *peer) print(path string, body []byte) string {
	var v struct {
		Kind     string
		Metadata metav1.ObjectMeta
	}
	var whole map[string]any
	d := json.NewDecoder(bytes.NewReader(body))
	d.UseNumber()
	if json.Unmarshal(body, &v) != nil || d.Decode(&whole) != nil {
		return string(body)
	}
	if v.Kind == "Status" {
		var s metav1.Status
		json.Unmarshal(body, &s)
		return status(&s)
	}
	out := "the same revision\n"
	key := strings.TrimSuffix(path, "/"+v.Metadata.Name) + "/" + v.Metadata.Name
	for _, sub := range []string{"/status/", "/scale/", "/ephemeralcontainers/", "/resize/", "/approval/", "/finalize/"} {
		key = strings.Replace(key, "/"+v.Metadata.Name+sub, "/", 1)
	}
	if rv := v.Metadata.ResourceVersion; rv != p.revision[key] {
		p.revision[key], out = rv, "a new revision\n"
	}
	meta := whole["metadata"].(map[string]any)
	for _, name := range []string{"uid", "resourceVersion", "creationTimestamp", "managedFields", "name", "namespace"} {
		delete(meta, name)
	}
	delete(whole, "apiVersion")
	delete(whole, "kind")
	text, err := json.Marshal(whole)
	if err != nil {
		p.t.Fatal(err)
	}
	out += instant.ReplaceAllString(uid.ReplaceAllString(string(text), "<uid>"), "<time>") + "\n"
	var lines []string
	for _, e := range v.Metadata.ManagedFields {
		when := ""
		if e.Time == nil {
			when = " (no time)"
		}
		lines = append(lines, strings.TrimRight(fmt.Sprintf("%s %q %s %s", e.Operation, e.Manager, e.APIVersion, e.Subresource), " ")+when+" "+sorted(e.FieldsV1.GetRawBytes()))
	}
	slices.Sort(lines)
	return out + strings.Join(lines, "\n")
}
