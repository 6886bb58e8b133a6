package browser

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"fairlead.dev/client"
	"fairlead.dev/trace"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// TestActions acts on objects by the page and checks the effects by another client.
func TestActions(t *testing.T) {
	b := newFixture(t)
	b.story(t, 3)
	b.enter(t, b.cp.PageURL())
	t.Run("scale", func(t *testing.T) { b.scaling(t) })
	t.Run("roll out and back", func(t *testing.T) { b.rollout(t) })
	t.Run("stateful set", func(t *testing.T) { b.statefulSet(t) })
	t.Run("jobs", func(t *testing.T) { b.jobs(t) })
	t.Run("remove", func(t *testing.T) { b.remove(t) })
	t.Run("custom kind", func(t *testing.T) { b.customKind(t) })
	t.Run("drain", func(t *testing.T) { b.drain(t) })
	t.Run("narrow", func(t *testing.T) { b.narrow(t) })
	t.Run("read only", func(t *testing.T) { b.readOnly(t) })
}

// enter logs in by a link.
func (b *fixture) enter(t *testing.T, link string) {
	t.Helper()
	b.do(t, chromedp.Navigate("about:blank"), chromedp.Navigate(link))
	b.until(t, `location.pathname === '/ui/' && document.querySelector('#view > *')`)
}

// begin opens an action's dialog on an object.
func (b *fixture) begin(t *testing.T, place, action string) {
	t.Helper()
	b.until(t, `!document.querySelector('dialog.action')`) // the last one is removed after it was closed
	b.open(t, place)
	button := fmt.Sprintf(`.actions [data-action=%s]`, action)
	b.until(t, `document.querySelector('%s')?.checkVisibility()`, button)
	b.do(t, evaluate(fmt.Sprintf(`document.querySelector('%s').focus()`, button)))
	b.key(t, kb.Enter)
	b.until(t, `document.querySelector('dialog.action[open]')`)
}

// act confirms the open dialog, whose equivalent must be a command, and waits for its outcome. It returns the revision of
// the event that it links to.
func (b *fixture) act(t *testing.T, command string) int64 {
	t.Helper()
	if got := get[string](t, b, `document.querySelector('dialog.action .command').textContent`); got != command {
		t.Errorf("the dialog's command is %q, want %q", got, command)
	}
	for _, theme := range themes {
		b.theme(t, theme)
		b.legible(t, command+", "+theme)
	}
	b.do(t, evaluate(`document.querySelector('.outcome').replaceChildren()`), chromedp.Click(`dialog.action [type=submit]`))
	b.until(t, `!document.querySelector('dialog.action[open]') && document.querySelector('.outcome a[href^="#/events/"]')`)
	if !get[bool](t, b, `document.querySelector('.actions').contains(document.activeElement) || document.activeElement === document.body`) {
		t.Errorf("%s: the focus has not returned to the actions", command)
	}
	href := get[string](t, b, `document.querySelector('.outcome a[href^="#/events/"]').getAttribute('href')`)
	return trace.Revision(strings.TrimSuffix(strings.TrimPrefix(href, "#/events/"), "/tree"))
}

// caused checks that an event was made by the page's user.
func (b *fixture) caused(t *testing.T, revision int64, resource, verb, name string) {
	t.Helper()
	all := b.lives.Lives(trace.Filter{From: revision})
	if len(all) == 0 || all[0].Revision != revision || all[0].Resource != resource || all[0].Verb != verb || all[0].Name != name || all[0].User != "kubernetes-admin" {
		t.Errorf("event %d is %+v, want %s of %s %s", revision, all, verb, resource, name)
	}
}

// fill sets a field of the page.
func fill(selector, value string) chromedp.Action {
	return evaluate(fmt.Sprintf(`(() => { const f = document.querySelector(%q); f.value = %q; f.dispatchEvent(new Event('input', { bubbles: true })); f.dispatchEvent(new Event('change', { bubbles: true })); })()`, selector, value))
}

