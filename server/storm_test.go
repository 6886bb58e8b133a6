package server_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"fairlead.dev/internal/resource/builtin"
	"fairlead.dev/internal/server/h2"
	"fairlead.dev/server"
	"fairlead.dev/storage/local"
	"fairlead.dev/watchcache"
)

// storm is a pair of servers over one store. They are restarted on their data, disconnected and
// compacted while many clients write and watch. Each request goes to one of the two at random, so a
// client that lost one goes on at the other.
type storm struct {
	t   *testing.T
	dir string
	// front is the address of clients, which stays.
	front *httptest.Server
	back  atomic.Pointer[replicas]
}

type replicas struct {
	store   *local.Store
	servers [2]*server.Server
	stop    func()
}

func newStorm(t *testing.T) *storm {
	s := &storm{t: t, dir: t.TempDir()}
	s.up()
	s.front = httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		back := s.back.Load()
		if back == nil {
			w.Header().Set("Retry-After", "1")
			http.Error(w, "starting", http.StatusServiceUnavailable)
			return
		}
		back.servers[rand.IntN(2)].ServeHTTP(w, req)
	}))
	s.front.EnableHTTP2 = true
	h2.Install(s.front.Config, h2.Options{WriteTimeout: time.Second})
	s.front.StartTLS()
	t.Cleanup(func() {
		s.front.CloseClientConnections()
		s.down()
		s.front.Close()
	})
	return s
}

func (s *storm) up() {
	store, err := local.Open(s.dir, local.Options{})
	if err != nil {
		s.t.Error(err)
		return
	}
	ctx, cancel := context.WithCancel(context.Background())
	var running sync.WaitGroup
	r := &replicas{store: store, stop: func() {
		cancel()
		running.Wait()
		store.Close()
	}}
	for i := range r.servers {
		// The history is so short that slow clients fall behind it.
		srv, err := server.New(server.Config{
			Store: store, Resources: builtin.Resources(), WriteTimeout: time.Second,
			History: watchcache.HubOptions{HistoryBytes: 256 << 10}, BookmarkEvery: 100 * time.Millisecond,
		})
		if err != nil {
			s.t.Error(err)
			return
		}
		running.Go(func() { srv.Run(ctx) })
		r.servers[i] = srv
	}
	s.back.Store(r)
}

func (s *storm) down() {
	if r := s.back.Swap(nil); r != nil {
		r.stop()
	}
}

// trouble does one of the things that happen to servers.
func (s *storm) trouble(r *rand.Rand) {
	switch n := r.IntN(10); {
	case n < 4:
		s.front.CloseClientConnections()
	case n < 8:
		if back := s.back.Load(); back != nil {
			back.store.Compact(context.Background(), back.store.Revision())
		}
	default:
		s.restart()
	}
}

// restart starts the servers anew on their data. A write in flight to the old ones is stored by
// then or never will be.
func (s *storm) restart() {
	s.front.CloseClientConnections()
	s.down()
	s.up()
}

func (s *storm) client(media string, change ...func(*rest.Config)) kubernetes.Interface {
	cfg := &rest.Config{
		Host: s.front.URL, QPS: -1,
		TLSClientConfig: rest.TLSClientConfig{CAData: certPEM(s.front.Certificate())},
		ContentConfig:   rest.ContentConfig{ContentType: media, AcceptContentTypes: media},
	}
	for _, f := range change {
		f(cfg)
	}
	return kubernetes.NewForConfigOrDie(cfg)
}

