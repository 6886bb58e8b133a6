package extension_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"fairlead.dev/storage"
	"fairlead.dev/storage/local"
)

// latecomer is the store as seen by the second server. before runs ahead of its next write of a gadget.
type latecomer struct {
	storage.Store
	before atomic.Pointer[func()]
}

func (l *latecomer) Commit(ctx context.Context, t storage.Txn) (storage.TxnResult, error) {
	if strings.HasPrefix(t.Then[0].Key, "/registry/shop.example.com/") {
		if f := l.before.Swap(nil); f != nil {
			(*f)()
		}
	}
	return l.Store.Commit(ctx, t)
}

// twoServers starts two servers on one store.
func twoServers(t *testing.T) (a, b *serving, late *latecomer) {
	t.Helper()
	store, err := local.Open("", local.Options{InMemory: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { store.Close() })
	late = &latecomer{Store: store}
	return serveFrom(t, store), serveFrom(t, late), late
}

// stored returns a definition with the given storage version, in which each version has a field with a default.
func stored(version string, field int) string {
	one := func(name string) string {
		return fmt.Sprintf(`{"name":%q,"served":true,"storage":%t,"schema":{"openAPIV3Schema":{"type":"object","properties":{"spec":{"type":"object","default":{},"properties":{"f%d":{"type":"string","default":%q}}}}}}}`,
			name, name == version, field, "d")
	}
	return fmt.Sprintf(`{"spec":{"versions":[%s,%s]}}`, one("v1"), one("v2"))
}

func twoVersions(version string, field int) string {
	return `{"apiVersion":"apiextensions.k8s.io/v1","kind":"CustomResourceDefinition","metadata":{"name":"gadgets.shop.example.com"},"spec":{"group":"shop.example.com","scope":"Cluster","names":{"plural":"gadgets","kind":"Gadget"},` +
		strings.TrimPrefix(stored(version, field), `{"spec":{`)
}

// gadget is posted without its spec.
func gadget(version, name string) string {
	return fmt.Sprintf(`{"apiVersion":"shop.example.com/%s","kind":"Gadget","metadata":{"name":%q}}`, version, name)
}

// shown returns the version of a gadget in a response and the fields of its spec.
func shown(text string) string {
	var o struct {
		APIVersion string
		Spec       map[string]any
	}
	if err := json.Unmarshal([]byte(text), &o); err != nil {
		return err.Error()
	}
	spec, _ := json.Marshal(o.Spec)
	return o.APIVersion + " " + string(spec)
}

const ofGadgets = definitions + "/gadgets.shop.example.com"

// TestReplicasServe checks that one server follows a definition written through the other.
func TestReplicasServe(t *testing.T) {
	a, b, _ := twoServers(t)
	v1, v2 := "/apis/shop.example.com/v1/gadgets", "/apis/shop.example.com/v2/gadgets"
	a.ask(t, "POST", definitions, twoVersions("v1", 1), 201)
	b.ask(t, "POST", v1, gadget("v1", "x"), 201)
	for n := 2; n < 30; n++ {
		version := []string{"v1", "v2"}[n%2]
		a.ask(t, "PATCH", ofGadgets, stored(version, n), 200)
		want := fmt.Sprintf(`{"f%d":"d"}`, n)
		for _, s := range []*serving{b, a} {
			if got := shown(s.ask(t, "GET", v1+"/x", "", 200)); got != "shop.example.com/v1 "+want {
				t.Fatalf("%d: %s", n, got)
			}
		}
		name := fmt.Sprint("y", n)
		b.ask(t, "POST", v2, gadget("v2", name), 201)
		if got := shown(a.ask(t, "GET", v1+"/"+name, "", 200)); got != "shop.example.com/v1 "+want {
			t.Fatalf("%d: %s", n, got)
		}
	}
	a.ask(t, "DELETE", ofGadgets, "", 200)
	a.until(t, "GET", ofGadgets, 404)
	b.ask(t, "GET", v1+"/x", "", 404)
	a.ask(t, "POST", definitions, twoVersions("v1", 1), 201)
	b.ask(t, "GET", v1+"/x", "", 404)
	b.ask(t, "GET", v1, "", 200)
}

// TestWriteByOldDefinition checks that a write that races with a change of the definition by another server follows
// the new definition or fails.
func TestWriteByOldDefinition(t *testing.T) {
	a, b, late := twoServers(t)
	v1 := "/apis/shop.example.com/v1/gadgets"
	a.ask(t, "POST", definitions, twoVersions("v1", 1), 201)
	b.ask(t, "POST", v1, gadget("v1", "x"), 201)
	meanwhile := func(method, path, body string, code int) {
		f := func() {
			if _, err := a.try(t.Context(), method, path, body, code); err != nil {
				t.Error(err)
			}
		}
		late.before.Store(&f)
	}
	shows := func(name, want string) {
		t.Helper()
		if late.before.Load() != nil {
			t.Error("nothing was written")
		}
		for _, s := range []*serving{a, b} {
			if got := shown(s.ask(t, "GET", v1+"/"+name, "", 200)); got != "shop.example.com/v1 "+want {
				t.Errorf("%s, want %s", got, want)
			}
		}
	}
	meanwhile("PATCH", ofGadgets, stored("v1", 2), 200)
	b.ask(t, "POST", v1, gadget("v1", "new"), 201)
	shows("new", `{"f2":"d"}`)
	meanwhile("PATCH", ofGadgets, stored("v2", 3), 200)
	b.ask(t, "POST", v1, gadget("v1", "newer"), 201)
	shows("newer", `{"f3":"d"}`)
	meanwhile("PATCH", ofGadgets, stored("v1", 4), 200)
	b.ask(t, "PATCH", v1+"/x", `{"metadata":{"labels":{"a":"b"}}}`, 200)
	shows("x", `{"f4":"d"}`)
	meanwhile("PATCH", ofGadgets, strings.Replace(stored("v1", 5), `"type":"object",`, `"type":"object","required":["must"],`, 1), 200)
	if body := b.ask(t, "POST", v1, gadget("v1", "refused"), 422); !strings.Contains(body, "must: Required value") {
		t.Error(body)
	}
	meanwhile("PATCH", ofGadgets, `{"metadata":{"labels":{"a":"b"}}}`, 200)
	b.ask(t, "DELETE", v1+"/x", "", 200)
	b.ask(t, "GET", v1+"/x", "", 404)

	a.ask(t, "DELETE", ofGadgets, "", 200)
	a.until(t, "GET", ofGadgets, 404)
	a.ask(t, "POST", definitions, twoVersions("v1", 1), 201)
	f := func() {
		a.try(t.Context(), "DELETE", ofGadgets, "", 200)
		for _, err := a.try(t.Context(), "GET", ofGadgets, "", 404); err != nil && t.Context().Err() == nil; {
			_, err = a.try(t.Context(), "GET", ofGadgets, "", 404)
		}
	}
	late.before.Store(&f)
	b.ask(t, "POST", v1, gadget("v1", "orphan"), 404)
	if got, err := late.Range(t.Context(), storage.RangeRequest{Start: "/registry/shop.example.com/", End: "/registry/shop.example.com0"}); err != nil || len(got.KVs) != 0 {
		t.Errorf("left behind: %v %v", got, err)
	}
}

// TestNeverAnotherDefinition changes the definition all the time. Every response of either server must follow a
// single definition, and not one that was replaced before the request.
func TestNeverAnotherDefinition(t *testing.T) {
	a, b, _ := twoServers(t)
	a.ask(t, "POST", definitions, twoVersions("v1", 1), 201)
	var now atomic.Int64 // the definition of the last response
	now.Store(1)
	check := func(where, version, text string, least int64) {
		var n int64
		_, err := fmt.Sscanf(shown(text), "shop.example.com/"+version+` {"f%d":"d"}`, &n)
		if err != nil || n < least || shown(text) != fmt.Sprintf(`shop.example.com/%s {"f%d":"d"}`, version, n) {
			t.Errorf("%s shows %s, and f%d was in effect", where, shown(text), least)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	var all sync.WaitGroup
	for i, s := range []*serving{a, b} {
		name, version := string(rune('a'+i)), []string{"v1", "v2"}[i]
		path := "/apis/shop.example.com/" + version + "/gadgets"
		all.Go(func() {
			for k := 0; ctx.Err() == nil; k++ {
				made, err := s.try(ctx, "POST", path, gadget(version, fmt.Sprint(name, k)), 201)
				var list string
				var least int64
				if err == nil {
					check("create at "+name, version, made, 0)
					least = now.Load()
					list, err = s.try(ctx, "GET", path, "", 200)
				}
				if err == nil && k > 3 {
					_, err = s.try(ctx, "DELETE", path+"/"+fmt.Sprint(name, k-3), "", 200)
				}
				if ctx.Err() != nil {
					return
				}
				if err != nil {
					t.Error(err)
					return
				}
				for _, item := range items(list) {
					check("list at "+name, version, item, least)
				}
			}
		})
		all.Go(func() {
			after := ""
			for ctx.Err() == nil {
				var err error
				if after, err = watchFrom(ctx, s, path, after, func(text string) { check("watch at "+name, version, text, 0) }); err != nil && ctx.Err() == nil {
					t.Error(err)
					return
				}
			}
		})
	}
	for n := 2; n < 30; n++ {
		[]*serving{a, b}[n%2].ask(t, "PATCH", ofGadgets, stored([]string{"v1", "v2"}[n/2%2], n), 200)
		now.Store(int64(n))
	}
	cancel()
	all.Wait()
}

// items are the items of a list.
func items(list string) (out []string) {
	var l struct{ Items []json.RawMessage }
	json.Unmarshal([]byte(list), &l)
	for _, item := range l.Items {
		out = append(out, string(item))
	}
	return out
}

// watchFrom watches until the watch ends, and returns the last resourceVersion.
func watchFrom(ctx context.Context, s *serving, path, after string, see func(text string)) (string, error) {
	w, err := s.send(ctx, "GET", path+"?watch=1&timeoutSeconds=5&resourceVersion="+after, "")
	if err != nil {
		return after, err
	}
	defer w.Body.Close()
	lines := bufio.NewScanner(w.Body)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var e struct {
			Type   string
			Object json.RawMessage
		}
		var meta struct {
			Metadata struct{ ResourceVersion string }
		}
		if json.Unmarshal(lines.Bytes(), &e) != nil || json.Unmarshal(e.Object, &meta) != nil || e.Type == "ERROR" {
			return after, fmt.Errorf("watch: %s", lines.Text())
		}
		after = meta.Metadata.ResourceVersion
		see(string(e.Object))
	}
	return after, nil
}

// until repeats a request until it gets the code.
func (s *serving) until(t testing.TB, method, path string, code int) {
	t.Helper()
	for {
		resp := s.open(t, method, path, "")
		resp.Body.Close()
		if resp.StatusCode == code {
			return
		}
		if t.Context().Err() != nil {
			t.Fatalf("%s %s: never %d", method, path, code)
		}
	}
}