// eventually gets an object until it is as wanted.
func eventually[T client.Object](t *testing.T, objects client.Resource[T], name string, wanted func(T) bool) T {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	for {
		o, err := objects.Get(ctx, name, metav1.GetOptions{})
		if err != nil {
			t.Fatalf("%s: %v; last %+v", name, err, o)
		}
		if wanted(o) {
			return o
		}
		select {
		case <-ctx.Done():
			t.Fatalf("%s stays %+v", name, o)
		case <-time.After(20 * time.Millisecond):
		}
	}
}

const webAddress = "#/object/deployments.apps/default/web"

func (b *fixture) scaling(t *testing.T) {
	deployments := client.For[*appsv1.Deployment](b.client).Namespace("default")
	b.begin(t, webAddress, "scale")
	if get[string](t, b, `document.activeElement.type`) != "number" {
		t.Error("the field has no focus")
	}
	b.do(t, fill("dialog.action input", "-1"))
	b.until(t, `document.querySelector('dialog.action [type=submit]').disabled`)
	b.do(t, fill("dialog.action input", "2"))
	rev := b.act(t, "kubectl -n default scale deployment/web --replicas=2")
	if d, err := deployments.Get(t.Context(), "web", metav1.GetOptions{}); err != nil || *d.Spec.Replicas != 2 {
		t.Errorf("%v, %v", d, err)
	}
	b.caused(t, rev, "deployments.apps", "patch", "web")
	b.do(t, chromedp.Click(`.outcome a[href^="#/events/"]`))
	b.until(t, `location.hash === '#/events/%d/tree' && document.querySelectorAll('.row.node').length > 1`, rev)

	// Cancelling leaves the object as it is; the focus returns to the button.
	b.begin(t, webAddress, "scale")
	b.do(t, fill("dialog.action input", "9"))
	b.key(t, kb.Escape)
	b.until(t, `!document.querySelector('dialog.action') && document.activeElement.dataset.action === 'scale'`)
	if d, err := deployments.Get(t.Context(), "web", metav1.GetOptions{}); err != nil || *d.Spec.Replicas != 2 {
		t.Errorf("after cancelling: %v, %v", d, err)
	}
	b.do(t, evaluate(`document.activeElement.blur()`))
	b.key(t, "a")
	b.until(t, `document.activeElement.closest('.actions')`)
}

func (b *fixture) rollout(t *testing.T) {
	deployments := client.For[*appsv1.Deployment](b.client).Namespace("default")
	b.begin(t, webAddress, "restart")
	rev := b.act(t, "kubectl -n default rollout restart deployment/web")
	b.caused(t, rev, "deployments.apps", "patch", "web")
	eventually(t, deployments, "web", func(d *appsv1.Deployment) bool {
		return d.Spec.Template.Annotations["kubectl.kubernetes.io/restartedAt"] != "" && d.Status.UpdatedReplicas == 2 && d.Annotations["deployment.kubernetes.io/revision"] == "2"
	})
	if _, err := deployments.Patch(t.Context(), "web", client.MergePatch(map[string]any{"spec": map[string]any{"template": map[string]any{"spec": map[string]any{
		"containers": []map[string]any{{"name": "web", "image": "nginx:broken"}}}}}})); err != nil {
		t.Fatal(err)
	}
	eventually(t, deployments, "web", func(d *appsv1.Deployment) bool { return d.Annotations["deployment.kubernetes.io/revision"] == "3" })
	b.begin(t, webAddress, "undo")
	b.until(t, `document.querySelectorAll('dialog .revisions li').length === 3 && document.querySelector('dialog .preview').textContent.includes('nginx:broken')`)
	b.do(t, chromedp.Click(`dialog .revisions input[value="1"]`))
	b.act(t, "kubectl -n default rollout undo deployment/web --to-revision=1")
	eventually(t, deployments, "web", func(d *appsv1.Deployment) bool {
		return d.Spec.Template.Spec.Containers[0].Image == "nginx" && len(d.Spec.Template.Annotations) == 0 && d.Annotations["deployment.kubernetes.io/revision"] == "4"
	})
	b.begin(t, webAddress, "pause")
	b.act(t, "kubectl -n default rollout pause deployment/web")
	eventually(t, deployments, "web", func(d *appsv1.Deployment) bool { return d.Spec.Paused })
	b.until(t, `!document.querySelector('.actions [data-action=restart]') && document.querySelector('.actions [data-action=pause]').textContent === 'Resume…'`)
	b.begin(t, webAddress, "pause")
	b.act(t, "kubectl -n default rollout resume deployment/web")
	eventually(t, deployments, "web", func(d *appsv1.Deployment) bool { return !d.Spec.Paused })
}

