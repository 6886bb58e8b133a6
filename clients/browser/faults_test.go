package browser

import (
	"testing"

	"fairlead.dev/client"
	"fairlead.dev/internal/server/faults"
	"github.com/chromedp/chromedp"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// TestFaults adds and removes faults by the page, and sees there what they have done.
func TestFaults(t *testing.T) {
	b := newFixture(t)
	b.enter(t, b.cp.PageURL())
	b.until(t, `document.querySelector('#tabs [data-view=faults]') && !document.querySelector('#tabs [data-view=clock]')`)
	b.open(t, "#/clock")
	b.until(t, `document.querySelector('main').textContent.includes('--clock=virtual')`)
	b.do(t, chromedp.Click(`#tabs [data-view=faults]`))
	b.until(t, `document.querySelector('.faults .count').textContent === 'no fault in force'`)
	t.Run("hold", func(t *testing.T) { b.holdByPage(t) })
	t.Run("fail", func(t *testing.T) { b.failByPage(t) })
	t.Run("form", func(t *testing.T) { b.faultForm(t) })
}

// addFault fills the dialog with pairs of a field's label and a value, compares its command, and confirms.
func (b *fixture) addFault(t *testing.T, command string, fields ...[2]string) {
	t.Helper()
	b.fillFault(t, fields...)
	b.until(t, `document.querySelector('dialog.action .command').textContent === %q`, command)
	b.do(t, chromedp.Click(`dialog.action [type=submit]`))
	b.until(t, `!document.querySelector('dialog.action')`)
}

func (b *fixture) fillFault(t *testing.T, fields ...[2]string) {
	t.Helper()
	b.until(t, `!document.querySelector('dialog.action')`)
	b.do(t, chromedp.Click(`[data-action=add]`))
	b.until(t, `document.querySelector('dialog.action[open]')`)
	for _, f := range fields {
		b.do(t, chromedp.Evaluate(`(() => {
			const row = [...document.querySelectorAll('dialog.action .field')].find((l) => l.firstChild.textContent === '`+f[0]+`'), input = row.children[1];
			input.value = '`+f[1]+`';
			input.dispatchEvent(new Event('input', { bubbles: true }));
		})()`, nil))
	}
}

// holdByPage: a held watch of the scheduler keeps a pod from its node until the fault is removed.
func (b *fixture) holdByPage(t *testing.T) {
	b.addFault(t, "fairlead fault add hold --client=system:kube-scheduler --kind=pods", [2]string{"Action", "hold"}, [2]string{"Client", "system:kube-scheduler"}, [2]string{"Kind", "pods"})
	b.until(t, `document.querySelector('[data-fault]')?.textContent.includes('pods by system:kube-scheduler') && document.querySelector('.outcome').textContent.includes('Fault 1 is in force')`)
	pods := client.For[*corev1.Pod](b.client).Namespace("default")
	if _, err := pods.Create(t.Context(), &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "late"}, Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "c", Image: "nginx"}}}}); err != nil {
		t.Fatal(err)
	}
	b.until(t, `document.querySelector('[data-fault="1"] .strikes')?.textContent.includes('default/late')`)
	if node := b.node(t, "late"); node != "" {
		t.Errorf("the pod is on %s, though the scheduler has not heard of it", node)
	}
	for _, theme := range themes {
		b.theme(t, theme)
		b.legible(t, "faults, "+theme)
	}
	b.do(t, chromedp.Click(`[data-fault="1"] .strikes a`))
	b.until(t, `location.hash.startsWith('#/events/') && [...document.querySelectorAll('.fall.fault')].some((r) => r.textContent.includes('fault 1'))`)
	b.open(t, "#/faults")
	b.until(t, `document.querySelector('[data-fault="1"] button')`)
	b.do(t, chromedp.Click(`[data-fault="1"] button`))
	b.until(t, `document.querySelector('dialog.action .command')?.textContent === 'fairlead fault remove 1'`)
	b.do(t, chromedp.Click(`dialog.action [type=submit]`))
	eventually(t, pods, "late", func(p *corev1.Pod) bool { return p.Spec.NodeName != "" })
	b.until(t, `document.querySelector('.count').textContent === 'no fault in force' && document.querySelector('.cards').textContent.includes('Fault 1, removed')`)
}

