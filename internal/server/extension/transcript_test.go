package extension_test

import (
	"crypto/tls"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/rand"
)

// TestTranscripts runs the conversations in testdata. The expected answers are kube-apiserver 1.36's. They run
// against a server of ours, or against the one given by EXTENSION_SERVER and EXTENSION_TOKEN; with
// EXTENSION_REWRITE=1 the answers are written into the files.
//
// A transcript is a series of blocks with an empty line between them: a request line, headers, the body (JSON, or
// YAML if it does not begin with a brace), "----", and the answer: the code, warnings, and the object without
// server-set fields, or the Status. A second answer, behind "---- fairlead", is ours where it differs; a comment
// then gives the reason. "established NAME", "gone PATH" and "await REQUEST WORD" wait. $run is a random word, used
// in API groups; $ns is the transcript's namespace. After "show fields" the owners of fields are printed too; "show
// raw" prints bodies as received.
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
	rewrite := os.Getenv("EXTENSION_REWRITE") != ""
	var out []string
	for _, block := range strings.Split(strings.TrimRight(string(data), "\n"), "\n\n") {
		comment := ""
		for strings.HasPrefix(block, "#") {
			line, rest, _ := strings.Cut(block, "\n")
			comment, block = comment+line+"\n", rest
		}
		if block == "" || p.command(block) {
			out = append(out, strings.TrimSuffix(comment+block, "\n"))
			continue
		}
		request, answer, _ := strings.Cut(block, "\n----\n")
		request = strings.TrimSuffix(request, "\n----")
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
		out = append(out, comment+block)
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
	show        map[string]bool
	client      *http.Client
}

func newPeer(t *testing.T) *peer {
	id := rand.String(6)
	p := &peer{
		t: t, base: os.Getenv("EXTENSION_SERVER"), token: os.Getenv("EXTENSION_TOKEN"),
		ns: "ext-" + id, run: "x" + id, show: map[string]bool{},
		// certificates are not under test
		client: &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}}},
	}
	if p.base == "" {
		p.base, p.ours = serve(t).URL, true
	}
	p.do("POST /api/v1/namespaces\n" + `{"metadata":{"name":"$ns"}}`)
	return p
}

// command runs a block that is not a request, and reports whether it was one.
func (p *peer) command(block string) bool {
	name, arg, _ := strings.Cut(block, " ")
	switch name {
	case "show":
		p.show = map[string]bool{arg: true}
	case "established":
		p.await("GET /apis/apiextensions.k8s.io/v1/customresourcedefinitions/"+arg, `"InitialNamesAccepted"`)
	case "await":
		at := strings.LastIndex(arg, " ")
		p.await(arg[:at], arg[at+1:])
	case "gone":
		p.await("GET "+arg, "NotFound")
	default:
		return false
	}
	return true
}

// await repeats a request until the answer contains the text, for a minute at most.
func (p *peer) await(request, text string) {
	p.t.Helper()
	for deadline := time.Now().Add(time.Minute); time.Now().Before(deadline); {
		if strings.Contains(p.do(request), text) {
			return
		}
		if !p.ours {
			time.Sleep(100 * time.Millisecond) // in another process there is no signal to wait on
		}
	}
	p.t.Fatalf("%s never says %s", request, text)
}

// do sends a request and prints the answer.
func (p *peer) do(request string) string {
	p.t.Helper()
	request = strings.NewReplacer("$ns", p.ns, "$run", p.run).Replace(request)
	head, rest, _ := strings.Cut(request, "\n")
	method, path, _ := strings.Cut(head, " ")
	header := http.Header{"User-Agent": {"transcript/1.0 (linux)"}}
	for headerLine.MatchString(rest) {
		line, more, _ := strings.Cut(rest, "\n")
		k, v, _ := strings.Cut(line, ": ")
		header.Set(k, v)
		rest = more
	}
	kind := "application/json"
	switch {
	case method == "APPLY":
		method, kind = http.MethodPatch, "application/apply-patch+yaml"
	case method == http.MethodPatch:
		kind = "application/merge-patch+json"
	case !strings.HasPrefix(rest, "{"):
		kind = "application/yaml"
	}
	if header.Get("Content-Type") == "" {
		header.Set("Content-Type", kind)
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
	out += p.print(body)
	out = strings.NewReplacer(p.ns, "$ns", p.run, "$run").Replace(strings.TrimRight(out, "\n"))
	return strings.ReplaceAll(out, "\n\n", "\n \n")
}

var (
	headerLine = regexp.MustCompile(`^(Content-Type|User-Agent|Accept): `)
	uid        = regexp.MustCompile(`[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}`)
	hash       = regexp.MustCompile(`"storageVersionHash":"[^"]*"`)
	version    = regexp.MustCompile(`resourceVersion(\\*"):\\*"\d+\\*"`)
	instant    = regexp.MustCompile(`\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z`)
)

func plain(text string) string {
	text, _, _ = strings.Cut(text, "\n@@") // the rest quotes Go values
	text = hash.ReplaceAllString(text, `"storageVersionHash":"<hash>"`)
	text = version.ReplaceAllString(text, `resourceVersion${1}:${1}<revision>${1}`)
	return instant.ReplaceAllString(uid.ReplaceAllString(text, "<uid>"), "<time>")
}

// print shows an object or a Status.
func (p *peer) print(body []byte) string {
	var whole map[string]any
	if p.show["raw"] || json.Unmarshal(body, &whole) != nil {
		return plain(string(body))
	}
	if whole["kind"] == "Status" && whole["status"] == "Failure" {
		var s metav1.Status
		json.Unmarshal(body, &s)
		return status(&s)
	}
	var owners []string
	strip(whole, &owners)
	text, err := json.Marshal(whole)
	if err != nil {
		p.t.Fatal(err)
	}
	if !p.show["fields"] {
		owners = nil
	}
	slices.Sort(owners)
	return plain(strings.Join(append([]string{string(text)}, owners...), "\n"))
}

// strip removes server-set fields from an object, and from the items of a list.
func strip(v map[string]any, owners *[]string) {
	if meta, ok := v["metadata"].(map[string]any); ok {
		entries, _ := meta["managedFields"].([]any)
		for _, e := range entries {
			e := e.(map[string]any)
			delete(e, "time")
			text, _ := json.Marshal(e)
			*owners = append(*owners, string(text))
		}
		for _, name := range []string{"uid", "resourceVersion", "creationTimestamp", "managedFields"} {
			delete(meta, name)
		}
	}
	items, _ := v["items"].([]any)
	for _, item := range items {
		if item, ok := item.(map[string]any); ok {
			strip(item, owners)
		}
	}
	rows, _ := v["rows"].([]any)
	for _, r := range rows {
		if o, ok := r.(map[string]any)["object"].(map[string]any); ok {
			strip(o, owners)
		}
	}
}

// status formats a Status.
func status(s *metav1.Status) string {
	message := s.Message
	if s.Details != nil && len(s.Details.Causes) > 1 {
		message, _, _ = strings.Cut(message, ": [") // the causes follow, in any order
	}
	lines := []string{fmt.Sprintf("%s: %s", s.Reason, plain(message))}
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