// statefulSet: its revisions are ControllerRevisions.
func (b *fixture) statefulSet(t *testing.T) {
	sets := client.For[*appsv1.StatefulSet](b.client).Namespace("default")
	labels := map[string]string{"app": "db"}
	if _, err := sets.Create(t.Context(), &appsv1.StatefulSet{
		ObjectMeta: metav1.ObjectMeta{Name: "db"},
		Spec: appsv1.StatefulSetSpec{
			Selector: &metav1.LabelSelector{MatchLabels: labels},
			Template: corev1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Labels: labels}, Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "db", Image: "db:1"}}}},
		},
	}); err != nil {
		t.Fatal(err)
	}
	first := eventually(t, sets, "db", func(s *appsv1.StatefulSet) bool { return s.Status.ReadyReplicas == 1 })
	if _, err := sets.Patch(t.Context(), "db", client.MergePatch(map[string]any{"spec": map[string]any{"template": map[string]any{"spec": map[string]any{
		"containers": []map[string]any{{"name": "db", "image": "db:2"}}}}}})); err != nil {
		t.Fatal(err)
	}
	eventually(t, sets, "db", func(s *appsv1.StatefulSet) bool { return s.Status.UpdateRevision != first.Status.UpdateRevision })
	b.begin(t, "#/object/statefulsets.apps/default/db", "undo")
	b.until(t, `document.querySelectorAll('dialog .revisions li').length === 2 && document.querySelector('dialog .revisions input:checked').value === '1'`)
	b.act(t, "kubectl -n default rollout undo statefulset/db --to-revision=1")
	eventually(t, sets, "db", func(s *appsv1.StatefulSet) bool { return s.Spec.Template.Spec.Containers[0].Image == "db:1" })
}

func (b *fixture) jobs(t *testing.T) {
	crons, jobs := client.For[*batchv1.CronJob](b.client).Namespace("default"), client.For[*batchv1.Job](b.client).Namespace("default")
	if _, err := crons.Create(t.Context(), &batchv1.CronJob{
		ObjectMeta: metav1.ObjectMeta{Name: "nightly"},
		Spec: batchv1.CronJobSpec{Schedule: "0 3 1 1 *", JobTemplate: batchv1.JobTemplateSpec{
			ObjectMeta: metav1.ObjectMeta{Labels: map[string]string{"made": "so"}},
			Spec: batchv1.JobSpec{Template: corev1.PodTemplateSpec{Spec: corev1.PodSpec{RestartPolicy: corev1.RestartPolicyNever,
				Containers: []corev1.Container{{Name: "c", Image: "busybox", Command: []string{"sh", "-c", "sleep 3600"}}}}}},
		}},
	}); err != nil {
		t.Fatal(err)
	}
	const place = "#/object/cronjobs.batch/default/nightly"
	b.begin(t, place, "trigger")
	b.do(t, fill("dialog.action input", "by-hand"))
	rev := b.act(t, "kubectl -n default create job by-hand --from=cronjob/nightly")
	b.caused(t, rev, "jobs.batch", "create", "by-hand")
	j := eventually(t, jobs, "by-hand", func(j *batchv1.Job) bool { return j.Status.Active == 1 })
	if owner := metav1.GetControllerOf(j); owner == nil || owner.Name != "nightly" || j.Annotations["cronjob.kubernetes.io/instantiate"] != "manual" || j.Labels["made"] != "so" {
		t.Errorf("the Job is %+v", j)
	}
	b.begin(t, place, "trigger")
	b.do(t, fill("dialog.action input", "by-hand"), chromedp.Click(`dialog.action [type=submit]`))
	b.until(t, `document.querySelector('dialog.action .failure').textContent.includes('already exists')`)
	b.key(t, kb.Escape)
	b.begin(t, place, "suspend")
	b.act(t, `kubectl -n default patch cronjob/nightly -p '{"spec":{"suspend":true}}'`)
	eventually(t, crons, "nightly", func(c *batchv1.CronJob) bool { return *c.Spec.Suspend })
	b.begin(t, "#/object/jobs.batch/default/by-hand", "suspend")
	b.act(t, `kubectl -n default patch job/by-hand -p '{"spec":{"suspend":true}}'`)
	eventually(t, jobs, "by-hand", func(j *batchv1.Job) bool { return *j.Spec.Suspend && j.Status.Active == 0 })
}

