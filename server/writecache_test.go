package server_test

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"fairlead.dev/internal/resource"
	"fairlead.dev/server"
	"fairlead.dev/storage/local"
)

// twins are one server, and two others that write to one store in turns, so that each finds the
// other's writes, whose objects are not in its write cache.
type twins struct {
	one  *cluster
	turn [2]*cluster
	n    int
}

func startTwins(t *testing.T, one *cluster, change ...func(*server.Config)) *twins {
	store, err := local.Open("", local.Options{InMemory: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { store.Close() })
	shared := append(change, func(cfg *server.Config) { cfg.Store = store })
	return &twins{one: one, turn: [2]*cluster{start(t, shared...), start(t, shared...)}}
}

// inMetadata matches an object's managed fields, the last member of its metadata.
var inMetadata = regexp.MustCompile(`(?s)^\{"kind".*?"managedFields":\[\{"manager":.*?\}\]\}`)

// chance matches values that two servers never share.
var chance = regexp.MustCompile(`"(uid|resourceVersion|creationTimestamp|deletionTimestamp|time|lastTransitionTime)":"[^"]*"`)

// do sends a request both ways, whose responses must be the same.
func (w *twins) do(t *testing.T, head, body string) int {
	t.Helper()
	w.n++
	next := w.turn[w.n%2]
	w.one.t, next.t = t, t
	a, b := w.one.do(head, body), next.do(head, body)
	if x, y := settled(a.body), settled(b.body); a.code != b.code || x != y {
		t.Fatalf("%s %s:\n%d %s\n%d %s", head, body, a.code, x, b.code, y)
	}
	return a.code
}

// settled is a response without such values. Entries of one second have another order than those
// of two.
func settled(body string) string {
	return inMetadata.ReplaceAllStringFunc(chance.ReplaceAllString(body, "$1"), func(list string) string {
		entries := strings.Split(list, `{"manager":`)
		for i := range entries {
			entries[i] = strings.TrimRight(entries[i], ",]}")
		}
		slices.Sort(entries)
		return strings.Join(entries, "\n")
	})
}

// TestWriteCache checks that a server with an object in its write cache does the
// same to it as one that must decode it.
func TestWriteCache(t *testing.T) {
	pair := startTwins(t, nil, lenient)
	eachKind(t, func(t *testing.T, c *cluster, path string, random func() resource.Object) {
		pair.one = c
		body := func() string { return encoded(t, "application/json", random()) }
		pair.do(t, "POST "+path, body())
		for i := range 6 {
			pair.do(t, "PATCH "+path+"/x application/merge-patch+json", fmt.Sprintf(`{"metadata":{"labels":{"n":"%d"},"finalizers":["example.com/f%d"]}}`, i, i))
			if code := pair.do(t, "PUT "+path+"/x", body()); code != 200 {
				t.Fatal(code)
			}
			pair.do(t, "PATCH "+path+"/x application/strategic-merge-patch+json", fmt.Sprintf(`{"metadata":{"annotations":{"n":"%d"}}}`, i))
			pair.do(t, "PUT "+path+"/x/status", body())
			pair.do(t, "PATCH "+path+"/x?fieldManager=me&force=true application/apply-patch+yaml", `{"metadata":{"labels":{"a":"b"}}}`)
		}
		pair.do(t, "DELETE "+path+"/x", "")
	})
}

// TestWriteCacheOfPods is the same for pods, which have more rules.
func TestWriteCacheOfPods(t *testing.T) {
	pair := startTwins(t, start(t))
	const pods = "/api/v1/namespaces/default/pods"
	for i, odd := range []string{
		``, `"annotations":{},`, `"finalizers":[],`, `"generateName":"",`, `"creationTimestamp":"2030-01-01T00:00:00.5Z",`, `"labels":null,`,
	} {
		name := fmt.Sprint("web-", i)
		meta := `"metadata":{` + odd + `"name":"` + name + `"}`
		spec := `"spec":{"containers":[{"name":"c","image":"i","env":[],"resources":{"requests":{"cpu":"0.5","memory":"0.5Ki"}}}],"volumes":[],"nodeSelector":{}}`
		status := `"status":{"phase":"Running","startTime":"2030-01-01T00:00:00.25Z","conditions":[{"type":"Ready","status":"True","lastTransitionTime":"2030-01-01T00:00:00.75Z"}],"podIPs":[]}`
		must := func(head, body string) {
			t.Helper()
			if code := pair.do(t, head, body); code/100 != 2 {
				t.Fatal(head, code)
			}
		}
		must("POST "+pods, "{"+meta+","+spec+"}")
		must("POST "+pods+"/"+name+"/binding", `{"metadata":{"name":"`+name+`","annotations":{"bound":"yes"}},"target":{"name":"node-1"}}`)
		pair.do(t, "POST "+pods+"/"+name+"/binding", `{"metadata":{"name":"`+name+`"},"target":{"name":"node-2"}}`)
		must("PUT "+pods+"/"+name+"/status", "{"+meta+","+spec+","+status+"}")
		must("PUT "+pods+"/"+name+"/status?fieldManager=other", "{"+meta+","+spec+","+status+"}")
		pair.do(t, "PUT "+pods+"/"+name, "{"+meta+","+spec+"}") // without its node
		must("PATCH "+pods+"/"+name+" application/merge-patch+json", `{"metadata":{"labels":{"a":"b"}}}`)
		must("PATCH "+pods+"/"+name+"/status application/strategic-merge-patch+json", `{"status":{"conditions":[{"type":"Ready","status":"False"}]}}`)
		must("PATCH "+pods+"/"+name+"?fieldManager=me application/apply-patch+yaml", `{"apiVersion":"v1","kind":"Pod","metadata":{"labels":{"c":"d"}}}`)
		must("GET "+pods+"/"+name, "")
		must("DELETE "+pods+"/"+name+"?gracePeriodSeconds=5", "")
		must("PATCH "+pods+"/"+name+"/status application/merge-patch+json", `{"status":{"phase":"Succeeded"}}`)
		must("DELETE "+pods+"/"+name+"?gracePeriodSeconds=0", "")
	}
}
