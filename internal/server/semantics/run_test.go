package semantics_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/util/rand"
)

// TestTranscripts runs every file of testdata.
func TestTranscripts(t *testing.T) {
	files, err := filepath.Glob("testdata/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatal("no transcripts", err)
	}
	for _, f := range files {
		t.Run(strings.TrimSuffix(filepath.Base(f), ".txt"), func(t *testing.T) {
			g := newTarget(t)
			if g.ours {
				t.Parallel()
			}
			runFile(t, g, f)
		})
	}
}

func runFile(t *testing.T, g *target, path string) {
	blocks := parseScript(t, path)
	r := newRun(t, g)
	rewrite := os.Getenv("SEMANTICS_REWRITE") != ""
	for _, b := range blocks {
		if len(b.source) == 0 {
			continue
		}
		if _, ok := b.options["ours"]; ok && !g.ours {
			continue
		}
		got := strings.Split(strings.TrimRight(r.do(b), "\n"), "\n")
		if len(got) == 1 && got[0] == "" {
			got = nil
		}
		want := b.theirs
		if g.ours && b.differs {
			want = b.ours
		}
		switch {
		case slices.Equal(got, want):
		case !rewrite:
			t.Errorf("%s:%d: %s\n got:\n%s\nwant:\n%s", path, b.line, b.command, strings.Join(got, "\n"), strings.Join(want, "\n"))
		case g.ours && b.differs:
			b.ours = got
		default:
			b.theirs = got
		}
	}
	if rewrite {
		writeScript(t, path, blocks)
	}
}

// run is a transcript being run.
type run struct {
	t       *testing.T
	g       *target
	vars    map[string]string
	names   names
	watches map[string]*watching
}

func newRun(t *testing.T, g *target) *run {
	id := rand.String(6)
	ns := "sem-" + id
	base := "/api/v1/namespaces/" + ns
	r := &run{t: t, g: g, vars: map[string]string{
		"$": "$", "run": "w" + id, "ns": ns, "cm": base + "/configmaps", "pods": base + "/pods",
	}, watches: map[string]*watching{}}
	r.names = names{ns: ns, run: "w" + id, of: map[string]string{}, saved: map[string]string{}}
	resp := r.request("POST", "/api/v1/namespaces", nil, `{"metadata":{"name":"`+ns+`"}}`, g.two)
	resp.Body.Close()
	if resp.StatusCode != 201 {
		t.Fatal("the namespace cannot be made: ", resp.Status)
	}
	t.Cleanup(func() {
		for _, w := range r.watches {
			w.close()
		}
	})
	return r
}

// expand replaces names with a dollar by their values.
func (r *run) expand(s string) string {
	return os.Expand(s, func(name string) string {
		if v, ok := r.vars[name]; ok {
			return v
		}
		for rev, known := range r.names.of {
			if known == name {
				return rev
			}
		}
		r.t.Errorf("$%s is not known in %s", name, s)
		return ""
	})
}

// do runs a command and returns its output.
func (r *run) do(b *block) string {
	words := strings.Fields(b.command)
	client := r.g.two
	if _, ok := b.options["http1"]; ok {
		client = r.g.one
	}
	switch words[0] {
	case "watch":
		return r.open(b, words[1], words[2], r.expand(words[3]), client)
	case "websocket":
		return r.openSocket(b, words[1], r.expand(words[2]))
	case "next":
		n, _ := strconv.Atoi(words[2])
		return r.watches[words[1]].read(r, n)
	case "end":
		return r.watches[words[1]].read(r, -1)
	case "close":
		r.watches[words[1]].close()
		return ""
	case "matrix":
		return r.matrix(b, r.expand(words[1]), client)
	case "fields":
		return r.fields(words[1])
	case "cut":
		r.g.cut(r)
		return ""
	case "compact":
		rev, err := strconv.ParseInt(r.expand(words[1]), 10, 64)
		if err != nil {
			r.t.Fatal(err)
		}
		r.g.compact(r, rev)
		return ""
	}
	path := r.expand(words[1])
	headers, body := r.parts(b)
	resp := r.request(words[0], path, headers, body, client)
	defer resp.Body.Close()
	data, err := io.ReadAll(resp.Body)
	if err != nil {
		return fmt.Sprintln(resp.StatusCode, "cut off:", err)
	}
	return r.head(b, resp) + r.print(b, path, resp.Header.Get("Content-Type"), data)
}

func (r *run) parts(b *block) (headers []string, body string) {
	for _, line := range b.rest {
		if yaml, ok := strings.CutPrefix(line, "| "); ok {
			body += r.expand(yaml) + "\n"
		} else if strings.HasPrefix(line, "{") || strings.HasPrefix(line, "[") {
			body += r.expand(line)
		} else {
			headers = append(headers, r.expand(line))
		}
	}
	return headers, body
}

func (r *run) request(method, path string, headers []string, body string, client *http.Client) *http.Response {
	r.t.Helper()
	resp, err := client.Do(r.build(context.Background(), method, path, headers, body))
	if err != nil {
		r.t.Fatal(err)
	}
	return resp
}

func (r *run) build(ctx context.Context, method, path string, headers []string, body string) *http.Request {
	r.t.Helper()
	req, err := http.NewRequestWithContext(ctx, method, r.g.base+path, strings.NewReader(body))
	if err != nil {
		r.t.Fatal(err)
	}
	if r.g.token != "" {
		req.Header.Set("Authorization", "Bearer "+r.g.token)
	}
	if body != "" {
		req.Header.Set("Content-Type", "application/json")
	}
	if method == http.MethodPatch {
		req.Header.Set("Content-Type", "application/merge-patch+json")
	}
	for _, h := range headers {
		k, v, _ := strings.Cut(h, ": ")
		req.Header.Set(k, v)
	}
	return req
}

// head returns the first line of a response.
func (r *run) head(b *block, resp *http.Response) string {
	head := fmt.Sprintln(resp.StatusCode, resp.Header.Get("Content-Type"))
	if _, ok := b.options["http1"]; ok {
		head = fmt.Sprintln(resp.StatusCode, resp.Header.Get("Content-Type"), resp.Proto, strings.Join(resp.TransferEncoding, " "))
	}
	if name := b.options["header"]; name != "" {
		head += fmt.Sprintf("%s: %s\n", name, strings.Join(resp.Header.Values(name), "; "))
	}
	return head
}
