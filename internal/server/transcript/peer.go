package transcript

import (
	"crypto/tls"
	"fmt"
	"io"
	"net/http"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/rand"
)

// Peer is the server that one transcript runs against.
type Peer struct {
	T    *testing.T
	Ours bool // the suite's Serve started it

	// Print formats the body of an answer to a request for the path, without its query.
	Print func(path string, body []byte) string
	// Command runs a block that is not a request, and reports whether it was one.
	Command func(block string) bool

	base, token     string
	namespace, word string
	client          *http.Client
}

func (s Suite) newPeer(t *testing.T) *Peer {
	id := rand.String(6)
	p := &Peer{
		T: t, base: os.Getenv(s.Env + "_SERVER"), token: os.Getenv(s.Env + "_TOKEN"),
		namespace: "ns-" + id, word: "x" + id,
		// certificates are not under test
		client: &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}}},
	}
	t.Cleanup(p.client.CloseIdleConnections)
	if p.base == "" {
		p.base, p.Ours = s.Serve(t), true
	}
	s.Prepare(p)
	p.Do("POST /api/v1/namespaces\n" + `{"metadata":{"name":"$ns"}}`)
	return p
}

var headerLine = regexp.MustCompile(`^(Content-Type|User-Agent|Accept): `)

// Do sends a request and formats the answer.
func (p *Peer) Do(request string) string {
	p.T.Helper()
	request = strings.NewReplacer("$ns", p.namespace, "$run", p.word).Replace(request)
	first, rest, _ := strings.Cut(request, "\n")
	method, path, _ := strings.Cut(first, " ")
	header := http.Header{"User-Agent": {"transcript/1.0 (linux)"}}
	for headerLine.MatchString(rest) {
		line, more, _ := strings.Cut(rest, "\n")
		k, v, _ := strings.Cut(line, ": ")
		header.Set(k, v)
		rest = more
	}
	contentType := "application/json"
	switch {
	case method == "APPLY":
		method, contentType = http.MethodPatch, "application/apply-patch+yaml"
	case method == http.MethodPatch:
		contentType = "application/merge-patch+json"
	case !strings.HasPrefix(rest, "{"):
		contentType = "application/yaml"
	}
	if header.Get("Content-Type") == "" {
		header.Set("Content-Type", contentType)
	}
	req, err := http.NewRequestWithContext(p.T.Context(), method, p.base+path, strings.NewReader(rest))
	if err != nil {
		p.T.Fatal(err)
	}
	req.Header = header
	if p.token != "" {
		req.Header.Set("Authorization", "Bearer "+p.token)
	}
	resp, err := p.client.Do(req)
	if err != nil {
		p.T.Fatal(err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		p.T.Fatal(err)
	}
	out := fmt.Sprintln(resp.StatusCode)
	for _, w := range resp.Header.Values("Warning") {
		out += "Warning: " + w + "\n"
	}
	path, _, _ = strings.Cut(path, "?")
	out = strings.TrimRight(out+p.Print(path, body), "\n")
	out = strings.NewReplacer(p.namespace, "$ns", p.word, "$run").Replace(out)
	return strings.ReplaceAll(out, "\n\n", "\n \n") // an empty line ends a block
}

var (
	uid     = regexp.MustCompile(`[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}`)
	instant = regexp.MustCompile(`\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ`)
)

// Plain replaces UIDs and times of whole seconds by placeholders.
func Plain(text string) string {
	return instant.ReplaceAllString(uid.ReplaceAllString(text, "<uid>"), "<time>")
}

// Status formats a Status: its reason and message, and each distinct cause once, sorted. Plain
// formats the texts; Go values that a message quotes are cut off before.
func Status(s *metav1.Status, plain func(string) string) string {
	format := func(text string) string {
		text, _, _ = strings.Cut(text, "\n@@")
		return plain(text)
	}
	lines := []string{fmt.Sprintf("%s: %s", s.Reason, format(s.Message))}
	if s.Details != nil {
		var causes []string
		for _, c := range s.Details.Causes {
			causes = append(causes, fmt.Sprintf("  %s %s: %s", c.Type, c.Field, format(c.Message)))
		}
		slices.Sort(causes)
		lines = append(lines, slices.Compact(causes)...)
	}
	return strings.Join(lines, "\n")
}
