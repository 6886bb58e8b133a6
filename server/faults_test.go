package server_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"fairlead.dev/internal/server/auth"
	"fairlead.dev/internal/server/faults"
	"fairlead.dev/server"
	"fairlead.dev/trace"
)

// breakable is a cluster with faults allowed, and its trace.
type breakable struct {
	*cluster
	log    *trace.Log
	faults *faults.Set
}

func startBreakable(t *testing.T) *breakable {
	b := &breakable{log: trace.New(trace.Options{}), faults: faults.New()}
	b.cluster = start(t, func(c *server.Config) { c.Trace, c.Faults = b.log, b.faults })
	return b
}

// add adds a fault by HTTP.
func (b *breakable) add(fault string) (id string) {
	b.t.Helper()
	return fmt.Sprint(b.must("POST "+server.FaultsPath, fault).at("id"))
}

func (b *breakable) remove(id string) {
	b.t.Helper()
	b.must("DELETE "+server.FaultsPath+"/"+id, "")
}

// now is a path that watches configmaps from now on.
func (b *breakable) now() string {
	return maps + "?watch=1&allowWatchBookmarks=true&resourceVersion=" + b.must("GET "+maps, "").text("metadata.resourceVersion")
}

// until waits until the trace has the wanted data about an event, and returns its life.
func (b *breakable) until(rev string, want func(trace.Life) bool) trace.Life {
	b.t.Helper()
	limit := time.After(time.Minute)
	n := trace.Revision(rev)
	for {
		changed := b.log.Changed()
		for _, lf := range b.log.Lives(trace.Filter{From: n, To: n}) {
			if want(lf) {
				return lf
			}
		}
		select {
		case <-changed:
		case <-limit:
			b.t.Fatalf("the trace does not tell it: %+v", b.log.Lives(trace.Filter{From: n, To: n}))
		}
	}
}

// untilStruck waits for an injected fault that belongs to no event.
func (b *breakable) untilStruck(action string) trace.InjectedFault {
	b.t.Helper()
	limit := time.After(time.Minute)
	for {
		changed := b.log.Changed()
		all, _ := b.log.InjectedFaults(trace.Filter{}, 0)
		for _, s := range all {
			if s.Action == action {
				return s
			}
		}
		select {
		case <-changed:
		case <-limit:
			b.t.Fatalf("the trace tells of no %s: %+v", action, all)
		}
	}
}

// sent is an event's delivery to the program of a name, once it has been written.
func sent(lf trace.Life, agent string) *trace.Delivery {
	for i, d := range lf.Deliveries {
		if d.Agent == agent && d.Flushed > 0 {
			return &lf.Deliveries[i]
		}
	}
	return nil
}

func struckBy(lf trace.Life, action string) bool {
	for _, s := range lf.Faults {
		if s.Action == action {
			return true
		}
	}
	return false
}

const secrets = "/api/v1/namespaces/default/secrets"

// TestHeldWatch checks that a held watch appears as that watcher's lag, and nowhere else.
func TestHeldWatch(t *testing.T) {
	b := startBreakable(t)
	wires := map[string]http.RoundTripper{"http2": b.client.Transport, "memory": server.Transport(b.server, &auth.User{Name: "me"})}
	for name, rt := range wires {
		t.Run(name, func(t *testing.T) {
			late := b.watch(t, rt, b.now(), "User-Agent: late/1")
			early := b.watch(t, rt, b.now(), "User-Agent: early/1")
			read := make(chan string, 1)
			go func() { read <- late.next() }() // in memory, a watch is served while its client reads
			id := b.add(`{"action":"hold","client":"late","resource":"configmaps"}`)
			rev := b.must("POST "+maps, `{"metadata":{"name":"`+name+`"}}`).text("metadata.resourceVersion")
			early.expect("ADDED " + name + " " + rev)
			held := b.until(rev, func(lf trace.Life) bool { return sent(lf, "early/1") != nil && struckBy(lf, "hold") })
			if sent(held, "late/1") != nil || len(held.Deliveries) != 1 {
				t.Fatalf("deliveries while one is held: %+v", held.Deliveries)
			}
			told := b.must("GET "+server.LivesPath+"?from="+rev+"&to="+rev, "").body
			if waiting := told[strings.Index(told, `"waiting"`):]; !strings.Contains(waiting, "late/1") || strings.Contains(waiting, "early/1") {
				t.Errorf("who waits: %s", waiting)
			}
			released := time.Now()
			b.remove(id)
			if got, want := <-read, "ADDED "+name+" "+rev; got != want {
				t.Errorf("released, the watch has %q, want %q", got, want)
			}
			lf := b.until(rev, func(lf trace.Life) bool { return sent(lf, "late/1") != nil })
			if at := lf.Began.Add(sent(lf, "late/1").Framed); at.Before(released) {
				t.Errorf("framed for who was held at %v, let go at %v", at, released)
			}
			if len(lf.Deliveries) != 2 || !lf.Began.Add(sent(lf, "early/1").Flushed).Before(released) {
				t.Errorf("the other's: %+v", lf.Deliveries)
			}
			for _, h := range lf.Hops {
				if !lf.Began.Add(h.At).Before(released) {
					t.Errorf("%s at %v", h.Hop, h.At)
				}
			}
			late.cancel()
			early.cancel()
		})
	}
}

