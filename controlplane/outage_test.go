package controlplane_test

import (
	"errors"
	"io"
	"net"
	"net/url"
	"sync"
	"testing"
	"time"

	"fairlead.dev/client"
	"fairlead.dev/controlplane"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"
)

// A link is a way to a server that can be cut.
type link struct {
	t           *testing.T
	address, to string
	mu          struct {
		sync.Mutex
		listener net.Listener
		open     []net.Conn
	}
}

func newLink(t *testing.T, to string) *link {
	t.Helper()
	l := &link{t: t, address: "127.0.0.1:0", to: to}
	l.mend()
	t.Cleanup(l.cut)
	return l
}

func (l *link) mend() {
	l.t.Helper()
	listener, err := net.Listen("tcp", l.address)
	if err != nil {
		l.t.Fatal(err)
	}
	l.address = listener.Addr().String()
	l.mu.Lock()
	defer l.mu.Unlock()
	l.mu.listener = listener
	go func() {
		for {
			from, err := listener.Accept()
			if err != nil {
				return
			}
			to, err := net.Dial("tcp", l.to)
			if err != nil {
				from.Close()
				continue
			}
			l.mu.Lock()
			if l.mu.listener != listener {
				from.Close()
				to.Close()
			}
			l.mu.open = append(l.mu.open, from, to)
			l.mu.Unlock()
			go io.Copy(from, to)
			go io.Copy(to, from)
		}
	}()
}

func (l *link) cut() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.mu.listener != nil {
		l.mu.listener.Close()
		l.mu.listener = nil
	}
	for _, c := range l.mu.open {
		c.Close()
	}
	l.mu.open = nil
}

// TestEtcdOutage: without its etcd a server says so to whoever wants the present,
// serves what it has to others, and goes on when the etcd is back: its watches
// have missed nothing.
func TestEtcdOutage(t *testing.T) {
	far := startEtcd(t)
	u, err := url.Parse(far.Servers[0])
	if err != nil {
		t.Fatal(err)
	}
	etcd := newLink(t, u.Host)
	far.Servers[0] = "https://" + etcd.address
	_, cl := startReplica(t, controlplane.Options{DataDir: t.TempDir(), Etcd: far})
	maps := client.For[*corev1.ConfigMap](cl).Namespace("default")
	before, err := maps.Create(t.Context(), configMap("before", "1"))
	if err != nil {
		t.Fatal(err)
	}
	w, err := maps.Watch(t.Context(), metav1.ListOptions{ResourceVersion: before.ResourceVersion})
	if err != nil {
		t.Fatal(err)
	}
	defer w.Stop()
	// The server has it when it answers for that revision from what it has.
	if _, err := maps.Get(t.Context(), "before", metav1.GetOptions{ResourceVersion: before.ResourceVersion}); err != nil {
		t.Fatal(err)
	}

	etcd.cut()
	if got, err := maps.Get(t.Context(), "before", metav1.GetOptions{ResourceVersion: "0"}); err != nil || got.UID != before.UID {
		t.Errorf("what the server has, without etcd: %v, %v", got, err)
	}
	_, err = maps.Get(t.Context(), "before")
	if status := apierrors.APIStatus(nil); !errors.As(err, &status) || status.Status().Code < 500 {
		t.Errorf("the present, without etcd: %v, want a server error", err)
	}

	etcd.mend()
	var after *corev1.ConfigMap
	for deadline := time.Now().Add(30 * time.Second); ; {
		if after, err = maps.Create(t.Context(), configMap("after", "1")); err == nil {
			break
		}
		if time.Now().After(deadline) {
			t.Fatal("etcd is back: ", err)
		}
	}
	timer := time.AfterFunc(20*time.Second, w.Stop)
	defer timer.Stop()
	for {
		e, err := w.Next(t.Context())
		if err != nil {
			t.Fatal("the watch: ", err)
		}
		if e.Type == watch.Bookmark {
			continue
		}
		if e.Type != watch.Added || e.Object.ResourceVersion != after.ResourceVersion {
			t.Errorf("the watch goes on with %s %s at %s, want %s", e.Type, e.Object.Name, e.Object.ResourceVersion, after.ResourceVersion)
		}
		break
	}
	if got, err := maps.Get(t.Context(), "after"); err != nil || got.UID != after.UID {
		t.Errorf("etcd is back: %v, %v", got, err)
	}
}
