package browser

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
	appsv1 "k8s.io/api/apps/v1"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"fairlead.dev/client"
	"fairlead.dev/trace"
)

// harbour makes a namespace with objects of many relations: an Ingress, a Service, a Deployment of six pods with their
// configuration and a claim, an autoscaler, and a pod whose ConfigMap is missing.
func (b *fixture) harbour(t *testing.T) {
	t.Helper()
	const ns = "harbour"
	add(t, b, "", &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: ns}})
	labels := map[string]string{"app": "crane"}
	add(t, b, ns, &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "settings"}})
	add(t, b, ns, &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: "password"}})
	add(t, b, ns, &corev1.PersistentVolumeClaim{ObjectMeta: metav1.ObjectMeta{Name: "cargo"}, Spec: corev1.PersistentVolumeClaimSpec{
		AccessModes: []corev1.PersistentVolumeAccessMode{corev1.ReadWriteMany}, Resources: corev1.VolumeResourceRequirements{Requests: corev1.ResourceList{"storage": resource.MustParse("1Gi")}},
	}})
	add(t, b, ns, &corev1.Service{ObjectMeta: metav1.ObjectMeta{Name: "crane"}, Spec: corev1.ServiceSpec{Selector: labels, Ports: []corev1.ServicePort{{Port: 80}}}})
	add(t, b, ns, &networkingv1.Ingress{ObjectMeta: metav1.ObjectMeta{Name: "quay"}, Spec: networkingv1.IngressSpec{
		DefaultBackend: &networkingv1.IngressBackend{Service: &networkingv1.IngressServiceBackend{Name: "crane", Port: networkingv1.ServiceBackendPort{Number: 80}}},
	}})
	add(t, b, ns, &autoscalingv2.HorizontalPodAutoscaler{ObjectMeta: metav1.ObjectMeta{Name: "crane"}, Spec: autoscalingv2.HorizontalPodAutoscalerSpec{
		MaxReplicas: 9, ScaleTargetRef: autoscalingv2.CrossVersionObjectReference{APIVersion: "apps/v1", Kind: "Deployment", Name: "crane"},
	}})
	six := int32(6)
	add(t, b, ns, &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Name: "crane"}, Spec: appsv1.DeploymentSpec{
		Replicas: &six, Selector: &metav1.LabelSelector{MatchLabels: labels}, Template: corev1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Labels: labels}, Spec: corev1.PodSpec{
			Volumes: []corev1.Volume{
				{Name: "settings", VolumeSource: corev1.VolumeSource{ConfigMap: &corev1.ConfigMapVolumeSource{LocalObjectReference: corev1.LocalObjectReference{Name: "settings"}}}},
				{Name: "cargo", VolumeSource: corev1.VolumeSource{PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: "cargo"}}},
			},
			Containers: []corev1.Container{{Name: "c", Image: "nginx", EnvFrom: []corev1.EnvFromSource{{SecretRef: &corev1.SecretEnvSource{LocalObjectReference: corev1.LocalObjectReference{Name: "password"}}}}}},
		}},
	}})
	add(t, b, ns, &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "adrift"}, Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "c", Image: "nginx", EnvFrom: []corev1.EnvFromSource{
		{ConfigMapRef: &corev1.ConfigMapEnvSource{LocalObjectReference: corev1.LocalObjectReference{Name: "chart"}}},
	}}}}})
	eventually(t, client.For[*appsv1.Deployment](b.client).Namespace(ns), "crane", func(d *appsv1.Deployment) bool { return d.Status.AvailableReplicas == six })
}

// add creates an object.
func add[T client.Object](t *testing.T, b *fixture, namespace string, o T) {
	t.Helper()
	if _, err := client.For[T](b.client).Namespace(namespace).Create(t.Context(), o); err != nil {
		t.Fatal(err)
	}
}

// mapCard is an expression: the card of the map whose label begins with a text.
func mapCard(text string) string {
	return fmt.Sprintf(`document.querySelector('.mapcard[aria-label^="%s"]')`, text)
}