// TestDelayedWatch checks that each event arrives late by the delay, in order, and that no
// bookmark overtakes it.
func TestDelayedWatch(t *testing.T) {
	b := startBreakable(t)
	w := b.watch(t, b.client.Transport, maps+"?watch=1", "User-Agent: late/1")
	const delay = 50 * time.Millisecond
	b.add(`{"action":"delay","delay":"50ms","client":"late"}`)
	rev := b.fill(3)
	w.expect("ADDED m000 2", "ADDED m001 3", "ADDED m002 4")
	lf := b.until(rev, func(lf trace.Life) bool { return sent(lf, "late/1") != nil && struckBy(lf, "delay") })
	if cached := lf.Hops[len(lf.Hops)-1]; cached.Hop != "cached" || sent(lf, "late/1").Framed-cached.At < delay {
		t.Errorf("framed %v after %+v", sent(lf, "late/1").Framed, cached)
	}
}

// TestReorderedWatches checks that of two watches the one with the later event is served first.
func TestReorderedWatches(t *testing.T) {
	b := startBreakable(t)
	ofMaps := b.watch(t, b.client.Transport, maps+"?watch=1", "User-Agent: one/1")
	ofSecrets := b.watch(t, b.client.Transport, secrets+"?watch=1", "User-Agent: one/1")
	b.add(`{"action":"reorder","delay":"1h","client":"one"}`)
	first := b.must("POST "+maps, mapA).text("metadata.resourceVersion")
	b.until(first, func(lf trace.Life) bool { return struckBy(lf, "reorder") })
	second := b.must("POST "+secrets, `{"metadata":{"name":"s"}}`).text("metadata.resourceVersion")
	ofSecrets.expect("ADDED s " + second)
	ofMaps.expect("ADDED a " + first)
	got := func(lf trace.Life) bool { return sent(lf, "one/1") != nil }
	a, z := b.until(first, got), b.until(second, got)
	if at, before := a.Began.Add(sent(a, "one/1").Framed), z.Began.Add(sent(z, "one/1").Framed); !at.After(before) {
		t.Errorf("the earlier event was framed at %v, the later at %v", at, before)
	}
}

// TestDroppedWatch checks that the selected watches are cut off and can begin anew.
func TestDroppedWatch(t *testing.T) {
	b := startBreakable(t)
	http1 := &http.Transport{TLSClientConfig: b.client.Transport.(*http.Transport).TLSClientConfig.Clone()}
	http1.TLSClientConfig.NextProtos = []string{"http/1.1"}
	for name, rt := range map[string]http.RoundTripper{"http2": b.client.Transport, "http1": http1, "memory": server.Transport(b.server, nil)} {
		t.Run(name, func(t *testing.T) {
			w := b.watch(t, rt, b.now(), "User-Agent: "+name)
			other := b.watch(t, rt, b.now(), "User-Agent: other")
			f, err := b.faults.Add(t.Context(), faults.Fault{Action: faults.Drop, Client: name})
			if err != nil || f.Struck != 1 {
				t.Fatalf("%+v %v", f, err)
			}
			if _, err := w.lines.ReadString('\n'); err == nil || err.Error() == "EOF" {
				t.Errorf("the watch ended with %v, as if nothing were wrong", err)
			}
			b.untilStruck("drop")
			again := b.watch(t, rt, b.now(), "User-Agent: "+name)
			rev := b.must("POST "+maps, `{"metadata":{"name":"`+name+`"}}`).text("metadata.resourceVersion")
			other.expect("ADDED " + name + " " + rev)
			again.expect("ADDED " + name + " " + rev)
			other.cancel()
			again.cancel()
		})
	}
}

// TestPausedHistory checks that a watch that is behind gets 410, and that one from a fresh list
// does not.
func TestPausedHistory(t *testing.T) {
	b := startBreakable(t)
	rev := b.fill(1)
	w := b.watch(t, b.client.Transport, maps+"?watch=1&resourceVersion="+rev)
	id := b.add(`{"action":"pause","resource":"configmaps"}`)
	next := b.must("POST "+maps, mapA).text("metadata.resourceVersion")
	if got := w.next(); !strings.HasPrefix(got, "ERROR 410 ") {
		t.Errorf("an open watch got %q", got)
	}
	w.expect("end")
	b.until(next, func(lf trace.Life) bool { return struckBy(lf, "pause") })
	if got := b.watch(t, b.client.Transport, maps+"?watch=1&resourceVersion="+rev).next(); !strings.HasPrefix(got, "ERROR 410 ") {
		t.Errorf("a watch from behind got %q", got)
	}
	w = b.watch(t, b.client.Transport, maps+"?watch=1&resourceVersion="+next)
	b.remove(id)
	last := b.must("DELETE "+maps+"/a", "").at("kind")
	if got := w.next(); !strings.HasPrefix(got, "DELETED a ") {
		t.Errorf("after the pause: %q (%v)", got, last)
	}
}

