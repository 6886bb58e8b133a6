package daemonset_test

import (
	"fmt"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/apimachinery/pkg/watch"

	"fairlead.dev/client"
	"fairlead.dev/internal/controllers/podcontrol"
	"fairlead.dev/internal/controllers/podcontrol/waittest"
	"fairlead.dev/testenv"
)

type fixture struct {
	*testing.T
	sets      client.Resource[*appsv1.DaemonSet]
	pods      client.Resource[*corev1.Pod]
	nodes     client.Resource[*corev1.Node]
	revisions client.Resource[*appsv1.ControllerRevision]
}

func start(t *testing.T, nodes int) fixture {
	c := testenv.New(t, testenv.Options{Nodes: nodes}).Client(t)
	return fixture{t, client.For[*appsv1.DaemonSet](c).Namespace("default"), client.For[*corev1.Pod](c).Namespace("default"),
		client.For[*corev1.Node](c), client.For[*appsv1.ControllerRevision](c).Namespace("default")}
}

func (f fixture) create(edits ...func(*appsv1.DaemonSet)) *appsv1.DaemonSet {
	f.Helper()
	labels := map[string]string{"app": "agent"}
	ds := &appsv1.DaemonSet{
		ObjectMeta: metav1.ObjectMeta{Name: "agent", Namespace: "default"},
		Spec: appsv1.DaemonSetSpec{
			Selector: &metav1.LabelSelector{MatchLabels: labels},
			Template: corev1.PodTemplateSpec{
				ObjectMeta: metav1.ObjectMeta{Labels: labels},
				Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "agent", Image: "agent:1"}}},
			},
		},
	}
	for _, e := range edits {
		e(ds)
	}
	made, err := f.sets.Create(f.Context(), ds)
	if err != nil {
		f.Fatal(err)
	}
	return made
}

func (f fixture) patchNode(name string, patch map[string]any) {
	f.Helper()
	if _, err := f.nodes.Patch(f.Context(), name, client.MergePatch(patch)); err != nil {
		f.Fatal(err)
	}
}

func (f fixture) image(image string) {
	f.Helper()
	if _, err := f.sets.Patch(f.Context(), "agent", client.MergePatch(map[string]any{"spec": map[string]any{"template": map[string]any{
		"spec": map[string]any{"containers": []any{map[string]any{"name": "agent", "image": image}}}}}})); err != nil {
		f.Fatal(err)
	}
}

// settled waits until n nodes have an available pod of the present template.
func (f fixture) settled(n int32) *appsv1.DaemonSet {
	f.Helper()
	return waittest.One(f, f.sets, "agent", fmt.Sprint(n, " daemons"), func(ds *appsv1.DaemonSet) bool {
		s := ds.Status
		return s.ObservedGeneration == ds.Generation && s.DesiredNumberScheduled == n && s.CurrentNumberScheduled == n &&
			s.NumberAvailable == n && s.UpdatedNumberScheduled == n && s.NumberMisscheduled == 0
	})
}

// onNodes maps nodes to the images of the pods on them.
func (f fixture) onNodes() map[string]string {
	f.Helper()
	list, err := f.pods.List(f.Context(), metav1.ListOptions{LabelSelector: "app=agent"})
	if err != nil {
		f.Fatal(err)
	}
	on := map[string]string{}
	for _, p := range list.Items {
		if p.DeletionTimestamp == nil {
			on[p.Spec.NodeName] += p.Spec.Containers[0].Image
		}
	}
	return on
}

func TestOneOnEveryNodeThatFits(t *testing.T) {
	f := start(t, 3)
	f.create()
	f.settled(3)
	if on := f.onNodes(); len(on) != 3 {
		t.Errorf("on %v", on)
	}

	// A node with a new NoSchedule taint keeps its daemon, one with NoExecute does not; a cordoned node has no
	// effect.
	f.patchNode("node-1", map[string]any{"spec": map[string]any{"unschedulable": true}})
	f.patchNode("node-2", map[string]any{"spec": map[string]any{"taints": []any{map[string]any{"key": "own", "effect": "NoSchedule"}}}})
	waittest.One(t, f.sets, "agent", "one misscheduled", func(ds *appsv1.DaemonSet) bool {
		return ds.Status.NumberMisscheduled == 1 && ds.Status.DesiredNumberScheduled == 2
	})
	f.patchNode("node-2", map[string]any{"spec": map[string]any{"taints": []any{map[string]any{"key": "own", "effect": "NoExecute"}}}})
	f.settled(2)
	waittest.For(t, f.pods, "node-2 to be left", "app=agent", func(have map[string]*corev1.Pod) bool { return len(have) == 2 })
	f.patchNode("node-2", map[string]any{"spec": map[string]any{"taints": nil}})
	f.settled(3)

	// A deleted pod is replaced, and so is a failed one.
	victim := func() *corev1.Pod {
		list, err := f.pods.List(t.Context(), metav1.ListOptions{FieldSelector: "spec.nodeName=node-3"})
		if err != nil || len(list.Items) != 1 {
			t.Fatal(len(list.Items), err)
		}
		return list.Items[0]
	}
	was := victim()
	if err := f.pods.Delete(t.Context(), was.Name, metav1.DeleteOptions{GracePeriodSeconds: new(int64)}); err != nil {
		t.Fatal(err)
	}
	another := func(have map[string]*corev1.Pod) bool {
		for _, p := range have {
			if p.Spec.NodeName == "node-3" && p.UID != was.UID && podcontrol.IsReady(p) {
				return true
			}
		}
		return false
	}
	waittest.For(t, f.pods, "a successor", "app=agent", another)
	was = victim()
	was.Status.Phase = corev1.PodFailed
	if _, err := f.pods.UpdateStatus(t.Context(), was); err != nil {
		t.Fatal(err)
	}
	waittest.For(t, f.pods, "another successor", "app=agent", another)
	f.settled(3)
}