// clickCard clicks the card whose label begins with a text.
func (b *fixture) clickCard(t *testing.T, text string) {
	t.Helper()
	b.until(t, "%s", mapCard(text))
	at := get[[2]float64](t, b, `(() => { const r = `+mapCard(text)+`.getBoundingClientRect(); return [r.x + r.width / 2, r.y + r.height / 2]; })()`)
	b.do(t, chromedp.MouseClickXY(at[0], at[1]))
}

// pressCard is an expression that presses the card whose label begins with a text, wherever it is, if it is in the map.
const pressCard = `((card) => card && ['pointerdown', 'pointerup'].forEach((type) => card.dispatchEvent(new PointerEvent(type, { pointerId: 1, bubbles: true }))) === undefined)(document.querySelector('.mapcard[aria-label^="%s"]'))`

const harbourMap = "#/map?namespace=harbour"

// TestMap uses the map of a namespace and the related objects.
func TestMap(t *testing.T) {
	b := newFixture(t)
	b.harbour(t)
	b.enter(t, b.cp.PageURL())
	t.Run("namespace", func(t *testing.T) { b.namespaceMap(t) })
	t.Run("keyboard", func(t *testing.T) { b.mapKeys(t) })
	t.Run("pointer", func(t *testing.T) { b.mapPointer(t) })
	t.Run("around", func(t *testing.T) { b.mapAround(t) })
	t.Run("list", func(t *testing.T) { b.mapList(t) })
	t.Run("related", func(t *testing.T) { b.related(t) })
	t.Run("modules", func(t *testing.T) { b.mapModules(t) })
	t.Run("screens", func(t *testing.T) { b.mapScreens(t) })
	t.Run("live", func(t *testing.T) { b.mapLive(t) })
}

// namespaceMap: the map has the relations with their verbs and the states with colour and word; equal pods are one card.
func (b *fixture) namespaceMap(t *testing.T) {
	b.open(t, harbourMap)
	for _, card := range []string{"Ingress harbour/quay", "Service harbour/crane, 6 of 6 ready", "Deployment harbour/crane, 6 of 6 ready", "ReplicaSet harbour/crane-", "6 Pods: 6 Running",
		"Pod harbour/adrift, CreateContainerConfigError", "ConfigMap harbour/chart, missing", "PersistentVolumeClaim harbour/cargo, Bound", "PersistentVolume ", "StorageClass ", "HorizontalPodAutoscaler harbour/crane", "Node node-1, Ready"} {
		b.until(t, "%s", mapCard(card))
	}
	b.until(t, `%s.querySelector('.edge.ill') && %s.querySelector('.edge.well') && %s.querySelector('.edge.ill')`, mapCard("ConfigMap harbour/chart"), mapCard("6 Pods"), mapCard("Pod harbour/adrift"))
	b.until(t, `['owns', 'selects', 'mounts', 'reads', 'routes to', 'runs on', 'scales', 'binds'].every((v) => [...document.querySelectorAll('.mapdrawing .verb')].some((l) => l.textContent === v))`)
	b.until(t, `!%s && !%s`, mapCard("ServiceAccount harbour/default"), mapCard("ConfigMap harbour/kube-root-ca.crt"))
	b.do(t, chromedp.Click(`.map .check input`))
	b.until(t, `location.hash.includes('defaults=1') && %s && %s`, mapCard("ServiceAccount harbour/default"), mapCard("ConfigMap harbour/kube-root-ca.crt"))
	b.do(t, chromedp.Click(`.map .check input`))
	b.until(t, `!%s`, mapCard("ServiceAccount harbour/default"))

	// No card lies on another one, and all are in the drawing.
	if text := get[string](t, b, `(() => {
		const all = [...document.querySelectorAll('.mapcard .face')].map((f) => f.getBoundingClientRect()), stage = document.querySelector('.mapdrawing').getBoundingClientRect();
		const on = all.filter((a, i) => all.some((b, j) => j < i && a.left < b.right && b.left < a.right && a.top < b.bottom && b.top < a.bottom)).length;
		const out = all.filter((a) => a.left < stage.left || a.right > stage.right || a.top < stage.top || a.bottom > stage.bottom).length;
		return on || out ? on + ' on others, ' + out + ' outside, of ' + all.length : '';
	})()`); text != "" {
		t.Error("cards: ", text)
	}
}

