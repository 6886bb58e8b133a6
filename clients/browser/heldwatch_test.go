package browser

import (
	"testing"

	"fairlead.dev/client"
	"fairlead.dev/internal/server/faults"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// held: a fault that holds a watch shows as that watcher's lag only; the unsent event names
// the watcher and the fault.
func (b *fixture) held(t *testing.T) {
	config := b.cp.Config()
	config.QPS = -1
	c, err := client.New(config, client.Options{UserAgent: "latecomer"})
	if err != nil {
		t.Fatal(err)
	}
	maps := client.For[*corev1.ConfigMap](c).Namespace("default")
	w, err := maps.Watch(t.Context(), metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	defer w.Stop()
	f, err := b.faults.Add(t.Context(), faults.Fault{Action: faults.Hold, Client: "latecomer"})
	if err != nil {
		t.Fatal(err)
	}
	b.createConfigMap(t, "held-back")
	b.open(t, "#/watchers?text=latecomer")
	b.until(t, `document.querySelector('.count').textContent.includes('1 behind') && document.querySelectorAll('.row.watcher.late').length === 1`)
	b.do(t, chromedp.Focus(".list"))
	b.key(t, "j")
	b.until(t, `document.querySelector('.row.watcher.on')`)
	b.key(t, kb.Enter) // opens the oldest event that the watcher has not been sent
	b.until(t, `document.querySelector('.about')?.textContent.includes('held-back')`)
	b.until(t, `[...document.querySelectorAll('.fall.late')].some((r) => r.textContent.includes('latecomer') && r.textContent.includes('waits')) && document.querySelectorAll('.fall.late').length === 1`)
	b.until(t, `[...document.querySelectorAll('.fall.fault')].some((r) => r.textContent.includes('fault %d'))`, f.ID)
	if err := b.faults.Remove(f.ID); err != nil {
		t.Fatal(err)
	}
	b.until(t, `document.querySelectorAll('.fall.late').length === 0 && document.querySelectorAll('.fall.sent').length > 0`)
	b.open(t, "#/watchers?text=")
	b.until(t, `document.querySelector('.count').textContent.includes('none behind')`)
}