// failByPage: a write fails, once, with the chosen code; two faults are removed at once.
func (b *fixture) failByPage(t *testing.T) {
	b.addFault(t, "fairlead fault add fail --kind=configmaps --namespace=default --verb=create --nth=2 --code=409",
		[2]string{"Action", "fail"}, [2]string{"Kind", "configmaps"}, [2]string{"Namespace", "default"}, [2]string{"Verb", "create"}, [2]string{"From write", "2"}, [2]string{"Status code", "409"})
	maps := client.For[*corev1.ConfigMap](b.client).Namespace("default")
	var codes []bool
	for _, name := range []string{"one", "two", "three"} {
		_, err := maps.Create(t.Context(), &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: name}})
		if err != nil && !apierrors.IsConflict(err) && !apierrors.IsAlreadyExists(err) {
			t.Fatal(err)
		}
		codes = append(codes, err == nil)
	}
	if !codes[0] || codes[1] || !codes[2] {
		t.Errorf("the three writes: %v", codes)
	}
	b.until(t, `document.querySelector('[data-fault="2"] .strikes')?.textContent.includes('create configmaps') && document.querySelector('[data-fault="2"] .strikes').children.length === 1`)
	b.addFault(t, "fairlead fault add slow --delay=10ms --times=-1", [2]string{"Action", "slow"}, [2]string{"Delay", "10ms"}, [2]string{"Writes", "-1"})
	b.until(t, `document.querySelectorAll('[data-fault]').length === 2`)
	b.do(t, chromedp.Click(`.bar button:not(.primary)`))
	b.until(t, `document.querySelector('dialog.action .command')?.textContent === 'fairlead fault remove --all'`)
	b.do(t, chromedp.Click(`dialog.action [type=submit]`))
	b.until(t, `document.querySelector('.count').textContent === 'no fault in force'`)
	if all := b.faults.List(); len(all) != 0 {
		t.Errorf("faults in force: %+v", all)
	}
}

// faultForm: the dialog has the fields of each action, and shows the server's refusal.
func (b *fixture) faultForm(t *testing.T) {
	for _, action := range faults.Actions {
		b.fillFault(t, [2]string{"Action", string(action)})
		b.until(t, `document.querySelector('dialog.action .command').textContent === 'fairlead fault add %s'`, action)
		wants := map[string]bool{"Delay": action == faults.Delay || action == faults.Reorder || action == faults.Slow, "Verb": action == faults.Fail || action == faults.Slow, "Kind": action != faults.Expire}
		for label, want := range wants {
			if got := get[bool](t, b, `[...document.querySelectorAll('dialog.action .field')].find((l) => l.firstChild.textContent === '`+label+`').checkVisibility()`); got != want {
				t.Errorf("%s: the field %s is there: %t", action, label, got)
			}
		}
		if needs := action == faults.Delay || action == faults.Slow; get[bool](t, b, `document.querySelector('dialog.action [type=submit]').disabled`) != needs {
			t.Errorf("%s without a delay", action)
		}
		b.do(t, evaluate(`document.querySelector('dialog.action').close()`))
	}
	b.fillFault(t, [2]string{"Action", "expire"}, [2]string{"Namespace", "nowhere"})
	b.do(t, chromedp.Click(`dialog.action [type=submit]`))
	b.until(t, `document.querySelector('dialog.action .failure').textContent.includes('no Lease in this selection has a holder')`)
	b.do(t, evaluate(`document.querySelector('dialog.action').close()`))
}
