package browser

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"fairlead.dev/client"
	"fairlead.dev/internal/server/faults"
	"github.com/chromedp/chromedp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// place is a view of the page, or a dialog in it.
type place struct {
	name, address string
	ready         string // true once the view is complete
	click         string // opens the dialog
}

// places are all views and dialogs, after the events of story, stuck and busy.
func (b *fixture) places(t *testing.T, made, scaled int64) []place {
	pod := "#/object/pods/default/chat"
	return []place{
		{"overview", "#/overview", `document.querySelector('.problem') && document.querySelector('.plot .line')?.getAttribute('points')?.includes(' ')`, ""},
		{"events", "#/events?text=", `document.querySelector('.row.event')`, ""},
		{"roots", "#/events?show=trees", `document.querySelector('.scatter .legend i')`, ""},
		{"pair", fmt.Sprintf("#/compare/%d/%d", made, scaled), `document.querySelectorAll('.row.pair').length > 9`, ""},
		{"hops", fmt.Sprintf("#/events/%d", scaled), `document.querySelectorAll('.fall.work').length > 0`, ""},
		{"tree", fmt.Sprintf("#/events/%d/tree", scaled), `document.querySelectorAll('.row.node').length > 9`, ""},
		{"browse", "#/browse/pods", `document.querySelectorAll('.list .tone').length > 3 && document.querySelector('.kinds a')`, ""},
		{"beside", "#/browse/pods?of=default%2F" + b.pod(t, "app=web"), `document.querySelector('.side .why .badge')`, ""},
		{"map", harbourMap + "&show=drawing", mapCard("6 Pods: 6 Running"), ""},
		{"maplist", harbourMap + "&show=list", `document.querySelector('.maplist li')`, ""},
		{"maparound", "#/map?namespace=harbour&resource=pods&name=adrift&steps=2&show=drawing", mapCard("Pod harbour/adrift"), ""},
		{"related", "#/object/deployments.apps/harbour/crane?part=related", `document.querySelector('.related h3')`, ""},
		{"yaml", "#/object/deployments.apps/default/web?part=yaml", `document.querySelector('.yaml .key')`, ""},
		{"history", "#/object/deployments.apps/default/web?part=history", `document.querySelectorAll('.change').length > 3`, ""},
		{"compare", fmt.Sprintf("#/object/deployments.apps/default/web?part=history&show=compare&from=%d", scaled), `document.querySelector('.compared .change')`, ""},
		{"blame", "#/object/deployments.apps/default/web?part=history&show=blame", `document.querySelector('.blame .line')`, ""},
		{"why", "#/object/deployments.apps/default/stuck", `document.querySelectorAll('.why .parts > li').length > 1`, ""},
		{"watchers", "#/watchers", `document.querySelectorAll('.row.watcher').length > 3`, ""},
		{"queues", "#/queues", `document.querySelectorAll('.card').length > 2`, ""},
		{"faults", "#/faults", `document.querySelector('.strikes')`, ""},
		{"fault", "#/faults", `document.querySelector('dialog.action')`, "[data-action=add]"},
		{"travel", fmt.Sprintf("#/browse/pods?at=%d", scaled+8), `document.querySelectorAll('.list .row.cells').length > 1`, ""},
		{"then", fmt.Sprintf("#/browse/deployments.apps?of=default%%2Fweb&at=%d", scaled), `document.querySelector('.side .yaml')`, ""},
		{"empty", "#/events?text=nothing+has+this+name", `document.querySelector('.empty button')`, ""},
		{"scale", webAddress, `document.querySelector('dialog.action')`, "[data-action=scale]"},
		{"undo", webAddress, `document.querySelectorAll('dialog .revisions li').length > 1`, "[data-action=undo]"},
		{"revert", webAddress + fmt.Sprintf("?part=history&show=compare&from=%d", scaled), `document.querySelector('dialog.undo .change')`, ".sides .undo"},
		{"delete", pod, `document.querySelector('dialog.action')`, "[data-action=delete]"},
		{"ports", pod, `document.querySelector('dialog .ports')`, "[data-action=ports]"},
		{"drain", "#/object/nodes/-/node-1", `document.querySelector('dialog .leaving')`, "[data-action=drain]"},
		{"edit", webAddress + "?part=yaml", `document.querySelector('.editor .ill')`, "[data-action=edit]"},
		{"logs", pod + "?part=logs", `document.querySelector('.logtext').textContent.includes('tick')`, ""},
		{"terminal", pod + "?part=terminal", `document.querySelector('.terminal .lines').textContent.includes('/ # ')`, "[aria-label=Terminal] .primary"},
	}
}

