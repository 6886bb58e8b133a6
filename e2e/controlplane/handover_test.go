package controlplane_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"testing"
	"time"

	"fairlead.dev/internal/badnet"
	"fairlead.dev/internal/controlplane"

	"k8s.io/client-go/rest"
)

// replica is an API server as clients reach it: through a network that fails.
type replica struct {
	t    *testing.T
	net  *badnet.Proxy
	http *http.Client
}

func through(t *testing.T, target string) *badnet.Proxy {
	t.Helper()
	p, err := badnet.New(target)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.Close)
	return p
}

func newReplica(t *testing.T, o controlplane.Options) (*replica, *controlplane.ControlPlane) {
	t.Helper()
	cp, _ := startReplica(t, o)
	u, err := url.Parse(cp.Config().Host)
	if err != nil {
		t.Fatal(err)
	}
	config := cp.Config()
	config.QPS = -1
	h, err := rest.HTTPClientFor(config)
	if err != nil {
		t.Fatal(err)
	}
	return &replica{t: t, net: through(t, u.Host), http: h}, cp
}

const handedMaps = "/api/v1/namespaces/default/configmaps"

// open sends a request, whose response ends with the test or after a minute.
func (r *replica) open(method, path, body string) (*http.Response, error) {
	ctx, cancel := context.WithTimeout(r.t.Context(), time.Minute)
	r.t.Cleanup(cancel)
	req, err := http.NewRequestWithContext(ctx, method, "https://"+r.net.Addr()+path, strings.NewReader(body))
	if err != nil {
		return nil, err
	}
	req.Header.Set("Content-Type", "application/json")
	return r.http.Do(req)
}

// list has the fields of a list that the test reads.
type list struct {
	code     int
	retry    string
	revision int
	names    string
	status   string
}

func (r *replica) ask(method, path, body string) (out list, err error) {
	resp, err := r.open(method, path, body)
	if err != nil {
		return out, err
	}
	defer resp.Body.Close()
	data, err := io.ReadAll(resp.Body)
	if err != nil {
		return out, err
	}
	type object struct {
		Metadata struct{ Name, ResourceVersion string }
	}
	var v struct {
		object
		Items []object
	}
	if err := json.Unmarshal(data, &v); err != nil {
		return out, fmt.Errorf("%s: %w", data, err)
	}
	out.code, out.retry, out.status = resp.StatusCode, resp.Header.Get("Retry-After"), string(data)
	out.revision, _ = strconv.Atoi(v.Metadata.ResourceVersion)
	for _, o := range v.Items {
		out.names += " " + o.Metadata.Name
	}
	return out, nil
}

// write creates a config map and returns its revision.
func (r *replica) write(name string) int {
	r.t.Helper()
	made, err := r.ask("POST", handedMaps, `{"metadata":{"name":"`+name+`"}}`)
	if err != nil || made.code != 201 {
		r.t.Fatal(err, made)
	}
	return made.revision
}

// watch opens a watch after a revision; next returns an event, or "lost".
func (r *replica) watch(after int) (next func() (string, int)) {
	r.t.Helper()
	resp, err := r.open("GET", fmt.Sprint(handedMaps, "?watch=1&resourceVersion=", after), "")
	if err != nil || resp.StatusCode != 200 {
		r.t.Fatal(err, resp)
	}
	r.t.Cleanup(func() { resp.Body.Close() })
	lines := bufio.NewReader(resp.Body)
	return func() (string, int) {
		line, err := lines.ReadBytes('\n')
		if err != nil {
			return "lost", 0
		}
		var e struct {
			Type   string
			Object struct {
				Metadata struct{ Name, ResourceVersion string }
			}
		}
		if err := json.Unmarshal(line, &e); err != nil {
			return string(line), 0
		}
		rev, _ := strconv.Atoi(e.Object.Metadata.ResourceVersion)
		return e.Type + " " + e.Object.Metadata.Name, rev
	}
}