func (b *fixture) remove(t *testing.T) {
	deployments := client.For[*appsv1.Deployment](b.client).Namespace("default")
	one := int32(1)
	labels := map[string]string{"app": "brief"}
	if _, err := deployments.Create(t.Context(), &appsv1.Deployment{
		ObjectMeta: metav1.ObjectMeta{Name: "brief"},
		Spec: appsv1.DeploymentSpec{Replicas: &one, Selector: &metav1.LabelSelector{MatchLabels: labels},
			Template: corev1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Labels: labels}, Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "c", Image: "nginx"}}}}},
	}); err != nil {
		t.Fatal(err)
	}
	eventually(t, deployments, "brief", func(d *appsv1.Deployment) bool { return d.Status.AvailableReplicas == 1 })
	pod := b.pod(t, "app=brief")
	b.begin(t, "#/object/pods/default/"+pod, "evict")
	rev := b.act(t, `echo '{"apiVersion":"policy/v1","kind":"Eviction","metadata":{"namespace":"default","name":"`+pod+`"},"deleteOptions":{}}' | kubectl create --raw /api/v1/namespaces/default/pods/`+pod+`/eviction -f -`)
	if all := b.lives.Lives(trace.Filter{From: rev}); all[0].Subresource != "eviction" || all[0].Name != pod {
		t.Errorf("the eviction's event is %+v", all[0])
	}
	b.begin(t, "#/object/deployments.apps/default/brief", "delete")
	b.do(t, fill("dialog.action select", "Orphan"))
	b.act(t, "kubectl -n default delete deployment/brief --cascade=orphan")
	b.until(t, `document.querySelector('.about + .actions') && document.querySelector('.about .dim').textContent === 'It does not exist.'`)
	sets, err := client.For[*appsv1.ReplicaSet](b.client).Namespace("default").List(t.Context(), metav1.ListOptions{LabelSelector: "app=brief"})
	if err != nil || len(sets.Items) != 1 || len(sets.Items[0].OwnerReferences) != 0 {
		t.Errorf("orphaned: %+v, %v", sets, err)
	}
	b.begin(t, "#/object/replicasets.apps/default/"+sets.Items[0].Name, "delete")
	b.act(t, "kubectl -n default delete replicaset/"+sets.Items[0].Name)
}