// TestBrokenWrites checks that the selected writes fail or are slow, and only those.
func TestBrokenWrites(t *testing.T) {
	b := startBreakable(t)
	for _, code := range []int{403, 409, 429, 500, 503, 504} {
		f, err := b.faults.Add(t.Context(), faults.Fault{Action: faults.Fail, Resource: "configmaps", Verb: "create", Nth: 2, Code: code})
		if err != nil {
			t.Fatal(err)
		}
		b.must("POST "+secrets, fmt.Sprintf(`{"metadata":{"name":"s%d"}}`, code)) // of another kind
		b.must("POST "+maps, fmt.Sprintf(`{"metadata":{"name":"a%d"}}`, code))
		if a := b.do("POST "+maps, mapA); a.code != code || a.text("kind") != "Status" || !strings.Contains(a.text("message"), "on purpose") {
			t.Errorf("%d %s", a.code, a.body)
		}
		b.must("POST "+maps, fmt.Sprintf(`{"metadata":{"name":"b%d"}}`, code))
		if s := b.untilStruck("fail"); s.Verb != "create" || s.Resource != "configmaps" || s.Namespace != "default" {
			t.Errorf("%+v", s)
		}
		if err := b.faults.Remove(f.ID); err != nil {
			t.Error(err)
		}
	}
	if a := b.do("GET "+maps+"/a", ""); a.code != http.StatusNotFound {
		t.Errorf("what failed was written: %d", a.code)
	}
	b.add(`{"action":"slow","delay":"20ms","times":-1}`)
	rev := b.must("POST "+maps, mapA).text("metadata.resourceVersion")
	lf := b.until(rev, func(lf trace.Life) bool { return struckBy(lf, "slow") })
	if lf.Hops[2].At-lf.Hops[1].At < 20*time.Millisecond {
		t.Errorf("hops %+v", lf.Hops)
	}
}

// TestExpiredLeases checks that events expire with the store's leases, and that the trace has the
// cause.
func TestExpiredLeases(t *testing.T) {
	b := startBreakable(t)
	const events = "/api/v1/namespaces/default/events"
	rev := b.must("POST "+events, `{"metadata":{"name":"e"},"involvedObject":{"namespace":"default"}}`).text("metadata.resourceVersion")
	w := b.watch(t, b.client.Transport, events+"?watch=1&resourceVersion="+rev)
	b.add(`{"action":"expire"}`)
	gone := strings.Fields(w.next())
	if len(gone) != 3 || gone[0] != "DELETED" {
		t.Fatal(gone)
	}
	b.until(gone[2], func(lf trace.Life) bool { return struckBy(lf, "expire") })
	b.must("POST "+events, `{"metadata":{"name":"e"},"involvedObject":{"namespace":"default"}}`) // on a new lease
}

// TestFaultRefusals checks that a server without faults refuses them, and that invalid faults get
// an error.
func TestFaultRefusals(t *testing.T) {
	c := start(t)
	for _, head := range []string{"GET " + server.FaultsPath, "POST " + server.FaultsPath, "DELETE " + server.FaultsPath} {
		if a := c.do(head, `{"action":"hold"}`); a.code != http.StatusForbidden || a.text("reason") != "Forbidden" || !strings.Contains(a.text("message"), "--allow-faults") {
			t.Errorf("%s: %d %s", head, a.code, a.body)
		}
	}
	b := startBreakable(t)
	for _, f := range []string{
		``, `{}`, `{"action":"burn"}`, `{"action":"hold","delay":"1s"}`, `{"action":"delay"}`, `{"action":"slow","delay":"-1s"}`,
		`{"action":"fail","code":200}`, `{"action":"slow","delay":"1s","code":500}`, `{"action":"hold","nth":2}`, `{"action":"fail","nth":-1}`,
		`{"action":"expire","resource":"pods"}`, `{"action":"hold","kind":"pods"}`,
	} {
		if a := b.do("POST "+server.FaultsPath, f); a.code != http.StatusBadRequest {
			t.Errorf("%s: %d %s", f, a.code, a.body)
		}
	}
	if a := b.do("DELETE "+server.FaultsPath+"/7", ""); a.code != http.StatusNotFound {
		t.Errorf("%d %s", a.code, a.body)
	}
	b.add(`{"action":"hold","resource":"pods"}`)
	b.add(`{"action":"fail","nth":5}`)
	if got := b.must("GET "+server.FaultsPath, "").body; strings.Count(got, `"action"`) != 2 {
		t.Error(got)
	}
	b.remove("")
	if got := b.faults.List(); len(got) != 0 {
		t.Error(got)
	}
	if _, ok := (*faults.Set)(nil).Watch(faults.Target{}); ok || (*faults.Set)(nil).Write(faults.Target{}) != nil {
		t.Error("no Set breaks something")
	}
}