// TestHandover: two servers share a store, embedded in one of them or an etcd. A watch that
// loses server A continues at B without a gap or a duplicate. A B that is behind waits
// instead of serving stale data.
func TestHandover(t *testing.T) {
	t.Run("embedded", func(t *testing.T) {
		a, cp := newReplica(t, controlplane.Options{DataDir: t.TempDir(), InMemory: true, EtcdListen: "127.0.0.1:0"})
		store := through(t, strings.TrimPrefix(cp.EtcdURL(), "http://"))
		b, _ := newReplica(t, controlplane.Options{DataDir: t.TempDir(), Etcd: controlplane.Etcd{Servers: []string{"http://" + store.Addr()}}})
		handover(t, a, b, store)
	})
	t.Run("etcd", func(t *testing.T) {
		etcd := startEtcd(t)
		a, _ := newReplica(t, controlplane.Options{DataDir: t.TempDir(), Etcd: etcd})
		store := through(t, strings.TrimPrefix(etcd.Servers[0], "https://"))
		etcd.Servers = []string{"https://" + store.Addr()}
		b, _ := newReplica(t, controlplane.Options{DataDir: t.TempDir(), Etcd: etcd})
		handover(t, a, b, store)
	})
}

func handover(t *testing.T, a, b *replica, store *badnet.Proxy) {
	// B lists the writes that A has acknowledged.
	at, names := 0, ""
	for i := range 20 {
		names += fmt.Sprint(" first", 10+i)
		at = a.write(fmt.Sprint("first", 10+i))
		got, err := b.ask("GET", handedMaps, "")
		if err != nil || got.code != 200 || got.revision < at || !strings.HasSuffix(got.names, names) {
			t.Fatalf("written as %d: B lists %v %v", at, got, err)
		}
	}

	// A client loses A in the middle of its watch and continues at B.
	const events = 60
	next, last := a.watch(at), at
	for i := range events {
		if i == events/2 {
			a.net.Reset()
			for what, rev := next(); what != "lost"; what, rev = next() {
				last = rev
			}
			next = b.watch(last)
		}
		name := fmt.Sprint("second", 10+i)
		wrote := a.write(name)
		if i%5 != 0 {
			continue // heard of later, some of it only at B
		}
		for heard := ""; heard != "ADDED "+name; {
			var rev int
			if heard, rev = next(); rev <= last {
				t.Fatalf("%s at %d after %d", heard, rev, last)
			}
			last = rev
		}
		if last != wrote {
			t.Fatalf("%s at %d, written at %d", name, last, wrote)
		}
	}
	counted := b.watch(at)
	for i := range events {
		if got, _ := counted(); got != fmt.Sprint("ADDED second", 10+i) {
			t.Fatalf("event %d at B: %s", i, got)
		}
	}

	// B is cut off from its store, and must not answer from stale data.
	store.Set(badnet.Conditions{Silent: true})
	newest := a.write("third")
	present := make(chan list, 1)
	go func() {
		got, err := b.ask("GET", handedMaps, "")
		if err != nil {
			got.status = err.Error()
		}
		present <- got
	}()
	old, err := b.ask("GET", handedMaps+"?resourceVersion=0", "")
	if err != nil || old.code != 200 || strings.Contains(old.names, "third") {
		t.Errorf("any revision at B: %v %v", old, err)
	}
	waiting := b.watch(newest - 1)
	ahead, err := b.ask("GET", fmt.Sprint(handedMaps, "?resourceVersion=", newest), "")
	if err != nil || ahead.code != 504 || ahead.retry != "1" || !strings.Contains(ahead.status, `"reason":"ResourceVersionTooLarge"`) {
		t.Errorf("not older than %d at B: %v %v", newest, ahead, err)
	}
	select {
	case got := <-present:
		if got.code == 200 {
			t.Errorf("B answers a consistent list without its store: %v", got)
		}
		present <- got
	default:
	}
	store.Set(badnet.Conditions{})
	if got, rev := waiting(); got != "ADDED third" || rev != newest {
		t.Errorf("B, healed: %s at %d, want %d", got, rev, newest)
	}
	got := <-present
	if got.code != 200 { // it has waited as long as it does
		if got, err = b.ask("GET", handedMaps, ""); err != nil {
			t.Fatal(err)
		}
	}
	if got.code != 200 || got.revision < newest || !strings.HasSuffix(got.names, " third") {
		t.Errorf("B, healed, lists %v", got)
	}
}