// mapKeys: arrows move along the relations, Enter unfolds a group and opens an object.
func (b *fixture) mapKeys(t *testing.T) {
	b.open(t, harbourMap)
	b.clickCard(t, "Ingress harbour/quay")
	b.until(t, `document.activeElement.classList.contains('mapdrawing')`)
	active := func(text string) {
		t.Helper()
		b.until(t, `document.getElementById(document.querySelector('.mapdrawing').getAttribute('aria-activedescendant'))?.getAttribute('aria-label').startsWith('%s')`, text)
	}
	active("Ingress harbour/quay")
	b.key(t, kb.ArrowRight)
	active("Service harbour/crane")
	b.until(t, `document.querySelector('.pickedobject').textContent.includes('has 6 of 6 endpoints ready')`)
	b.key(t, kb.ArrowLeft)
	active("Ingress harbour/quay")
	b.clickCard(t, "ReplicaSet harbour/crane-")
	b.key(t, kb.ArrowRight)
	active("6 Pods")
	b.key(t, kb.Enter)
	b.until(t, `document.querySelectorAll('.mapcard[aria-label^="Pod harbour/crane-"]').length === 6`)
	active("fold 6 Pods")
	b.key(t, kb.Enter)
	b.until(t, `document.querySelectorAll('.mapcard[aria-label^="Pod harbour/crane-"]').length === 0`)
	b.key(t, kb.ArrowLeft+kb.ArrowLeft)
	active("Deployment harbour/crane")
	b.key(t, kb.Enter)
	b.until(t, `location.hash === '#/object/deployments.apps/harbour/crane'`)
}

// mapPointer: the drawing is moved by dragging and zoomed by the wheel with Ctrl and by buttons; a click on a group unfolds it.
func (b *fixture) mapPointer(t *testing.T) {
	b.open(t, harbourMap)
	b.until(t, "%s", mapCard("6 Pods"))
	place := func() [3]float64 {
		return get[[3]float64](t, b, `(() => { const m = document.querySelector('.mapdrawing > g').transform.baseVal.consolidate().matrix; return [m.e, m.f, m.a]; })()`)
	}
	fitted := place()
	stage := b.box(t, ".mapdrawing")
	b.drag(t, stage.x+8, stage.y+8, stage.x+68, stage.y+48)
	if now := place(); now[0]-fitted[0] < 50 || now[1]-fitted[1] < 30 || now[2] != fitted[2] {
		t.Errorf("dragged from %v to %v", fitted, now)
	}
	b.do(t, evaluate(`document.querySelector('.mapdrawing').dispatchEvent(new WheelEvent('wheel', { deltaY: -100, ctrlKey: true, clientX: 300, clientY: 300, cancelable: true, bubbles: true }))`))
	if now := place(); now[2] <= fitted[2] {
		t.Errorf("the wheel zooms from %v to %v", fitted, now)
	}
	b.do(t, chromedp.Click(`.zooms button:last-child`))
	if now := place(); now != fitted {
		t.Errorf("Fit shows %v, not %v", now, fitted)
	}
	b.clickCard(t, "6 Pods")
	b.until(t, `document.querySelectorAll('.mapcard[aria-label^="Pod harbour/crane-"]').length === 6`)
	b.clickCard(t, "fold 6 Pods")
	b.until(t, "%s", mapCard("6 Pods"))
}

// mapAround: the map around an object has the objects within its steps.
func (b *fixture) mapAround(t *testing.T) {
	b.open(t, "#/map?namespace=harbour&resource=services&name=crane&steps=1")
	b.until(t, `%s?.classList.contains('center') && %s && %s && !%s`, mapCard("Service harbour/crane"), mapCard("6 Pods"), mapCard("Ingress harbour/quay"), mapCard("ReplicaSet"))
	b.do(t, fill(`.map [aria-label=Steps]`, "2"))
	b.until(t, `location.hash.includes('steps=2') && %s && !%s && !%s`, mapCard("ReplicaSet"), mapCard("Deployment"), mapCard("Pod harbour/adrift"))
	b.clickCard(t, "PersistentVolumeClaim harbour/cargo")
	b.until(t, `document.querySelector('.pickedobject a:last-child')?.textContent === 'map around it'`)
	b.do(t, chromedp.Click(`.pickedobject a:last-child`))
	b.until(t, `%s?.classList.contains('center') && %s`, mapCard("PersistentVolumeClaim harbour/cargo"), mapCard("StorageClass"))
	b.open(t, "#/map?resource=nodes&name=node-1&steps=1")
	b.until(t, `%s?.classList.contains('center') && document.querySelectorAll('.mapcard').length > 1`, mapCard("Node node-1"))
	b.open(t, "#/map?namespace=harbour&resource=pods&name=none")
	b.until(t, `document.querySelector('.map .count.bad').textContent === 'It does not exist.'`)
}