// write makes random changes until ctx ends. A failed write is dropped: the servers' final state
// shows whether it was committed.
func (s *storm) write(ctx context.Context, r *rand.Rand, objects int) (done int) {
	k := s.client("application/json")
	value := strings.Repeat("v", 500)
	for ctx.Err() == nil {
		in := k.CoreV1().ConfigMaps([]string{"one", "two", "three"}[r.IntN(3)])
		name := fmt.Sprintf("o%04d", r.IntN(objects))
		wctx, cancel := context.WithTimeout(ctx, 5*time.Second)
		var err error
		switch r.IntN(4) {
		case 0:
			err = in.Delete(wctx, name, metav1.DeleteOptions{})
		case 1:
			patch := fmt.Sprintf(`{"metadata":{"labels":{"color":"c%d"}},"data":{"n":"%d"}}`, r.IntN(3), r.Int())
			_, err = in.Patch(wctx, name, types.MergePatchType, []byte(patch), metav1.PatchOptions{})
		default:
			_, err = in.Create(wctx, &corev1.ConfigMap{
				ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{"color": fmt.Sprint("c", r.IntN(3))}},
				Data:       map[string]string{"v": value},
			}, metav1.CreateOptions{})
		}
		cancel()
		if err == nil {
			done++
		}
	}
	return done
}

// dawdle opens a watch of everything and does not read it, until ctx ends.
func (s *storm) dawdle(ctx context.Context) {
	client := &http.Client{Transport: s.front.Client().Transport.(*http.Transport).Clone()}
	for ctx.Err() == nil {
		req, _ := http.NewRequestWithContext(ctx, "GET", s.front.URL+"/api/v1/configmaps?watch=1&allowWatchBookmarks=true", nil)
		resp, err := client.Do(req)
		if err != nil {
			continue
		}
		select {
		case <-ctx.Done():
		case <-time.After(2 * time.Second):
		}
		resp.Body.Close()
	}
}

// TestStorm checks that every informer's handlers see a possible history, and that its store ends
// as the server's list.
func TestStorm(t *testing.T) {
	s := newStorm(t)
	calm, end := context.WithCancel(context.Background())
	defer end()
	var followers []*follower
	for i, f := range []*follower{
		{media: "application/json"},
		{media: "application/vnd.kubernetes.protobuf"},
		{media: "application/json", namespace: "one"},
		{media: "application/vnd.kubernetes.protobuf", labels: "color=c1"},
		{media: "application/json", labels: "color!=c1", namespace: "two"},
		{media: "application/json", fields: "metadata.name=o0007"},
		{media: "application/json", slow: true},
		{media: "application/json", pages: true},
	} {
		f.t, f.name = t, fmt.Sprint(i, " ", f.media, " ", f.namespace, " ", f.labels, " ", f.fields)
		f.follow(calm, s.client(f.media))
		followers = append(followers, f)
	}
	raging, enough := context.WithTimeout(context.Background(), stormFor)
	defer enough()
	var all sync.WaitGroup
	var written atomic.Int64
	for i := range stormWriters {
		all.Go(func() { written.Add(int64(s.write(raging, rand.New(rand.NewPCG(uint64(i), 9)), stormObjects))) })
	}
	for range 3 {
		all.Go(func() { s.dawdle(raging) })
	}
	all.Go(func() {
		r := rand.New(rand.NewPCG(1, 2))
		next := time.NewTicker(stormFor / stormTroubles)
		defer next.Stop()
		for {
			select {
			case <-next.C:
				s.trouble(r)
			case <-raging.Done():
				return
			}
		}
	})
	all.Wait()
	s.restart() // a writer that has ended may have left a write under way

	k := s.client("application/json")
	var list *corev1.ConfigMapList
	for list == nil {
		l, err := k.CoreV1().ConfigMaps("").List(calm, metav1.ListOptions{})
		if err == nil {
			list = l
		}
	}
	for _, f := range followers {
		want := map[string]string{}
		for _, o := range list.Items {
			if f.selects(labels.Set(o.Labels), o.Namespace, o.Name) {
				want[o.Namespace+"/"+o.Name] = o.ResourceVersion
			}
		}
		f.settle(want)
	}
	t.Logf("%d writes, %d objects, %d events heard, %d lists", written.Load(), len(list.Items), heard(followers), lists(followers))
}
