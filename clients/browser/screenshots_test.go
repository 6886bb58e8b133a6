package browser

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"fairlead.dev/client"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// TestShots takes pictures, if -shots is set.
func TestShots(t *testing.T) {
	if *shots == "" {
		t.Skip("no -shots=DIR")
	}
	b := newFixture(t)
	made, scaled := b.story(t, 4)
	b.stuck(t)
	b.do(t, chromedp.Navigate(b.cp.PageURL()))
	b.until(t, `location.pathname === '/ui/' && document.querySelector('.problem')`)
	b.busy(t)
	pod := "#/object/pods/default/chat"
	places := []struct{ name, place, ready, click string }{
		{"overview", "#/overview", `document.querySelector('.problem') && document.querySelector('.plot .line')`, ""},
		{"events", "#/events?text=", `document.querySelector('.row.event')`, ""},
		{"roots", "#/events?show=trees", `document.querySelector('.scatter .legend i')`, ""},
		{"pair", fmt.Sprintf("#/compare/%d/%d", made, scaled), `document.querySelectorAll('.row.pair').length > 9`, ""},
		{"hops", fmt.Sprintf("#/events/%d", scaled), `document.querySelectorAll('.fall.work').length > 0`, ""},
		{"tree", fmt.Sprintf("#/events/%d/tree", scaled), `document.querySelectorAll('.row.node').length > 9`, ""},
		{"browse", "#/browse/pods", `document.querySelectorAll('.list .tone').length > 3 && document.querySelector('.kinds a')`, ""},
		{"beside", "#/browse/pods?of=default%2F" + b.pod(t, "app=web"), `document.querySelector('.side .why .badge')`, ""},
		{"yaml", "#/object/deployments.apps/default/web?part=yaml", `document.querySelector('.yaml .key')`, ""},
		{"history", "#/object/deployments.apps/default/web?part=history", `document.querySelectorAll('.change').length > 3`, ""},
		{"compare", fmt.Sprintf("#/object/deployments.apps/default/web?part=history&show=compare&from=%d", scaled), `document.querySelector('.compared .change')`, ""},
		{"blame", "#/object/deployments.apps/default/web?part=history&show=blame", `document.querySelector('.blame .line')`, ""},
		{"why", "#/object/deployments.apps/default/stuck", `document.querySelectorAll('.why .parts > li').length > 1`, ""},
		{"watchers", "#/watchers", `document.querySelectorAll('.row.watcher').length > 3`, ""},
		{"queues", "#/queues", `document.querySelectorAll('.card').length > 2`, ""},
		{"travel", fmt.Sprintf("#/browse/pods?at=%d", scaled+8), `document.querySelectorAll('.list .row.cells').length > 1`, ""},
		{"then", fmt.Sprintf("#/browse/deployments.apps?of=default%%2Fweb&at=%d", scaled), `document.querySelector('.side .yaml')`, ""},
		{"empty", "#/events?text=nothing+has+this+name", `document.querySelector('.empty button')`, ""},
		{"scale", webAddress, `document.querySelector('dialog.action')`, "[data-action=scale]"},
		{"undo", webAddress, `document.querySelectorAll('dialog .revisions li').length > 1`, "[data-action=undo]"},
		{"delete", pod, `document.querySelector('dialog.action')`, "[data-action=delete]"},
		{"ports", pod, `document.querySelector('dialog .ports')`, "[data-action=ports]"},
		{"drain", "#/object/nodes/-/node-1", `document.querySelector('dialog .leaving')`, "[data-action=drain]"},
		{"edit", webAddress + "?part=yaml", `document.querySelector('.editor .ill')`, "[data-action=edit]"},
		{"logs", pod + "?part=logs", `document.querySelector('.logtext').textContent.includes('tick')`, ""},
		{"terminal", pod + "?part=terminal", `document.querySelector('.terminal .lines').textContent.includes('/ # ')`, "[aria-label=Terminal] .primary"},
	}
	screens := []struct {
		name, theme   string
		width, height int64
	}{{"dark", "dark", 1360, 850}, {"light", "light", 1360, 850}, {"narrow", "dark", 390, 844}}
	for _, s := range screens {
		b.do(t, emulation.SetEmulatedMedia().WithFeatures([]*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: s.theme}}),
			chromedp.EmulateViewport(s.width, s.height))
		for _, p := range places {
			b.open(t, p.place)
			if p.click != "" {
				b.until(t, `document.querySelector('%s')?.checkVisibility()`, p.click)
				b.do(t, evaluate(fmt.Sprintf(`document.querySelector('%s').click()`, p.click)))
			}
			if p.name == "edit" {
				b.do(t, evaluate(`document.execCommand('selectAll'), document.execCommand('insertText', false, document.activeElement.value.replace('replicas:', 'replicaz:'))`), chromedp.Click(".tools .primary"))
			}
			b.until(t, "%s", p.ready)
			var data []byte
			b.do(t, chromedp.CaptureScreenshot(&data))
			if err := os.WriteFile(filepath.Join(*shots, s.name+"-"+p.name+".png"), data, 0o644); err != nil {
				t.Fatal(err)
			}
			b.do(t, evaluate(`document.querySelector('dialog.action')?.close()`))
		}
	}
}

// busy makes a pod that writes a log, and a second revision of the Deployment web.
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
}