func (b *fixture) getPod(t *testing.T, name string) *corev1.Pod {
	t.Helper()
	p, err := client.For[*corev1.Pod](b.client).Namespace("default").Get(t.Context(), name, metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func (b *fixture) node(t *testing.T, pod string) string { return b.getPod(t, pod).Spec.NodeName }

// drain: a budget blocks it, DaemonSets' pods stay, and it can be cancelled and repeated.
func (b *fixture) drain(t *testing.T) {
	nodes, pods := client.For[*corev1.Node](b.client), client.For[*corev1.Pod](b.client).Namespace("default")
	labels := map[string]string{"app": "agent"}
	if _, err := client.For[*appsv1.DaemonSet](b.client).Namespace("default").Create(t.Context(), &appsv1.DaemonSet{
		ObjectMeta: metav1.ObjectMeta{Name: "agent"},
		Spec: appsv1.DaemonSetSpec{Selector: &metav1.LabelSelector{MatchLabels: labels},
			Template: corev1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Labels: labels}, Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "c", Image: "agent"}}}}},
	}); err != nil {
		t.Fatal(err)
	}
	eventually(t, client.For[*appsv1.DaemonSet](b.client).Namespace("default"), "agent", func(d *appsv1.DaemonSet) bool { return d.Status.NumberReady == 3 })
	budgets := client.For[*policyv1.PodDisruptionBudget](b.client).Namespace("default")
	all := intstr.FromString("100%")
	if _, err := budgets.Create(t.Context(), &policyv1.PodDisruptionBudget{ObjectMeta: metav1.ObjectMeta{Name: "keep"},
		Spec: policyv1.PodDisruptionBudgetSpec{MinAvailable: &all, Selector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": "web"}}}}); err != nil {
		t.Fatal(err)
	}
	eventually(t, budgets, "keep", func(p *policyv1.PodDisruptionBudget) bool {
		return p.Status.ExpectedPods == 2 && p.Status.CurrentHealthy == 2
	})
	kept := b.pod(t, "app=web")
	node := b.node(t, kept)
	place := "#/object/nodes/-/" + node

	b.begin(t, place, "cordon")
	b.act(t, "kubectl cordon "+node)
	eventually(t, nodes, node, func(n *corev1.Node) bool { return n.Spec.Unschedulable })
	b.begin(t, place, "cordon")
	b.act(t, "kubectl uncordon "+node)
	eventually(t, nodes, node, func(n *corev1.Node) bool { return !n.Spec.Unschedulable })

	b.begin(t, place, "drain")
	b.until(t, `document.querySelector('dialog details summary').textContent === '1 pod stays'`)
	if get[string](t, b, `document.activeElement.textContent`) != "Cancel" {
		t.Error("a key confirms what destroys")
	}
	b.do(t, chromedp.Click(`dialog.action [type=submit]`))
	b.until(t, `document.querySelector('dialog .leaving .bad')?.textContent.includes('disruption budget keep needs')`)
	eventually(t, nodes, node, func(n *corev1.Node) bool { return n.Spec.Unschedulable })
	if *shots != "" {
		b.shot(t, "draining")
	}
	b.do(t, chromedp.Click(`dialog.action .choice button`))
	b.begin(t, "#/object/pods/default/"+kept, "evict")
	b.do(t, chromedp.Click(`dialog.action [type=submit]`))
	b.until(t, `document.querySelector('dialog .failure').textContent.includes('disruption budget keep needs')`)
	b.key(t, kb.Escape)
	b.open(t, place)
	b.until(t, `!document.querySelector('dialog.action') && document.querySelector('.actions [data-action=cordon]').textContent === 'Uncordon…'`)
	b.getPod(t, kept)

	if err := budgets.Delete(t.Context(), "keep", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	b.begin(t, place, "drain")
	command := get[string](t, b, `document.querySelector('dialog.action .command').textContent`)
	if !strings.HasPrefix(command, "kubectl drain "+node+" --ignore-daemonsets") {
		t.Errorf("the command is %q", command)
	}
	b.act(t, command)
	left, err := pods.List(t.Context(), metav1.ListOptions{FieldSelector: "spec.nodeName=" + node})
	if err != nil || len(left.Items) != 1 || left.Items[0].Labels["app"] != "agent" {
		t.Errorf("after the drain there are %v, %v", left.Items, err)
	}
}

// customKind: a custom kind with the scale subresource can be scaled.
func (b *fixture) customKind(t *testing.T) {
	post := func(path, body string) {
		t.Helper()
		if _, err := b.client.REST().Do(t.Context(), client.Request{Method: "POST", Path: path, Body: []byte(body)}); err != nil {
			t.Fatal(err)
		}
	}
	post("/apis/apiextensions.k8s.io/v1/customresourcedefinitions", `{"apiVersion":"apiextensions.k8s.io/v1","kind":"CustomResourceDefinition","metadata":{"name":"fleets.example.com"},"spec":{"group":"example.com","scope":"Namespaced",
		"names":{"plural":"fleets","singular":"fleet","kind":"Fleet"},"versions":[{"name":"v1","served":true,"storage":true,
		"subresources":{"scale":{"specReplicasPath":".spec.size","statusReplicasPath":".status.size"}},
		"schema":{"openAPIV3Schema":{"type":"object","properties":{"spec":{"type":"object","properties":{"size":{"type":"integer"}}},"status":{"type":"object","properties":{"size":{"type":"integer"}}}}}}}]}}`)
	definitions := "/apis/example.com/v1/namespaces/default/fleets"
	b.until(t, `(() => { const x = new XMLHttpRequest(); x.open('GET', '%s', false); x.setRequestHeader('X-Fairlead-Page', '1'); x.send(); return x.status === 200 })()`, definitions)
	post(definitions, `{"apiVersion":"example.com/v1","kind":"Fleet","metadata":{"name":"north"},"spec":{"size":1}}`)
	b.begin(t, "#/object/fleets.example.com/default/north", "scale")
	b.do(t, fill("dialog.action input", "7"))
	rev := b.act(t, "kubectl -n default scale fleets.example.com/north --replicas=7")
	b.caused(t, rev, "fleets.example.com", "patch", "north")
	b.open(t, "#/object/fleets.example.com/default/north?part=yaml")
	b.until(t, `document.querySelector('.yaml')?.textContent.includes('size: 7')`)
}

// narrow: the dialogs and parts fit a narrow screen.
func (b *fixture) narrow(t *testing.T) {
	b.do(t, chromedp.EmulateViewport(390, 844))
	fits := func(what string) {
		t.Helper()
		if wide := get[string](t, b, `[document.scrollingElement, document.querySelector('dialog.action')].filter((e) => e && (e.scrollWidth > e.clientWidth || e.getBoundingClientRect().right > 390)).map((e) => e.tagName + ' ' + e.scrollWidth).join()`); wide != "" {
			t.Errorf("%s does not fit: %s", what, wide)
		}
	}
	pod := "#/object/pods/default/" + b.pod(t, "app=web")
	for _, x := range []struct{ place, action string }{{webAddress, "scale"}, {webAddress, "undo"}, {webAddress, "delete"}, {pod, "ports"}, {pod, "evict"}, {"#/object/nodes/-/node-1", "drain"}} {
		b.begin(t, x.place, x.action)
		fits(x.action)
		b.key(t, kb.Escape)
		b.until(t, `!document.querySelector('dialog.action')`)
	}
	for place, ready := range map[string]string{pod + "?part=logs": ".logtext", pod + "?part=terminal": ".terminal", webAddress + "?part=yaml": ".yaml"} {
		b.open(t, place)
		b.until(t, `document.querySelector('%s')`, ready)
		fits(place)
	}
	b.open(t, webAddress+"?part=yaml")
	b.until(t, `document.querySelector('[data-action=edit]')?.checkVisibility()`)
	b.do(t, chromedp.Click("[data-action=edit]"))
	b.until(t, `document.querySelector('.editor')`)
	fits("the editor")
	b.do(t, chromedp.EmulateViewport(1360, 850))
}