// mapList: the list has the objects with their states and relations.
func (b *fixture) mapList(t *testing.T) {
	b.open(t, harbourMap+"&show=list")
	b.until(t, `[...document.querySelectorAll('.maplist > section > ul > li')].some((l) => l.textContent.includes('crane 6 of 6 ready') && l.textContent.includes('selects 6 Pods: 6 Running') && l.textContent.includes('gets requests from Ingress quay'))`)
	b.do(t, chromedp.Focus(`.maplist .fold`))
	b.key(t, kb.Enter)
	b.until(t, `[...document.querySelectorAll('.maplist a')].some((a) => a.getAttribute('href').startsWith('#/object/pods/harbour/crane-')) && document.activeElement.classList.contains('fold')`)
	b.do(t, chromedp.Click(`.map [data-show=drawing]`))
	b.until(t, `document.querySelector('.mapdrawing').checkVisibility() && !document.querySelector('.maplist').checkVisibility()`)
}

// related: an object's view has links to the related objects, with states, and its Events.
func (b *fixture) related(t *testing.T) {
	const heading = `(title) => [...document.querySelectorAll('.related > section')].find((s) => s.querySelector('h3').textContent.startsWith(title))?.textContent ?? ''`
	b.open(t, "#/object/deployments.apps/harbour/crane?part=related")
	for title, text := range map[string]string{"Owns": "ReplicaSet crane-", "Pods": "Running", "Scaled by": "HorizontalPodAutoscaler crane", "Selected by": "Service crane 6 of 6 ready", "Runs on": "Node node-1 Ready", "Mounts": "PersistentVolumeClaim cargo Bound", "Reads": "Secret password", "Events": "ScalingReplicaSet"} {
		b.until(t, `(%s)('%s').includes('%s')`, heading, title, text)
	}
	b.open(t, "#/object/pods/harbour/adrift?part=related")
	b.until(t, `(%s)('Reads').includes('chart missing') && (%s)('Events').includes('Scheduled')`, heading, heading)
	b.open(t, "#/object/nodes/-/node-1?part=related")
	b.until(t, `(%s)('Runs').includes('Pod ')`, heading)
	b.open(t, "#/browse/services?namespace=harbour&of=harbour%2Fcrane&part=related")
	b.until(t, `(%s)('Gets requests from').includes('quay') && document.querySelector('.related a').getAttribute('href').startsWith('#/map?')`, heading)
	b.do(t, chromedp.Click(`.related p a`))
	b.until(t, `location.hash.startsWith('#/map?') && %s?.classList.contains('center')`, mapCard("Service harbour/crane"))
}

// mapScreens: text has enough contrast in both themes, and a narrow screen shows the list.
func (b *fixture) mapScreens(t *testing.T) {
	views := []struct{ place, ready string }{
		{harbourMap + "&show=drawing", mapCard("6 Pods")}, {harbourMap + "&show=list", `document.querySelector('.maplist li a')`},
		{"#/map?namespace=harbour&resource=pods&name=adrift&show=drawing", mapCard("Pod harbour/adrift")},
		{"#/object/deployments.apps/harbour/crane?part=related", `document.querySelector('.related h3')`},
	}
	for _, theme := range themes {
		b.theme(t, theme)
		for _, v := range views {
			b.open(t, v.place)
			b.until(t, "%s", v.ready)
			b.legible(t, v.place+", "+theme)
		}
		b.open(t, harbourMap+"&show=drawing")
		b.clickCard(t, "Pod harbour/adrift")
		b.until(t, `document.querySelector('.pickedobject a')`)
		b.legible(t, "a chosen object, "+theme)
	}
	b.do(t, chromedp.EmulateViewport(390, 844))
	b.open(t, harbourMap)
	b.until(t, `document.querySelector('.maplist').checkVisibility() && !document.querySelector('.mapdrawing').checkVisibility()`)
	for _, v := range views {
		b.open(t, v.place)
		b.until(t, "%s", v.ready)
		if wide := get[int](t, b, `document.scrollingElement.scrollWidth`); wide > 390 {
			t.Errorf("%s is %d wide", v.place, wide)
		}
	}
	b.do(t, chromedp.EmulateViewport(1360, 850))
}

