package clientsuite

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"reflect"
	"sync/atomic"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/rest"

	"fairlead.dev/client"
	"fairlead.dev/informer"
	"fairlead.dev/internal/badnet"
)

// patience limits every wait; it measures no speed.
const patience = time.Minute

var configMaps = schema.GroupVersionResource{Version: "v1", Resource: "configmaps"}

// follower is an informer of any type, with the calls of its handlers.
type follower struct {
	name    string
	reaches func(t *testing.T, rv string)
	finish  func(t *testing.T, truth history)
}

// follow starts an informer with a quick handler and one that dawdles, over r.
func follow[T client.Object](t *testing.T, seen *breaks, name string, r client.Resource[T], o informer.Options[T], plain client.Resource[T]) follower {
	o.OnError = seen.note
	i := informer.New(r, o)
	quick, slow := newStory[T](), newStory[T]()
	i.Handle(quick.handler())
	h := slow.handler()
	update := h.Update
	gate := make(chan struct{})
	h.Update = func(old, obj T) {
		if revision(obj)%5 == 0 {
			select {
			case <-gate:
			case <-time.After(10 * time.Millisecond): // so that it falls off the log now and then
			}
		}
		update(old, obj)
	}
	i.Handle(h)
	ctx, stop := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- i.Run(ctx) }()
	t.Cleanup(func() {
		stop()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
	reaches := func(t *testing.T, rv string) {
		t.Helper()
		ctx, cancel := context.WithTimeout(t.Context(), patience)
		defer cancel()
		if err := i.Store().WaitFor(ctx, rv); err != nil {
			t.Fatalf("%s: the copy is at %s and does not reach %s: %v", name, i.Store().Revision(), rv, err)
		}
	}
	return follower{name: name, reaches: reaches, finish: func(t *testing.T, truth history) {
		t.Helper()
		close(gate)
		ctx, cancel := context.WithTimeout(t.Context(), patience)
		defer cancel()
		l, err := plain.List(ctx, metav1.ListOptions{LabelSelector: o.LabelSelector, FieldSelector: o.FieldSelector})
		if err != nil {
			t.Fatal(err)
		}
		if n := i.Store().Len(); n != len(l.Items) {
			t.Errorf("the copy holds %d, the server %d", n, len(l.Items))
		}
		want := map[string]string{}
		for _, obj := range l.Items {
			have, ok := i.Store().Get(obj.GetNamespace(), obj.GetName())
			if !ok || !reflect.DeepEqual(have, obj) {
				t.Errorf("the copy of %s is\n%+v, the server's\n%+v", obj.GetName(), have, obj)
			}
			want[obj.GetName()] = obj.GetResourceVersion()
		}
		for which, s := range map[string]*story[T]{"quick": quick, "slow": slow} {
			s.reaches(t, ctx, which, want)
			s.check(t, truth)
		}
	}}
}

// reaches waits until the calls add up to want.
func (s *story[T]) reaches(t *testing.T, ctx context.Context, which string, want map[string]string) {
	t.Helper()
	for {
		s.mu.Lock()
		have := map[string]string{}
		for name, obj := range s.now {
			have[name] = obj.GetResourceVersion()
		}
		s.mu.Unlock()
		if reflect.DeepEqual(have, want) {
			return
		}
		select {
		case <-s.moved:
		case <-ctx.Done():
			t.Fatalf("the %s handler was told %v\nthe server holds %v", which, have, want)
		}
	}
}

// storm is one writer, whose writes always arrive, and informers of every sort that hear
// of them through a network that fails in every way it can.
type storm struct {
	t         *testing.T
	rnd       *rand.Rand
	maps      client.Resource[*corev1.ConfigMap]
	nets      []*badnet.Proxy
	all       history
	red       history // as a selection of the color sees it
	alive     map[string]*corev1.ConfigMap
	followers []follower
	seen      breaks
}

// breaks counts the errors that informers met.
type breaks struct{ failures, expired, silent atomic.Int64 }

func (b *breaks) note(err error) {
	b.failures.Add(1)
	if errors.Is(err, client.ErrExpired) {
		b.expired.Add(1)
	}
	if errors.Is(err, client.ErrSilent) {
		b.silent.Add(1)
	}
}

func (s *storm) follower(o client.Options, change func(*rest.Config)) *client.Client {
	net, config := network(s.t)
	if change != nil {
		change(config)
	}
	s.nets = append(s.nets, net)
	o.Silence = 2 * time.Second
	return connect(s.t, config, o)
}

func newStorm(t *testing.T, seed uint64) *storm {
	ns := newNamespace(t)
	plain := connect(t, nil, client.Options{})
	s := &storm{t: t, rnd: rand.New(rand.NewPCG(seed, 7)), all: history{}, red: history{}, alive: map[string]*corev1.ConfigMap{}}
	s.maps = client.For[*corev1.ConfigMap](plain).Namespace(ns)
	http1 := func(c *rest.Config) { c.NextProtos = []string{"http/1.1"} }
	typed := func(c *client.Client) client.Resource[*corev1.ConfigMap] {
		return client.For[*corev1.ConfigMap](c).Namespace(ns)
	}
	type maps = informer.Options[*corev1.ConfigMap]
	s.add(follow(t, &s.seen, "JSON", typed(s.follower(client.Options{}, nil)), maps{Log: 16}, s.maps), false)
	s.add(follow(t, &s.seen, "protobuf", typed(s.follower(client.Options{ContentType: client.ContentTypeProtobuf}, nil)), maps{Log: 16}, s.maps), false)
	s.add(follow(t, &s.seen, "HTTP1", typed(s.follower(client.Options{}, http1)), maps{Log: 16}, s.maps), false)
	s.add(follow(t, &s.seen, "label", typed(s.follower(client.Options{}, nil)), maps{LabelSelector: "color=red"}, s.maps), true)
	s.add(follow(t, &s.seen, "label-HTTP1", typed(s.follower(client.Options{}, http1)), maps{LabelSelector: "color=red"}, s.maps), true)
	s.add(follow(t, &s.seen, "metadata", client.Metadata(s.follower(client.Options{}, nil), configMaps, true).Namespace(ns),
		informer.Options[*metav1.PartialObjectMetadata]{Log: 16}, client.Metadata(plain, configMaps, true).Namespace(ns)), false)
	s.add(follow(t, &s.seen, "dynamic", client.Dynamic(s.follower(client.Options{}, nil), configMaps, true).Namespace(ns),
		informer.Options[*unstructured.Unstructured]{Log: 16}, client.Dynamic(plain, configMaps, true).Namespace(ns)), false)
	return s
}

func (s *storm) add(f follower, red bool) {
	finish := f.finish
	f.finish = func(t *testing.T, _ history) {
		t.Helper()
		truth := s.all
		if red {
			truth = s.red
		}
		finish(t, truth)
	}
	s.followers = append(s.followers, f)
}

// write does something to a random object, and notes it.
func (s *storm) write() {
	s.t.Helper()
	name := fmt.Sprint("m", s.rnd.IntN(20))
	was := s.alive[name]
	if was != nil && s.rnd.IntN(4) == 0 {
		s.remove(name)
		return
	}
	m := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: name}}
	if was != nil {
		m = was.DeepCopy()
	}
	m.Labels = map[string]string{"color": []string{"red", "red", "blue"}[s.rnd.IntN(3)]}
	m.Data = map[string]string{"n": fmt.Sprint(s.rnd.Int()), "fill": fmt.Sprintf("%0*d", s.rnd.IntN(5000), 0)}
	s.put(m, was != nil)
}

