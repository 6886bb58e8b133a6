package e2e

import (
	"fmt"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// TestWatchHistory: the history in memory is bounded as configured, and a watch that starts
// before it still gets every event, from the store.
func TestWatchHistory(t *testing.T) {
	t.Parallel()
	p := up(t, t.TempDir(), "--in-memory", "--nodes=0", "--watch-history=64Ki")
	defer p.stop()
	maps := p.clientset().CoreV1().ConfigMaps("default")
	first, err := maps.Create(t.Context(), &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "m"}}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	const updates = 100
	for n := range updates {
		first.Data = map[string]string{"n": fmt.Sprint(n), "rest": strings.Repeat("x", 8<<10)}
		u := first.DeepCopy()
		u.ResourceVersion = ""
		if _, err := maps.Update(t.Context(), u, metav1.UpdateOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	kept := -1
	for line := range strings.Lines(p.kubectl("get", "--raw", "/metrics")) {
		if strings.HasPrefix(line, "fairlead_watch_cache_history_events{") && strings.Contains(line, `"configmaps"`) {
			fmt.Sscan(line[strings.LastIndex(line, " "):], &kept)
		}
	}
	if kept < 1 || kept > 20 {
		t.Errorf("%d changes of 8 KB are kept in 64 KB", kept)
	}
	w, err := maps.Watch(t.Context(), metav1.ListOptions{ResourceVersion: first.ResourceVersion, FieldSelector: "metadata.name=m"})
	if err != nil {
		t.Fatal(err)
	}
	defer w.Stop()
	for n := range updates {
		e := <-w.ResultChan()
		if m, ok := e.Object.(*corev1.ConfigMap); !ok || m.Data["n"] != fmt.Sprint(n) {
			t.Fatalf("event %d is %v", n, e)
		}
	}
	fairlead(t, "up", "--in-memory", "--watch-history=much").fails(t, 2, "--watch-history=much: want bytes")
}
