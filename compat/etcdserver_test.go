package compat

import (
	"fmt"
	"io"
	"path/filepath"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"
)

// TestAPIServerOnOurEtcd runs a real kube-apiserver on `fairlead etcd`: it starts,
// writes, lists in pages, watches, loses a race for an update, and reads
// consistently from its cache, for which our progress notifications must come.
func TestAPIServerOnOurEtcd(t *testing.T) {
	port := freePort(t)
	address := fmt.Sprintf("127.0.0.1:%d", port)
	start(t, bin.fairlead, "etcd", "--listen="+address, "--data-dir="+filepath.Join(t.TempDir(), "data"))
	u := startUpstreamOn(t, "http://"+address)
	maps := u.clients.CoreV1().ConfigMaps("default")
	w, err := maps.Watch(t.Context(), metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	defer w.Stop()
	const n = 30
	var first *corev1.ConfigMap
	for i := range n {
		made, err := maps.Create(t.Context(), &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprintf("m%02d", i)}}, metav1.CreateOptions{})
		if err != nil {
			t.Fatal(err)
		}
		if i == 0 {
			first = made
		}
	}
	for seen := 0; seen < n; {
		e, ok := <-w.ResultChan()
		if !ok {
			t.Fatalf("the watch ended after %d", seen)
		}
		if m, is := e.Object.(*corev1.ConfigMap); is && e.Type == watch.Added && strings.HasPrefix(m.Name, "m") {
			if want := fmt.Sprintf("m%02d", seen); m.Name != want {
				t.Fatalf("%s is added where %s should be", m.Name, want)
			}
			seen++
		}
	}
	changed := first.DeepCopy()
	changed.Data = map[string]string{"a": "1"}
	if _, err := maps.Update(t.Context(), changed, metav1.UpdateOptions{}); err != nil {
		t.Fatal(err)
	}
	if _, err := maps.Update(t.Context(), changed, metav1.UpdateOptions{}); !apierrors.IsConflict(err) {
		t.Errorf("an update of what has changed: %v", err)
	}
	names := map[string]bool{}
	for page := ""; ; {
		l, err := maps.List(t.Context(), metav1.ListOptions{Limit: 7, Continue: page})
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range l.Items {
			names[m.Name] = true
		}
		if page = l.Continue; page == "" {
			break
		}
	}
	if len(names) < n {
		t.Errorf("the pages hold %d", len(names))
	}
	if err := maps.Delete(t.Context(), "m00", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	if l, err := maps.List(t.Context(), metav1.ListOptions{}); err != nil || len(l.Items) < n-1 {
		t.Errorf("a consistent list: %v", err)
	}
	body, err := u.clients.Discovery().RESTClient().Get().AbsPath("/metrics").Stream(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer body.Close()
	metrics, err := io.ReadAll(body)
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(metrics), `apiserver_watch_cache_consistent_read_total{fallback="false",group="",resource="configmaps",success="true"}`) {
		t.Error("no list of config maps was answered consistently from the cache")
	}
}