// mapLive: the map follows changes; the deleted Deployment, which the autoscaler names, is shown as missing.
func (b *fixture) mapLive(t *testing.T) {
	b.open(t, harbourMap+"&show=drawing")
	b.until(t, "%s", mapCard("6 Pods: 6 Running"))
	deployments := client.For[*appsv1.Deployment](b.client).Namespace("harbour")
	if _, err := deployments.Patch(t.Context(), "crane", client.MergePatch(map[string]any{"spec": map[string]any{"replicas": 8}})); err != nil {
		t.Fatal(err)
	}
	b.until(t, `%s && %s`, mapCard("8 Pods: 8 Running"), mapCard("Deployment harbour/crane, 8 of 8 ready"))
	if err := deployments.Delete(t.Context(), "crane", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	b.until(t, `%s && !%s`, mapCard("Deployment harbour/crane, missing"), mapCard("8 Pods"))
}

// TestLargeMap shows 1,200 pods while they start and are replaced: they are one card, and a frame stays short. It logs the
// longest tasks of the page's main thread.
func TestLargeMap(t *testing.T) {
	const pods = 1200
	b := newFixtureWith(t, trace.Options{}, 14)
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	defer cancel()
	b.story(t, 2)
	b.enter(t, b.cp.PageURL())
	b.open(t, "#/map?namespace=default")
	b.until(t, "%s", mapCard("Deployment default/web"))
	t.Log("the map while 1,200 pods start: ", summary(b.tasks(t, func() {
		b.scale(t, ctx, pods)
		b.until(t, "%s", mapCard("1,200 Pods: 1,200 Running"))
	})))
	t.Log("the map while they are replaced: ", summary(b.tasks(t, func() {
		d, err := client.For[*appsv1.Deployment](b.client).Namespace("default").Patch(ctx, "web", client.MergePatch(map[string]any{"spec": map[string]any{"template": map[string]any{"metadata": map[string]any{"annotations": map[string]any{"version": "2"}}}}}))
		if err != nil {
			t.Fatal(err)
		}
		b.available(t, ctx, d, pods)
		b.settle(t, ctx)
		b.until(t, "%s", mapCard("1,200 Pods: 1,200 Running"))
	})))
	t.Log("unfolded twice: ", summary(b.tasks(t, func() {
		b.until(t, pressCard, "1,200 Pods") // which may move meanwhile
		b.until(t, pressCard, "1,160 more Pods")
		b.until(t, "%s", mapCard("1,120 more Pods"))
	})))
	if n := get[int](t, b, `document.querySelectorAll('*').length`); n > 3000 {
		t.Errorf("%d elements are in the document", n)
	}
}

// mapModules tests the parts of the map that do not draw.
func (b *fixture) mapModules(t *testing.T) {
	for name, script := range map[string]string{
		"layout": `
			const { layout, spread, WIDTH, HEIGHT } = await load('maplayout.js');
			const nodes = ['service', 'deployment', 'set', 'pod', 'slice', 'alone'].map((id) => ({ id }));
			const edge = (from, to) => ({ from, to });
			const { at, width, height } = layout(nodes, [edge('deployment', 'set'), edge('set', 'pod'), edge('service', 'pod'), edge('service', 'slice')]);
			claim(['deployment', 'set', 'pod'].every((id, i, all) => !i || at.get(all[i - 1]).x < at.get(id).x), 'edges lead to the right');
			claim(at.get('service').x === at.get('set').x && at.get('slice').x === at.get('pod').x, 'a source is beside what it leads to');
			claim([...at.values()].every((p) => p.x >= 0 && p.y >= 0 && p.x + WIDTH <= width && p.y + HEIGHT <= height), 'all is within the size');
			claim(layout(nodes, [edge('pod', 'set'), edge('set', 'pod'), edge('pod', 'pod')]).at.size === 6, 'a circle is no problem');
			const long = layout(nodes, [edge('deployment', 'set'), edge('set', 'pod'), edge('deployment', 'pod')]);
			const [enters, leaves] = long.via.get('deployment\npod'), set = long.at.get('set');
			claim(enters.x === set.x && leaves.x === set.x + WIDTH && (enters.y < set.y || enters.y > set.y + HEIGHT), 'an edge goes around the nodes of a layer that it crosses: ' + JSON.stringify([enters, set]));
			const places = spread([10, 10, 10, 500], [0, 60, 120, 180]);
			claim(places.every((v, i) => !i || v - places[i - 1] >= 60) && places[3] === 500 && places[0] < 10 && places[2] > 10, 'places are a step apart and close to the wanted ones: ' + places);`,
		"fold": `
			const { foldMap, words, several } = await load('mapfold.js');
			const make = (kind, name, more) => ({ kind, resource: kind.toLowerCase() + 's', namespace: 'a', name, ...more });
			const objects = [make('Set', 's'), ...Array.from({ length: 6 }, (_, i) => make('Pod', 'p' + i, i === 5 ? { word: 'Pending', tone: 'busy' } : { word: 'Running', tone: 'well' })), make('Node', 'n1'), make('Node', 'n2'), ...Array.from({ length: 5 }, (_, i) => make('ConfigMap', 'c' + i)), make('ConfigMap', 'kube-root-ca.crt')];
			const edges = [];
			for (let i = 1; i <= 6; i++) edges.push({ from: 0, to: i, verb: 'owns' }, { from: i, to: 7 + i % 2, verb: 'runs on' }, { from: i, to: 14, verb: 'mounts' });
			edges.push({ from: 1, to: 9, verb: 'mounts' });
			const shown = foldMap({ objects, edges });
			const group = shown.nodes.find((n) => n.members && n.kind === 'Pod');
			claim(group.words === '5 Running, 1 Pending' && group.tone === 'busy' && group.rest.length === 6, 'pods of an owner are one: ' + JSON.stringify(group));
			claim(shown.edges.find((e) => e.from === group.id && e.verb === 'runs on').count === 3, 'their edges are one for each other end');
			claim(shown.nodes.find((n) => n.members && n.kind === 'ConfigMap').members.length === 4 && !shown.nodes.some((n) => n.object?.name === 'kube-root-ca.crt'), 'unrelated ones fold, too');
			const open = foldMap({ objects, edges }, { open: new Map([[group.id, 2]]) });
			claim(open.nodes.find((n) => n.id === group.id).rest.length === 4 && open.nodes.some((n) => n.object?.name === 'p5'), 'the first of an open group are those that are not well');
			claim(foldMap({ objects: objects.slice(1), edges: [] }, { center: true }).nodes.some((n) => n.object?.name === 'p0'), 'the center stands alone');
			claim(several('Ingress') === 'Ingresses' && several('NetworkPolicy') === 'NetworkPolicies' && several('Gateway') === 'Gateways' && words([]) === '', 'plurals');`,
	} {
		t.Run(name, func(t *testing.T) { b.claims(t, script) })
	}
}

// claims runs a script that imports modules by load, and fails for each of its claims that is false.
func (b *fixture) claims(t *testing.T, script string) {
	t.Helper()
	b.do(t, evaluate(`(async () => {
		const wrong = [], claim = (ok, what) => { if (!ok) wrong.push(what); };
		const load = (name) => import('/ui/assets/' + name);
		window.wrong = undefined;
		try {`+script+`} catch (err) { wrong.push(String(err)); }
		window.wrong = wrong.join('\n');
	})()`))
	b.until(t, `window.wrong !== undefined`)
	if text := get[string](t, b, `window.wrong`); text != "" {
		t.Error("not so: ", strings.TrimSpace(text))
	}
}