func (s *storm) put(m *corev1.ConfigMap, exists bool) *corev1.ConfigMap {
	s.t.Helper()
	write := s.maps.Create
	if exists {
		write = func(ctx context.Context, m *corev1.ConfigMap, _ ...metav1.CreateOptions) (*corev1.ConfigMap, error) {
			return s.maps.Update(ctx, m)
		}
	}
	m, err := write(s.t.Context(), m)
	if err != nil {
		s.t.Fatal(err)
	}
	s.alive[m.Name] = m
	now := state{revision(m), m.UID, true}
	s.all.note(m.Name, now)
	now.on = m.Labels["color"] == "red"
	s.red.note(m.Name, now)
	return m
}

func (s *storm) remove(name string) {
	s.t.Helper()
	if err := s.maps.Delete(s.t.Context(), name); err != nil {
		s.t.Fatal(err)
	}
	delete(s.alive, name)
	s.all.note(name, state{})
	s.red.note(name, state{})
}

// trouble does something to one of the networks.
func (s *storm) trouble() {
	n := s.nets[s.rnd.IntN(len(s.nets))]
	switch s.rnd.IntN(11) {
	case 0:
		n.Reset()
	case 1:
		n.Freeze()
	case 2:
		n.Set(badnet.Conditions{Silent: true})
	case 3:
		n.Set(badnet.Conditions{Deaf: true})
	case 4:
		n.Set(badnet.Conditions{Mute: true})
	case 5:
		n.Set(badnet.Conditions{Latency: time.Duration(s.rnd.IntN(30)) * time.Millisecond})
	case 6:
		n.Set(badnet.Conditions{Rate: 20_000 + s.rnd.IntN(200_000)})
	case 7:
		n.Set(badnet.Conditions{Refuse: true})
	case 8, 9: // in the middle of a handshake, a header, a frame or a chunk
		n.Set(badnet.Conditions{CutAfter: 1 + s.rnd.Int64N(40_000)})
	default:
		n.Set(badnet.Conditions{})
	}
}

// calm heals everything and waits until all have seen a write that everybody selects.
func (s *storm) calm() {
	s.t.Helper()
	for _, n := range s.nets {
		n.Set(badnet.Conditions{})
	}
	beacon, exists := s.alive["beacon"]
	if !exists {
		beacon = &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "beacon", Labels: map[string]string{"color": "red"}}}
	}
	beacon = beacon.DeepCopy()
	beacon.Data = map[string]string{"n": fmt.Sprint(s.rnd.Int())}
	beacon = s.put(beacon, exists)
	for _, f := range s.followers {
		f.reaches(s.t, beacon.ResourceVersion)
	}
}

// TestStorm drives random writes through networks that fail, and in the middle of it all
// restarts the server and has it forget its history, so that some informers meet a 410.
func TestStorm(t *testing.T) {
	for seed := range uint64(storms) {
		t.Run(fmt.Sprint("seed", seed), func(t *testing.T) {
			s := newStorm(t, seed)
			for n := range 500 {
				s.write()
				if s.rnd.IntN(4) == 0 {
					s.trouble()
				}
				switch n % 250 {
				case 80, 200:
					s.calm()
				case 120: // the first will miss a write that the history no longer has
					s.nets[0].Set(badnet.Conditions{Silent: true})
					s.write()
					target.compact(t)
					target.restart(t)
				case 160:
					target.restart(t)
				}
			}
			s.calm()
			for _, f := range s.followers {
				t.Run(f.name, func(t *testing.T) { f.finish(t, nil) })
			}
			t.Logf("met %d failures: %d times 410, %d times silence", s.seen.failures.Load(), s.seen.expired.Load(), s.seen.silent.Load())
			if s.seen.expired.Load() == 0 {
				t.Error("nobody met a 410")
			}
		})
	}
}
