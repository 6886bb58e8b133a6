package informer_test

import (
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"fairlead.dev/client"
	"fairlead.dev/informer"
	"fairlead.dev/internal/informertest"
)

func pod(name, node string) *corev1.Pod {
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name},
		Spec:       corev1.PodSpec{NodeName: node},
	}
}

// run starts an informer of the server's pods that ends with the test.
func run(t testing.TB, s *informertest.Server, o informer.Options[*corev1.Pod], hs ...informer.Handler[*corev1.Pod]) *informer.Informer[*corev1.Pod] {
	t.Helper()
	i := informer.New(client.For[*corev1.Pod](s.Client(t)), o)
	for _, h := range hs {
		i.Handle(h)
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error)
	go func() { done <- i.Run(ctx) }()
	t.Cleanup(func() {
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
	wait(t, i.Synced())
	return i
}

func wait(t testing.TB, c <-chan struct{}) {
	t.Helper()
	select {
	case <-c:
	case <-time.After(time.Minute):
		t.Fatal("nothing happened for a minute")
	}
}

func waitFor(t testing.TB, i *informer.Informer[*corev1.Pod], rev string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	if err := i.Store().WaitFor(ctx, rev); err != nil {
		t.Fatalf("store at %s does not reach %s: %v", i.Store().Revision(), rev, err)
	}
}

// view is a handler that checks the promise: each call starts from the state of the call
// before it, so the calls alone give the state.
type view struct {
	t       testing.TB
	mu      sync.Mutex
	pods    map[string]*corev1.Pod
	calls   []string
	initial int
	moved   chan struct{} // one slot
}

func newView(t testing.TB) *view {
	return &view{t: t, pods: map[string]*corev1.Pod{}, moved: make(chan struct{}, 1)}
}

func (v *view) handler() informer.Handler[*corev1.Pod] {
	return informer.Handler[*corev1.Pod]{
		Add: func(p *corev1.Pod, initial bool) {
			v.note("add", nil, p)
			if initial {
				v.mu.Lock()
				v.initial++
				v.mu.Unlock()
			}
		},
		Update: func(old, p *corev1.Pod) { v.note("update", old, p) },
		Delete: func(p *corev1.Pod) { v.note("delete", p, nil) },
	}
}

func (v *view) note(what string, old, now *corev1.Pod) {
	v.mu.Lock()
	defer v.mu.Unlock()
	p := now
	if p == nil {
		p = old
	}
	k := p.Namespace + "/" + p.Name
	had := v.pods[k]
	switch {
	case what == "add" && had != nil, what != "add" && had == nil:
		v.t.Errorf("%s of %s, known before: %v", what, k, had != nil)
	case what == "update" && had != old:
		v.t.Errorf("update of %s from revision %s, told last %s", k, old.ResourceVersion, had.ResourceVersion)
	case had != nil && had.UID != p.UID:
		v.t.Errorf("%s of %s: UID %s, told last %s", what, k, p.UID, had.UID)
	}
	if now == nil {
		delete(v.pods, k)
	} else {
		v.pods[k] = now
	}
	v.calls = append(v.calls, fmt.Sprintf("%s %s", what, p.Name))
	select {
	case v.moved <- struct{}{}:
	default:
	}
}

func revisions(pods map[string]*corev1.Pod) map[string]string {
	m := map[string]string{}
	for k, p := range pods {
		m[k] = string(p.UID) + "@" + p.ResourceVersion
	}
	return m
}

// equals waits until the handler's state is exactly the server's.
func (v *view) equals(s *informertest.Server) {
	v.t.Helper()
	limit := time.After(time.Minute)
	for {
		v.mu.Lock()
		have := revisions(v.pods)
		v.mu.Unlock()
		want := revisions(s.Pods())
		if maps.Equal(have, want) {
			return
		}
		select {
		case <-v.moved:
		case <-limit:
			v.t.Fatalf("handler told %v\nserver holds %v", have, want)
		}
	}
}

func TestFollowsInOrder(t *testing.T) {
	for _, streamed := range []bool{true, false} {
		t.Run(fmt.Sprintf("streamedLists=%v", streamed), func(t *testing.T) {
			s := informertest.New(t)
			s.NoStreamedLists = !streamed
			for n := range 1200 { // three pages
				s.Put(pod(fmt.Sprintf("p%d", n), "n1"))
			}
			v := newView(t)
			i := run(t, s, informer.Options[*corev1.Pod]{}, v.handler())
			if v.initial != 1200 || i.Store().Len() != 1200 {
				t.Fatalf("synced with %d told and %d stored, want 1200", v.initial, i.Store().Len())
			}
			if streamed != (s.StreamedLists.Load() == 1) || streamed != (s.Lists.Load() == 0) {
				t.Errorf("%d streamed lists, %d lists", s.StreamedLists.Load(), s.Lists.Load())
			}
			v.calls = nil
			s.Put(pod("p7", "n2"))
			s.Put(pod("new", "n2"))
			s.Delete("default", "p8")
			v.equals(s)
			waitFor(t, i, s.Revision())
			if got := fmt.Sprint(v.calls); got != "[update p7 add new delete p8]" {
				t.Error(got)
			}
			if p, ok := i.Store().Get("default", "p7"); !ok || p.Spec.NodeName != "n2" || p.Kind != "Pod" {
				t.Errorf("p7 is %v", p)
			}
			if _, ok := i.Store().Get("default", "p8"); ok {
				t.Error("p8 is still there")
			}
		})
	}
}

func TestResumesAfterBreaks(t *testing.T) {
	s := informertest.New(t)
	v := newView(t)
	i := run(t, s, informer.Options[*corev1.Pod]{}, v.handler())
	for n := range 10 {
		s.Break()
		s.Put(pod(fmt.Sprint("p", n), ""))
		waitFor(t, i, s.Revision())
	}
	v.equals(s)
	if s.StreamedLists.Load() != 1 || s.Lists.Load() != 0 {
		t.Errorf("listed again after a mere break: %d streamed, %d lists", s.StreamedLists.Load(), s.Lists.Load())
	}
}

func TestBookmarksMoveTheRevision(t *testing.T) {
	s := informertest.New(t)
	i := run(t, s, informer.Options[*corev1.Pod]{})
	waitFor(t, i, s.Skip())
	s.Break()
	s.Compact() // the events before the bookmark are gone, but not needed
	s.Put(pod("p", ""))
	waitFor(t, i, s.Revision())
	if n := s.StreamedLists.Load(); n != 1 {
		t.Errorf("%d lists, want 1", n)
	}
}

func TestExpiredRevisionListsAgain(t *testing.T) {
	for _, streamed := range []bool{true, false} {
		t.Run(fmt.Sprintf("streamedLists=%v", streamed), func(t *testing.T) {
			s := informertest.New(t)
			s.NoStreamedLists = !streamed
			for _, n := range []string{"stays", "changes", "goes", "reborn"} {
				s.Put(pod(n, "n1"))
			}
			v := newView(t)
			failed := make(chan struct{}, 100)
			i := run(t, s, informer.Options[*corev1.Pod]{OnError: func(error) { failed <- struct{}{} }}, v.handler())
			v.calls = nil
			s.Refuse(2) // so that no event arrives between the break and the 410
			s.Break()
			wait(t, failed)
			s.Put(pod("changes", "n2"))
			s.Delete("default", "goes")
			s.Delete("default", "reborn")
			s.Put(pod("reborn", "n1"))
			s.Put(pod("comes", "n1"))
			s.Compact()
			waitFor(t, i, s.Revision())
			v.equals(s)
			count := map[string]int{}
			for _, c := range v.calls {
				count[c]++
			}
			want := map[string]int{"update changes": 1, "delete goes": 1, "delete reborn": 1, "add reborn": 1, "add comes": 1}
			if !maps.Equal(count, want) {
				t.Errorf("told %v, want %v", count, want)
			}
		})
	}
}

// TestPagesExpire lets the revision of a paged list go after each of its first pages.
func TestPagesExpire(t *testing.T) {
	s := informertest.New(t)
	s.NoStreamedLists = true
	for n := range 600 {
		s.Put(pod(fmt.Sprint("p", n), ""))
	}
	var lists atomic.Int32
	s.AfterList = func() {
		if n := lists.Add(1); n <= 5 {
			s.Put(pod(fmt.Sprint("late", n), ""))
			s.Compact()
		}
	}
	v := newView(t)
	i := run(t, s, informer.Options[*corev1.Pod]{}, v.handler())
	v.equals(s)
	waitFor(t, i, s.Revision())
	if i.Store().Len() != 605 {
		t.Errorf("%d pods, want 605", i.Store().Len())
	}
}

func TestSlowHandlerIsBoundedAndCatchesUp(t *testing.T) {
	s := informertest.New(t)
	for n := range 20 {
		s.Put(pod(fmt.Sprint("p", n), ""))
	}
	slow, fast := newView(t), newView(t)
	gate, asleep := make(chan struct{}), make(chan struct{})
	falls := sync.OnceFunc(func() { close(asleep) })
	h := slow.handler()
	update := h.Update
	h.Update = func(old, p *corev1.Pod) { falls(); <-gate; update(old, p) }
	i := informer.New(client.For[*corev1.Pod](s.Client(t)), informer.Options[*corev1.Pod]{Log: 32})
	reg := i.Handle(h)
	i.Handle(fast.handler())
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error)
	go func() { done <- i.Run(ctx) }()
	defer func() { cancel(); <-done }()
	wait(t, i.Synced())
	s.Put(pod("p0", "first"))
	wait(t, asleep)

	for round := range 100 {
		for n := range 20 {
			s.Put(pod(fmt.Sprint("p", n), fmt.Sprint("n", round)))
		}
		s.Put(pod(fmt.Sprint("extra", round), ""))
		s.Delete("default", fmt.Sprint("extra", round))
	}
	s.Delete("default", "p3")
	s.Delete("default", "p4")
	s.Put(pod("p4", "again"))
	waitFor(t, i, s.Revision())
	fast.equals(s)
	// The 2,200 changes touched 20 pods that the handler knows; a batch of the log is in
	// its hands besides.
	if lag := reg.Lag(); lag == 0 || lag > 32+20+1 {
		t.Errorf("a handler that sleeps has %d changes waiting", lag)
	}
	close(gate)
	slow.equals(s)
	if n := len(slow.calls); n > 20+64+32+25 {
		t.Errorf("%d calls for a handler that slept", n)
	}
}

// TestHandlerThatIsToldNothing is there for its Synced, and then no more.
func TestHandlerThatIsToldNothing(t *testing.T) {
	s := informertest.New(t)
	s.Put(pod("a", ""))
	i := run(t, s, informer.Options[*corev1.Pod]{})
	v := newView(t)
	hears := i.Handle(v.handler())
	early, late := i.Handle(informer.Handler[*corev1.Pod]{}), i.Handle(informer.Handler[*corev1.Pod]{})
	for _, reg := range []*informer.Registration{hears, early, late} {
		wait(t, reg.Synced())
	}
	early.Remove()
	s.Put(pod("b", ""))
	waitFor(t, i, s.Revision())
	v.equals(s)
	if n, m := early.Lag(), late.Lag(); n != 0 || m != 0 {
		t.Errorf("they have yet to be told %d and %d changes", n, m)
	}
	late.Remove()
}

func TestHandleLateAndRemove(t *testing.T) {
	s := informertest.New(t)
	s.Put(pod("a", ""))
	i := run(t, s, informer.Options[*corev1.Pod]{})
	v := newView(t)
	reg := i.Handle(v.handler())
	wait(t, reg.Synced())
	if v.initial != 1 {
		t.Fatalf("told %d initial pods, want 1", v.initial)
	}
	s.Put(pod("b", ""))
	v.equals(s)
	reg.Remove()
	w := newView(t)
	i.Handle(w.handler())
	s.Put(pod("c", ""))
	w.equals(s)
	if v.pods["default/c"] != nil {
		t.Error("told after Remove")
	}
}

func TestIndexes(t *testing.T) {
	s := informertest.New(t)
	for n := range 9 {
		s.Put(pod(fmt.Sprint("p", n), fmt.Sprint("n", n%3)))
	}
	byNode := func(p *corev1.Pod) []string { return []string{p.Spec.NodeName} }
	i := run(t, s, informer.Options[*corev1.Pod]{Indexes: map[string]func(*corev1.Pod) []string{"node": byNode}})
	i.Index("late", byNode)
	s.Put(pod("p0", "n1"))
	s.Delete("default", "p4")
	s.Put(pod("p7", "n1")) // stays under its value, as a new state
	waitFor(t, i, s.Revision())
	for _, ix := range []string{"node", "late"} {
		for node, want := range map[string]int{"n0": 2, "n1": 3, "n2": 3, "n3": 0} {
			got := i.Store().ByIndex(ix, node)
			if len(got) != want {
				t.Errorf("%s %s: %d pods, want %d", ix, node, len(got), want)
			}
			for _, p := range got {
				if now, _ := i.Store().Get(p.Namespace, p.Name); now != p {
					t.Errorf("%s %s: old state of %s", ix, node, p.Name)
				}
			}
		}
	}
	// A value with many objects, then few again.
	for n := range 30 {
		s.Put(pod(fmt.Sprint("q", n), "n4"))
	}
	for n := range 30 {
		if n != 11 {
			s.Delete("default", fmt.Sprint("q", n))
		}
	}
	s.Put(pod("q11", "n4"))
	waitFor(t, i, s.Revision())
	if got := i.Store().ByIndex("node", "n4"); len(got) != 1 || got[0].ResourceVersion != s.Revision() {
		t.Errorf("n4: %d pods", len(got))
	}
	if got := i.Store().ByIndex("none", "n1"); len(got) != 0 {
		t.Errorf("an index that is not there found %d", len(got))
	}
}

// TestNeverEndsDifferent makes random writes, breaks, compactions and refusals. At the end
// store and handlers, one of them slow, have the server's state.
func TestNeverEndsDifferent(t *testing.T) {
	for seed := range uint64(4) {
		t.Run(fmt.Sprint("seed", seed), func(t *testing.T) {
			t.Parallel()
			rnd := rand.New(rand.NewPCG(seed, 1))
			s := informertest.New(t)
			s.NoStreamedLists = seed%2 == 1
			quick, slow := newView(t), newView(t)
			h := slow.handler()
			update := h.Update
			leave := make(chan struct{}) // for one update of the slow handler
			h.Update = func(old, p *corev1.Pod) { <-leave; update(old, p) }
			i := run(t, s, informer.Options[*corev1.Pod]{
				Log:     8,
				Indexes: map[string]func(*corev1.Pod) []string{"node": func(p *corev1.Pod) []string { return []string{p.Spec.NodeName} }},
			}, quick.handler(), h)
			for step := range 3000 {
				name := fmt.Sprint("p", rnd.IntN(40))
				switch r := rnd.IntN(100); {
				case r < 70:
					s.Put(pod(name, fmt.Sprint("n", rnd.IntN(5))))
				case r < 97:
					if s.Pods()["default/"+name] != nil {
						s.Delete("default", name)
					}
				case r < 98:
					s.Break()
				case r < 99:
					s.Compact()
				default:
					s.Refuse(rnd.IntN(2))
				}
				select {
				case leave <- struct{}{}:
				default:
				}
				if step%500 == 0 {
					waitFor(t, i, s.Revision())
				}
			}
			s.Put(pod("last", ""))
			waitFor(t, i, s.Revision())
			quick.equals(s)
			close(leave)
			slow.equals(s)
			store, perNode := map[string]*corev1.Pod{}, 0
			for _, p := range i.Store().List("") {
				store[p.Namespace+"/"+p.Name] = p
			}
			if have, want := revisions(store), revisions(s.Pods()); !maps.Equal(have, want) {
				t.Errorf("store %v\nserver %v", have, want)
			}
			for n := range 5 {
				perNode += len(i.Store().ByIndex("node", fmt.Sprint("n", n)))
			}
			if perNode != len(store)-1 {
				t.Errorf("indexes hold %d, want %d", perNode, len(store)-1)
			}
		})
	}
}

func TestSetShares(t *testing.T) {
	s := informertest.New(t)
	p := pod("a", "")
	p.ManagedFields = []metav1.ManagedFieldsEntry{{Manager: "m", Operation: "Update"}}
	s.Put(p)
	set := informer.NewSet(s.Client(t))
	before := informer.For[*corev1.Pod](set)
	set.Start(t.Context())
	if informer.For[*corev1.Pod](set) != before {
		t.Error("two informers of one type")
	}
	if err := set.Wait(t.Context()); err != nil {
		t.Fatal(err)
	}
	got, ok := before.Store().Get("default", "a")
	if !ok || got.ManagedFields != nil {
		t.Errorf("stored %v", got)
	}
	set.Stop()
	if n := s.Watches.Load(); n != 1 {
		t.Errorf("%d watches for one type", n)
	}
}

// TestOut: one informer of a set is stopped, and the others go on.
func TestOut(t *testing.T) {
	s := informertest.New(t)
	s.Put(pod("a", ""))
	set := informer.NewSet(s.Client(t))
	whole := informer.For[*corev1.Pod](set)
	partial := informer.Metadata(set, corev1.SchemeGroupVersion.WithResource("pods"), true)
	set.Start(t.Context())
	defer set.Stop()
	if err := set.Wait(t.Context()); err != nil {
		t.Fatal(err)
	}
	informer.Remove[*corev1.Pod](set)
	last := s.Put(pod("b", ""))
	if err := partial.Store().WaitFor(t.Context(), last.ResourceVersion); err != nil {
		t.Fatal(err)
	}
	again := informer.For[*corev1.Pod](set)
	if err := set.Wait(t.Context()); err != nil {
		t.Fatal(err)
	}
	if again == whole || again.Store().Len() != 2 {
		t.Errorf("a new informer holds %d pods", again.Store().Len())
	}
	if n := whole.Store().Len(); n != 1 {
		t.Errorf("one that was stopped holds %d", n)
	}
}

// TestTransform: objects are stored, indexed and passed to handlers as the transform
// returns them, in the first list, in events, and in deletions.
func TestTransform(t *testing.T) {
	for _, streamed := range []bool{true, false} {
		s := informertest.New(t)
		s.NoStreamedLists = !streamed
		s.Put(pod("a", "n1"))
		var told []string
		moved := make(chan struct{}, 10)
		note := func(p *corev1.Pod) {
			told = append(told, p.Name+"@"+p.Spec.NodeName)
			moved <- struct{}{}
		}
		run(t, s, informer.Options[*corev1.Pod]{Transform: func(p *corev1.Pod) *corev1.Pod {
			p.Spec.NodeName += "!"
			return p
		}}, informer.Handler[*corev1.Pod]{Add: func(p *corev1.Pod, _ bool) { note(p) }, Update: func(_, p *corev1.Pod) { note(p) }, Delete: note})
		wait(t, moved)
		s.Put(pod("a", "n2"))
		wait(t, moved)
		s.Delete("default", "a")
		wait(t, moved)
		if got := fmt.Sprint(told); got != "[a@n1! a@n2! a@n2!]" {
			t.Errorf("streamed %v: %s", streamed, got)
		}
	}
}
