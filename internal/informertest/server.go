// Package informertest is a small API server for tests of lists and watches: one resource
// (pods), revisions, paged lists, watches with bookmarks and streamed lists, a history that
// can be cut off, and connections that can be broken. It speaks HTTP/2 with TLS on a real
// socket. It has no other part of Kubernetes.
package informertest

import (
	"encoding/json"
	"encoding/pem"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"

	"fairlead.dev/client"
)

// Server is a pod store behind HTTP. Its methods may be called from anywhere.
type Server struct {
	// Settings; change them before the first request.
	NoStreamedLists bool   // refuse sendInitialEvents with 422, as servers without WatchList do
	AfterList       func() // called after each answer to a LIST, each page

	Lists, Watches, StreamedLists atomic.Int64 // requests answered with 200

	http *httptest.Server
	mu   struct {
		sync.Mutex
		pods    map[string]*corev1.Pod // by namespace/name; never changed once in
		rev     uint64
		log     []entry
		oldest  uint64 // revisions up to it are compacted
		bell    chan struct{}
		broken  chan struct{}
		refuse  int // so many requests are answered 503 first
		nextUID int
	}
}

type entry struct {
	rev  uint64
	typ  string
	data []byte
}

// New starts a server that the test stops at its end.
func New(t testing.TB) *Server {
	s := &Server{}
	s.mu.pods = map[string]*corev1.Pod{}
	s.mu.rev = 100
	s.mu.bell, s.mu.broken = make(chan struct{}), make(chan struct{})
	s.http = httptest.NewUnstartedServer(http.HandlerFunc(s.serve))
	s.http.EnableHTTP2 = true
	s.http.StartTLS()
	t.Cleanup(func() {
		s.http.CloseClientConnections()
		s.http.Close()
	})
	return s
}

// Config returns how to reach it.
func (s *Server) Config() *rest.Config {
	ca := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: s.http.Certificate().Raw})
	return &rest.Config{Host: s.http.URL, TLSClientConfig: rest.TLSClientConfig{CAData: ca}}
}

// Client returns a client of it.
func (s *Server) Client(t testing.TB) *client.Client {
	c, err := client.New(s.Config(), client.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// Put creates or updates a pod and returns it as stored.
func (s *Server) Put(p *corev1.Pod) *corev1.Pod {
	s.mu.Lock()
	defer s.mu.Unlock()
	p = p.DeepCopy()
	k := p.Namespace + "/" + p.Name
	typ := "ADDED"
	if old := s.mu.pods[k]; old != nil {
		typ, p.UID = "MODIFIED", old.UID
	} else {
		s.mu.nextUID++
		p.UID = types.UID(fmt.Sprintf("uid-%d", s.mu.nextUID))
	}
	s.mu.pods[k] = p
	s.commit(typ, p)
	return p
}

// Delete removes a pod.
func (s *Server) Delete(ns, name string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	p := s.mu.pods[ns+"/"+name]
	delete(s.mu.pods, ns+"/"+name)
	s.commit("DELETED", p.DeepCopy())
}

func (s *Server) commit(typ string, p *corev1.Pod) {
	s.mu.rev++
	p.ResourceVersion = strconv.FormatUint(s.mu.rev, 10)
	s.mu.log = append(s.mu.log, entry{s.mu.rev, typ, encode(p)})
	s.ring()
}

func (s *Server) ring() {
	close(s.mu.bell)
	s.mu.bell = make(chan struct{})
}

// Break cuts all watches off in the middle of an event.
func (s *Server) Break() {
	s.mu.Lock()
	defer s.mu.Unlock()
	close(s.mu.broken)
	s.mu.broken = make(chan struct{})
}

// Compact drops the history: watches from an earlier revision get 410, open ones too.
func (s *Server) Compact() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.mu.oldest, s.mu.log = s.mu.rev, nil
	s.ring()
}

// Refuse answers the next n requests with 503 and no Retry-After.
func (s *Server) Refuse(n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.mu.refuse = n
}

// Revision returns the current revision.
func (s *Server) Revision() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return strconv.FormatUint(s.mu.rev, 10)
}

// Skip raises the revision without an event, as writes to other resources do.
func (s *Server) Skip() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.mu.rev++
	rev := strconv.FormatUint(s.mu.rev, 10)
	b := encode(&corev1.Pod{ObjectMeta: metav1.ObjectMeta{ResourceVersion: rev}})
	s.mu.log = append(s.mu.log, entry{s.mu.rev, "BOOKMARK", b})
	s.ring()
	return rev
}

// Pods returns the present pods, by namespace/name.
func (s *Server) Pods() map[string]*corev1.Pod {
	s.mu.Lock()
	defer s.mu.Unlock()
	return maps.Clone(s.mu.pods)
}

func encode(p *corev1.Pod) []byte {
	p = p.DeepCopy()
	p.APIVersion, p.Kind = "v1", "Pod"
	b, err := json.Marshal(p)
	if err != nil {
		panic(err)
	}
	return b
}

func (s *Server) sorted(ns string) (ps []*corev1.Pod) {
	for _, k := range slices.Sorted(maps.Keys(s.mu.pods)) {
		if p := s.mu.pods[k]; ns == "" || p.Namespace == ns {
			ps = append(ps, p)
		}
	}
	return ps
}
