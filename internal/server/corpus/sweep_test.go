//go:build sweep

package corpus_test

import (
	"encoding/json"
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/runtime/schema"
	utilrand "k8s.io/apimachinery/pkg/util/rand"

	"fairlead.dev/internal/resource/builtin"
)

// base is a manifest that a case of the corpus creates.
type base struct {
	path, kind string
	value      tree
	typ        reflect.Type
}

// TestSweep posts each manifest that the corpus creates, changed at random, as a dry run to the server given by the
// environment and to one of ours, and compares the answers. SWEEP_SEED, SWEEP_TIMES and SWEEP_KIND (a regular
// expression) select the attempts; a difference is printed once for each kind of object and of difference.
func TestSweep(t *testing.T) {
	theirs := newTarget(t)
	if theirs.ours {
		t.Fatal("CORPUS_SERVER names no server to compare with")
	}
	server := os.Getenv("CORPUS_SERVER")
	os.Unsetenv("CORPUS_SERVER")
	ours := newTarget(t)
	os.Setenv("CORPUS_SERVER", server)
	times, seed := number("SWEEP_TIMES", 20), number("SWEEP_SEED", 1)
	only := regexp.MustCompile(os.Getenv("SWEEP_KIND"))
	id := utilrand.String(6)
	a, b := newRunAs(t, theirs, nil, id), newRunAs(t, ours, nil, id)
	m := &mutator{known: map[string][]string{}, closed: map[string]bool{}}
	list := bases(t, a)
	for _, base := range list {
		m.learn(base.value, "")
	}
	seen, tried, different := map[string]int{}, 0, 0
	for _, base := range list {
		if !only.MatchString(base.kind) {
			continue
		}
		h := fnv.New64()
		fmt.Fprint(h, base.path, text(base.value))
		m.Rand = rand.New(rand.NewPCG(uint64(seed), h.Sum64()))
		for range times {
			v := clone(base.value)
			for range m.IntN(3) + 1 {
				v = m.change(v, base.typ, "").(tree)
			}
			tried++
			got, want := sweepOne(b, base, v), sweepOne(a, base, v)
			m.attend(want)
			if got == want || strings.Contains(want, "unknown field") || strings.HasPrefix(want, "no answer") {
				continue
			}
			different++
			sign := base.kind + " " + signature(got, want)
			if seen[sign]++; seen[sign] == 1 {
				t.Errorf("%s\nPOST %s\n%s\n%s", sign, base.path, text(v), lineDiff(got, want))
			}
		}
	}
	t.Logf("%d tried, %d different, of %d sorts", tried, different, len(seen))
}

func number(name string, otherwise int) int {
	if n, err := strconv.Atoi(os.Getenv(name)); err == nil {
		return n
	}
	return otherwise
}

// sweepOne posts the manifest and returns the answer's text.
func sweepOne(r *run, base base, v tree) string {
	data, _ := json.Marshal(v)
	header := http.Header{"User-Agent": {"sweep/1.0"}, "Accept": {"application/json"}, "Content-Type": {"application/json"}}
	path := r.url(base.path)
	if strings.Contains(path, "?") {
		path, _, _ = strings.Cut(path, "?")
	}
	resp, answer, err := r.try("POST", path+"?dryRun=All&fieldValidation=Warn", header, string(data))
	if err != nil {
		return "no answer: " + err.Error()
	}
	r.known, r.counts, r.seen = nil, nil, map[string]tree{}
	out := strconv.Itoa(resp.StatusCode)
	for _, w := range resp.Header.Values("Warning") {
		out += "\nWarning: " + w
	}
	return r.plain(out + r.print(clone(v), answer))
}

// bases returns the manifests of the cases, without duplicates.
func bases(t *testing.T, r *run) (list []base) {
	files, err := filepath.Glob("testdata/*.txt")
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]bool{}
	for _, f := range files {
		s := parseScript(t, f)
		r.lets = s.lets
		for _, c := range s.cases {
			for _, b := range c.requests {
				head, rest, _ := strings.Cut(b.request, "\n")
				verb, path, _ := strings.Cut(head, " ")
				if verb != "POST" || !strings.HasPrefix(b.theirs, "201") || headerLine.MatchString(rest) || strings.HasPrefix(rest, "$last") {
					continue
				}
				v, _ := r.body(rest).(tree)
				typ := typeOf(v)
				if key := path + text(v); typ == nil || seen[key] || strings.Contains(path, "reviews") {
					continue
				} else {
					seen[key] = true
				}
				list = append(list, base{path, fmt.Sprint(v["kind"]), v, typ})
			}
		}
	}
	return list
}

func typeOf(v tree) reflect.Type {
	gv, err := schema.ParseGroupVersion(fmt.Sprint(v["apiVersion"]))
	if err != nil {
		return nil
	}
	for _, row := range builtin.Resources() {
		if version := row.Version(gv.Version); version != nil && row.Group == gv.Group && row.Kind == v["kind"] {
			return reflect.TypeOf(version.New()).Elem()
		}
	}
	return nil
}

var (
	supported = regexp.MustCompile(`(?m)^  FieldValueNotSupported (\S+): .*supported values: (.*)$`)
	quotedOne = regexp.MustCompile(`"([^"]*)"`)
	unknown   = regexp.MustCompile(`unknown field "([^"]+)"`)
	index     = regexp.MustCompile(`\[\d+\]`)
)

// attend learns supported values and unsupported fields from an answer.
func (m *mutator) attend(answer string) {
	for _, s := range supported.FindAllStringSubmatch(answer, -1) {
		path := "." + index.ReplaceAllString(s[1], "[]")
		for _, q := range quotedOne.FindAllStringSubmatch(s[2], -1) {
			if !slices.Contains(m.known[path], q[1]) {
				m.known[path] = append(m.known[path], q[1])
			}
		}
	}
	for _, u := range unknown.FindAllStringSubmatch(answer, -1) {
		m.closed["."+index.ReplaceAllString(u[1], "[]")] = true
	}
}

// signature classifies a difference: the first line that only one answer has, without quoted values.
func signature(got, want string) string {
	d := strings.SplitN(lineDiff(got, want), "\n", 2)[0]
	d = regexp.MustCompile(`"[^"]*"`).ReplaceAllString(d, `""`)
	d = regexp.MustCompile(`-?\d+`).ReplaceAllString(d, "N")
	if len(d) > 160 {
		d = d[:160]
	}
	return d
}

// lineDiff returns the lines that only one of the two has.
func lineDiff(got, want string) string {
	var out []string
	a, b := strings.Split(got, "\n"), strings.Split(want, "\n")
	for _, l := range b {
		if !slices.Contains(a, l) {
			out = append(out, "theirs: "+l)
		}
	}
	for _, l := range a {
		if !slices.Contains(b, l) {
			out = append(out, "ours:   "+l)
		}
	}
	return strings.Join(out, "\n")
}
