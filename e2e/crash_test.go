package e2e

import (
	"context"
	"fmt"
	"sync"
	"syscall"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"
)

// TestKilledInTheMiddleOfWrites kills the server during writes and starts it again: every
// acknowledged object exists at the resourceVersion of the response, and a watch continues
// from its last revision.
func TestKilledInTheMiddleOfWrites(t *testing.T) {
	const writers, enough = 8, 400
	dir := t.TempDir()
	p := up(t, dir)
	maps := p.clientset().CoreV1().ConfigMaps("default")

	var mu sync.Mutex
	acknowledged := map[string]string{} // name to resourceVersion
	reached := make(chan struct{})
	var wg sync.WaitGroup
	for w := range writers {
		wg.Add(1)
		go func() {
			defer wg.Done()
			for i := 0; ; i++ {
				name := fmt.Sprintf("cm-%d-%d", w, i)
				cm := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: name}, Data: map[string]string{"i": fmt.Sprint(i)}}
				got, err := maps.Create(context.Background(), cm, metav1.CreateOptions{})
				if err != nil {
					return // the server is gone
				}
				mu.Lock()
				acknowledged[name] = got.ResourceVersion
				if len(acknowledged) == enough {
					close(reached)
				}
				mu.Unlock()
			}
		}()
	}
	<-reached
	p.kill(syscall.SIGKILL)
	wg.Wait()

	p = up(t, dir)
	maps = p.clientset().CoreV1().ConfigMaps("default")
	var oldest string
	for name, rv := range acknowledged {
		got, err := maps.Get(context.Background(), name, metav1.GetOptions{})
		if err != nil {
			t.Errorf("acknowledged and lost: %v", err)
			continue
		}
		if got.ResourceVersion != rv {
			t.Errorf("%s was acknowledged at %s and is at %s", name, rv, got.ResourceVersion)
		}
		if name == "cm-0-0" {
			oldest = rv
		}
	}
	if _, err := maps.Create(context.Background(), &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "cm-0-0"}}, metav1.CreateOptions{}); !apierrors.IsAlreadyExists(err) {
		t.Errorf("creating it again: %v", err)
	}

	// From the revision of cm-0-0 on, the watch of the restarted server has every write
	// that the killed one acknowledged after it.
	w, err := maps.Watch(context.Background(), metav1.ListOptions{ResourceVersion: oldest})
	if err != nil {
		t.Fatal(err)
	}
	defer w.Stop()
	after := 0
	for _, rv := range acknowledged {
		if number(t, rv) > number(t, oldest) {
			after++
		}
	}
	for after > 0 {
		e, ok := <-w.ResultChan()
		if !ok || e.Type == watch.Error {
			t.Fatalf("the watch from %s ended with %d events to come: %v", oldest, after, e.Object)
		}
		if cm := e.Object.(*corev1.ConfigMap); e.Type == watch.Added && acknowledged[cm.Name] == cm.ResourceVersion {
			after--
		}
	}
	p.stop()
}

func number(t *testing.T, rv string) (n int64) {
	t.Helper()
	if _, err := fmt.Sscan(rv, &n); err != nil {
		t.Fatal(err)
	}
	return n
}