func TestSelectedNodesOnly(t *testing.T) {
	f := start(t, 3)
	f.create(func(ds *appsv1.DaemonSet) { ds.Spec.Template.Spec.NodeSelector = map[string]string{"disk": "fast"} })
	waittest.One(t, f.sets, "agent", "to be seen", func(ds *appsv1.DaemonSet) bool { return ds.Status.ObservedGeneration == 1 })
	for n, name := range []string{"node-3", "node-1"} {
		f.patchNode(name, map[string]any{"metadata": map[string]any{"labels": map[string]any{"disk": "fast"}}})
		f.settled(int32(n + 1))
	}
	f.patchNode("node-3", map[string]any{"metadata": map[string]any{"labels": map[string]any{"disk": nil}}})
	f.settled(1)
	if on := f.onNodes(); on["node-1"] == "" || len(on) != 1 {
		t.Errorf("on %v", on)
	}
}

func TestRollingUpdates(t *testing.T) {
	for name, strategy := range map[string]*appsv1.RollingUpdateDaemonSet{
		"in place": nil,
		"surging":  {MaxSurge: &intstr.IntOrString{IntVal: 1}, MaxUnavailable: &intstr.IntOrString{}},
	} {
		t.Run(name, func(t *testing.T) {
			f := start(t, 4)
			f.create(func(ds *appsv1.DaemonSet) {
				if strategy != nil {
					ds.Spec.UpdateStrategy = appsv1.DaemonSetUpdateStrategy{Type: appsv1.RollingUpdateDaemonSetStrategyType, RollingUpdate: strategy}
				}
			})
			f.settled(4)
			list, err := f.pods.List(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			have := map[string]*corev1.Pod{}
			for _, p := range list.Items {
				have[p.Name] = p
			}
			w, err := f.pods.Watch(t.Context(), metav1.ListOptions{ResourceVersion: list.ResourceVersion})
			if err != nil {
				t.Fatal(err)
			}
			defer w.Stop()
			f.image("agent:2")
			// There are never fewer available pods than allowed.
			least := 3
			if strategy != nil {
				least = 4
			}
			for !updated(have, 4) {
				ev, err := w.Next(t.Context())
				if err != nil {
					t.Fatal(err)
				}
				if have[ev.Object.Name] = ev.Object; ev.Type == watch.Deleted {
					delete(have, ev.Object.Name)
				}
				if n := served(have); n < least {
					t.Errorf("%d nodes served", n)
				}
			}
			f.settled(4)
			waittest.For(t, f.pods, "one new pod a node", "app=agent", func(have map[string]*corev1.Pod) bool {
				for _, p := range have {
					if p.Spec.Containers[0].Image != "agent:2" {
						return false
					}
				}
				return len(have) == 4
			})
			revisions, err := f.revisions.List(t.Context())
			if err != nil || len(revisions.Items) != 2 {
				t.Errorf("%d revisions, %v", len(revisions.Items), err)
			}
		})
	}
}

// served counts the nodes with a ready pod that stays.
func served(pods map[string]*corev1.Pod) int {
	nodes := map[string]bool{}
	for _, p := range pods {
		if podcontrol.IsReady(p) && p.DeletionTimestamp == nil {
			nodes[p.Spec.NodeName] = true
		}
	}
	return len(nodes)
}

// updated reports whether there are n pods, all ready and of the second image.
func updated(pods map[string]*corev1.Pod, n int) bool {
	for _, p := range pods {
		if p.Spec.Containers[0].Image != "agent:2" || !podcontrol.IsReady(p) {
			return false
		}
	}
	return len(pods) == n
}

func TestOnDelete(t *testing.T) {
	f := start(t, 2)
	f.create(func(ds *appsv1.DaemonSet) {
		ds.Spec.UpdateStrategy = appsv1.DaemonSetUpdateStrategy{Type: appsv1.OnDeleteDaemonSetStrategyType}
	})
	f.settled(2)
	f.image("agent:2")
	waittest.One(t, f.sets, "agent", "to be seen", func(ds *appsv1.DaemonSet) bool {
		return ds.Status.ObservedGeneration == 2 && ds.Status.UpdatedNumberScheduled == 0
	})
	if on := f.onNodes(); on["node-1"] != "agent:1" || on["node-2"] != "agent:1" {
		t.Errorf("on %v", on)
	}
	if err := f.pods.DeleteCollection(t.Context(), metav1.DeleteOptions{}, metav1.ListOptions{FieldSelector: "spec.nodeName=node-2"}); err != nil {
		t.Fatal(err)
	}
	waittest.One(t, f.sets, "agent", "one updated", func(ds *appsv1.DaemonSet) bool {
		return ds.Status.UpdatedNumberScheduled == 1 && ds.Status.NumberAvailable == 2
	})
	if on := f.onNodes(); on["node-1"] != "agent:1" || on["node-2"] != "agent:2" {
		t.Errorf("on %v", on)
	}
}