// goTo opens a view and waits until it is complete.
func (b *fixture) goTo(t *testing.T, p place) {
	t.Helper()
	b.until(t, `!document.querySelector('dialog:is(.action, .undo)')`) // the last one is removed after it was closed
	b.open(t, p.address)
	if p.click != "" {
		b.until(t, `document.querySelector('%s')?.checkVisibility()`, p.click)
		b.do(t, evaluate(fmt.Sprintf(`document.querySelector('%s').click()`, p.click)))
	}
	if p.name == "edit" {
		b.until(t, `document.querySelector('.editor textarea')`)
		b.do(t, evaluate(`document.execCommand('selectAll'), document.execCommand('insertText', false, document.activeElement.value.replace('replicas:', 'replicaz:'))`), evaluate(`document.querySelector('.tools .primary').click()`))
	}
	b.until(t, "%s", p.ready)
}

// on gives the window a size and a colour scheme.
func (b *fixture) on(t *testing.T, s screen) {
	b.theme(t, s.theme)
	b.do(t, chromedp.EmulateViewport(s.width, s.height))
}

// TestShots takes pictures, if -shots is set.
func TestShots(t *testing.T) {
	if *shots == "" {
		t.Skip("no -shots=DIR")
	}
	b := newFixture(t)
	made, scaled := b.story(t, 4)
	b.stuck(t)
	b.harbour(t)
	b.do(t, chromedp.Navigate(b.cp.PageURL()))
	b.until(t, `location.pathname === '/ui/' && document.querySelector('.problem')`)
	b.busy(t)
	for _, s := range []screen{{"dark", "dark", 1440, 900}, {"light", "light", 1440, 900}, {"narrow", "dark", 390, 844}} {
		b.on(t, s)
		for _, p := range b.places(t, made, scaled) {
			b.goTo(t, p)
			b.shot(t, s.name+"-"+p.name)
			b.do(t, evaluate(`document.querySelector('dialog[open]')?.close()`))
		}
	}
}

// shot takes a picture of the window.
func (b *fixture) shot(t *testing.T, name string) {
	t.Helper()
	var data []byte
	b.do(t, chromedp.CaptureScreenshot(&data))
	if err := os.WriteFile(filepath.Join(*shots, name+".png"), data, 0o644); err != nil {
		t.Fatal(err)
	}
}

// busy makes a pod that writes a log, a second revision of the Deployment web, and two faults, of which one has failed a write.
func (b *fixture) busy(t *testing.T) {
	if _, err := client.For[*appsv1.Deployment](b.client).Namespace("default").Patch(t.Context(), "web", client.MergePatch(map[string]any{"spec": map[string]any{"template": map[string]any{"spec": map[string]any{
		"containers": []map[string]any{{"name": "web", "image": "nginx:2"}}}}}})); err != nil {
		t.Fatal(err)
	}
	if _, err := client.For[*corev1.Pod](b.client).Namespace("default").Create(t.Context(), &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: "chat"},
		Spec: corev1.PodSpec{Containers: []corev1.Container{{
			Name: "talk", Image: "busybox", Command: []string{"sh", "-c", "i=0; while [ $i -lt 300 ]; do echo \"level=info msg=\\\"request $i handled\\\" path=/items/$i\"; i=$((i+1)); done; while true; do echo tick; sleep 1; done"},
			Ports: []corev1.ContainerPort{{Name: "http", ContainerPort: 80}, {Name: "metrics", ContainerPort: 9090}},
		}}},
	}); err != nil {
		t.Fatal(err)
	}
	eventually(t, client.For[*corev1.Pod](b.client).Namespace("default"), "chat", func(p *corev1.Pod) bool { return p.Status.Phase == corev1.PodRunning })
	for _, f := range []faults.Fault{{Action: faults.Fail, Resource: "configmaps", Verb: "create", Code: 409}, {Action: faults.Delay, Client: "metrics", Delay: faults.Duration(2 * time.Second)}} {
		if _, err := b.faults.Add(t.Context(), f); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := client.For[*corev1.ConfigMap](b.client).Namespace("default").Create(t.Context(), &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "settings"}}); !apierrors.IsConflict(err) && !apierrors.IsAlreadyExists(err) {
		t.Fatal("the fault has not failed the write: ", err)
	}
}
