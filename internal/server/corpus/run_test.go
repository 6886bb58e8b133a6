package corpus_test

import (
	"crypto/tls"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/util/rand"
	"k8s.io/client-go/rest"

	"fairlead.dev/testenv"
)

// TestCorpus runs every case of testdata.
func TestCorpus(t *testing.T) {
	files, err := filepath.Glob("testdata/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatal("no cases", err)
	}
	for _, f := range files {
		t.Run(strings.TrimSuffix(filepath.Base(f), ".txt"), func(t *testing.T) {
			g := newTarget(t)
			if g.ours {
				t.Parallel()
			}
			runScript(t, g, f)
		})
	}
}

// target is the server that the cases run against.
type target struct {
	base, token string
	ours        bool
	// client belongs to an administrator; stranger has no credentials.
	client, stranger *http.Client
}

// newTarget returns the server given by the environment, or a new one of ours, without controllers, a scheduler or
// nodes that would change the objects of the cases.
func newTarget(t *testing.T) *target {
	t.Helper()
	if base := os.Getenv("CORPUS_SERVER"); base != "" {
		insecure := &tls.Config{InsecureSkipVerify: true} // certificates are not under test
		client := &http.Client{Transport: &http.Transport{TLSClientConfig: insecure}, Timeout: time.Minute}
		return &target{base: base, token: os.Getenv("CORPUS_TOKEN"), client: client, stranger: client}
	}
	config := testenv.New(t, testenv.Options{NoControllers: true, NoScheduler: true, NoNodes: true}).Config()
	client, err := rest.HTTPClientFor(config)
	if err != nil {
		t.Fatal(err)
	}
	stranger, err := rest.HTTPClientFor(rest.AnonymousClientConfig(config))
	if err != nil {
		t.Fatal(err)
	}
	client.Timeout, stranger.Timeout = time.Minute, time.Minute
	return &target{base: config.Host, ours: true, client: client, stranger: stranger}
}

func runScript(t *testing.T, g *target, path string) {
	s := parseScript(t, path)
	rewrite := os.Getenv("CORPUS_REWRITE") != ""
	for _, c := range s.cases {
		t.Run(c.name, func(t *testing.T) {
			r := newRun(t, g, s.lets)
			for _, b := range c.requests {
				r.step(b, rewrite)
			}
		})
	}
	if rewrite {
		s.write(t, path)
	}
}

// step sends one request and compares the answer, or writes it into the block.
func (r *run) step(b *block, rewrite bool) {
	r.t.Helper()
	got := r.do(b.request)
	want := b.theirs
	if r.g.ours && b.differs {
		want = b.ours
	}
	switch {
	case rewrite && r.g.ours:
		b.ours, b.differs = got, got != b.theirs
	case rewrite:
		b.theirs = got
	case got != want:
		r.t.Errorf("%s\n got:\n%s\nwant:\n%s", b.request, got, want)
	}
}

// run is a case being run.
type run struct {
	t    *testing.T
	g    *target
	lets map[string]string
	names
	// seen has the last answer for each object, by kind and name.
	seen map[string]tree
	last tree
	// etag and token are those of the last answers that had one.
	etag, token string
}

func newRun(t *testing.T, g *target, lets map[string]string) *run {
	return newRunAs(t, g, lets, rand.String(6))
}

func newRunAs(t *testing.T, g *target, lets map[string]string, id string) *run {
	r := &run{t: t, g: g, lets: lets, seen: map[string]tree{}, names: names{ns: "corpus-" + id, run: "w" + id}}
	r.mustCreate("/api/v1/namespaces", `{metadata: {name: $ns}}`)
	r.mustCreate("v1/serviceaccounts", `{metadata: {name: default}}`)
	return r
}
