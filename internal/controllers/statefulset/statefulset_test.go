package statefulset_test

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"

	"fairlead.dev/client"
	"fairlead.dev/internal/controllers/podcontrol"
	"fairlead.dev/internal/controllers/podcontrol/waittest"
	"fairlead.dev/testenv"
)

type fixture struct {
	*testing.T
	c         *client.Client
	sets      client.Resource[*appsv1.StatefulSet]
	pods      client.Resource[*corev1.Pod]
	claims    client.Resource[*corev1.PersistentVolumeClaim]
	revisions client.Resource[*appsv1.ControllerRevision]
}

func start(t *testing.T) fixture {
	return fixtureOf(t, testenv.New(t, testenv.Options{}).Client(t))
}

func fixtureOf(t *testing.T, c *client.Client) fixture {
	return fixture{t, c,
		client.For[*appsv1.StatefulSet](c).Namespace("default"), client.For[*corev1.Pod](c).Namespace("default"),
		client.For[*corev1.PersistentVolumeClaim](c).Namespace("default"), client.For[*appsv1.ControllerRevision](c).Namespace("default")}
}

func set(replicas int32, edits ...func(*appsv1.StatefulSet)) *appsv1.StatefulSet {
	labels := map[string]string{"app": "db"}
	s := &appsv1.StatefulSet{
		ObjectMeta: metav1.ObjectMeta{Name: "db", Namespace: "default"},
		Spec: appsv1.StatefulSetSpec{
			Replicas: &replicas, ServiceName: "db", Selector: &metav1.LabelSelector{MatchLabels: labels},
			Template: corev1.PodTemplateSpec{
				ObjectMeta: metav1.ObjectMeta{Labels: labels},
				Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "db", Image: "db:1"}}},
			},
		},
	}
	for _, e := range edits {
		e(s)
	}
	return s
}

func withClaims(s *appsv1.StatefulSet) {
	s.Spec.VolumeClaimTemplates = []corev1.PersistentVolumeClaim{{
		ObjectMeta: metav1.ObjectMeta{Name: "data"},
		Spec: corev1.PersistentVolumeClaimSpec{
			AccessModes: []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce},
			Resources:   corev1.VolumeResourceRequirements{Requests: corev1.ResourceList{corev1.ResourceStorage: resource.MustParse("1Gi")}},
		},
	}}
}

func (f fixture) create(s *appsv1.StatefulSet) *appsv1.StatefulSet {
	f.Helper()
	made, err := f.sets.Create(f.Context(), s)
	if err != nil {
		f.Fatal(err)
	}
	return made
}

func (f fixture) patch(spec map[string]any) {
	f.Helper()
	if _, err := f.sets.Patch(f.Context(), "db", client.MergePatch(map[string]any{"spec": spec})); err != nil {
		f.Fatal(err)
	}
}

func (f fixture) image(i string) {
	f.Helper()
	f.patch(map[string]any{"template": map[string]any{"spec": map[string]any{"containers": []any{map[string]any{"name": "db", "image": i}}}}})
}

// settled waits until the set has n replicas, all ready and of the newest revision.
func (f fixture) settled(n int32) *appsv1.StatefulSet {
	f.Helper()
	return waittest.One(f, f.sets, "db", fmt.Sprint(n, " replicas"), func(s *appsv1.StatefulSet) bool {
		st := s.Status
		return st.ObservedGeneration == s.Generation && st.Replicas == n && st.ReadyReplicas == n && st.AvailableReplicas == n &&
			st.UpdatedReplicas == n && st.CurrentReplicas == n && st.CurrentRevision == st.UpdateRevision
	})
}

// steps returns the changes of pods, as "+db-0", "ready db-0" and "-db-0", n of them.
func (f fixture) steps(w *client.Watch[*corev1.Pod], n int) []string {
	f.Helper()
	ctx, cancel := context.WithTimeout(f.Context(), time.Minute)
	defer cancel()
	ready := map[string]bool{}
	var steps []string
	for len(steps) < n {
		ev, err := w.Next(ctx)
		if err != nil {
			f.Fatalf("after %v: %v", steps, err)
		}
		p := ev.Object
		switch {
		case ev.Type == watch.Added:
			steps = append(steps, "+"+p.Name)
		case ev.Type == watch.Deleted:
			steps = append(steps, "-"+p.Name)
			delete(ready, p.Name)
		case podcontrol.IsReady(p) && !ready[p.Name] && p.DeletionTimestamp == nil:
			ready[p.Name] = true
			steps = append(steps, "ready "+p.Name)
		}
	}
	return steps
}

func (f fixture) watch() *client.Watch[*corev1.Pod] {
	f.Helper()
	list, err := f.pods.List(f.Context())
	if err != nil {
		f.Fatal(err)
	}
	w, err := f.pods.Watch(f.Context(), metav1.ListOptions{ResourceVersion: list.ResourceVersion})
	if err != nil {
		f.Fatal(err)
	}
	f.Cleanup(func() { w.Stop() })
	return w
}

func TestPodsComeAndGoInOrder(t *testing.T) {
	f := start(t)
	w := f.watch()
	f.create(set(3))
	want := []string{"+db-0", "ready db-0", "+db-1", "ready db-1", "+db-2", "ready db-2"}
	if got := f.steps(w, len(want)); !slices.Equal(got, want) {
		t.Errorf("scaling up: %v", got)
	}
	first := f.settled(3)
	p, err := f.pods.Get(t.Context(), "db-1")
	if err != nil {
		t.Fatal(err)
	}
	if p.Spec.Hostname != "db-1" || p.Spec.Subdomain != "db" || p.Labels[appsv1.PodIndexLabel] != "1" ||
		p.Labels[appsv1.StatefulSetPodNameLabel] != "db-1" || p.Labels[appsv1.StatefulSetRevisionLabel] != first.Status.CurrentRevision {
		t.Errorf("identity: %s.%s %v", p.Spec.Hostname, p.Spec.Subdomain, p.Labels)
	}

	f.image("db:2")
	want = []string{"-db-2", "+db-2", "ready db-2", "-db-1", "+db-1", "ready db-1", "-db-0", "+db-0", "ready db-0"}
	if got := f.steps(w, len(want)); !slices.Equal(got, want) {
		t.Errorf("rolling update: %v", got)
	}
	second := f.settled(3)
	if second.Status.CurrentRevision == first.Status.CurrentRevision {
		t.Error("the revision did not change")
	}

	f.patch(map[string]any{"replicas": 1})
	want = []string{"-db-2", "-db-1"}
	if got := f.steps(w, len(want)); !slices.Equal(got, want) {
		t.Errorf("scaling down: %v", got)
	}
	f.settled(1)

	// Back to the first template: its revision becomes the newest again.
	f.image("db:1")
	if s := f.settled(1); s.Status.CurrentRevision != first.Status.CurrentRevision {
		t.Errorf("undone to %s, not %s", s.Status.CurrentRevision, first.Status.CurrentRevision)
	}
	r, err := f.revisions.Get(t.Context(), first.Status.CurrentRevision)
	if err != nil || r.Revision != 3 {
		t.Errorf("revision %d, %v", r.Revision, err)
	}
}

// TestParallelReplacesUnavailablePodsAtOnce checks that maxUnavailable, one by default, limits only pods that are available.
func TestParallelReplacesUnavailablePodsAtOnce(t *testing.T) {
	f := start(t)
	w := f.watch()
	f.create(set(3, func(s *appsv1.StatefulSet) {
		s.Spec.PodManagementPolicy = appsv1.ParallelPodManagement
		s.Spec.Template.Spec.NodeSelector = map[string]string{"no": "node"}
	}))
	f.steps(w, 3)
	f.patch(map[string]any{"template": map[string]any{"spec": map[string]any{"nodeSelector": nil}}})
	want := []string{"-db-0", "-db-1", "-db-2"}
	if got := f.steps(w, 3); !slices.Equal(slices.Sorted(slices.Values(got)), want) {
		t.Errorf("%v, not %v first", got, want)
	}
	f.settled(3)
}

func TestPartitionAndOnDelete(t *testing.T) {
	f := start(t)
	f.create(set(3, func(s *appsv1.StatefulSet) {
		two := int32(2)
		s.Spec.PodManagementPolicy = appsv1.ParallelPodManagement
		s.Spec.UpdateStrategy = appsv1.StatefulSetUpdateStrategy{Type: appsv1.RollingUpdateStatefulSetStrategyType,
			RollingUpdate: &appsv1.RollingUpdateStatefulSetStrategy{Partition: &two}}
	}))
	f.settled(3)
	f.image("db:2")
	waittest.One(t, f.sets, "db", "one updated", func(s *appsv1.StatefulSet) bool {
		return s.Status.ObservedGeneration == s.Generation && s.Status.UpdatedReplicas == 1 && s.Status.CurrentReplicas == 2 && s.Status.ReadyReplicas == 3
	})
	images := func() (out [3]string) {
		list, err := f.pods.List(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		for _, p := range list.Items {
			out[p.Name[3]-'0'] = p.Spec.Containers[0].Image
		}
		return out
	}
	if got := images(); got != [3]string{"db:1", "db:1", "db:2"} {
		t.Errorf("with partition 2: %v", got)
	}
	// A pod below the partition is recreated with its old template.
	was, err := f.pods.Get(t.Context(), "db-0")
	if err != nil {
		t.Fatal(err)
	}
	if err := f.pods.Delete(t.Context(), "db-0", metav1.DeleteOptions{GracePeriodSeconds: new(int64)}); err != nil {
		t.Fatal(err)
	}
	waittest.One(t, f.pods, "db-0", "a successor", func(p *corev1.Pod) bool { return p.UID != was.UID && podcontrol.IsReady(p) })
	if got := images(); got != [3]string{"db:1", "db:1", "db:2"} {
		t.Errorf("after a deletion: %v", got)
	}
	f.patch(map[string]any{"updateStrategy": map[string]any{"type": "OnDelete", "rollingUpdate": nil}})
	waittest.One(t, f.sets, "db", "the strategy seen", func(s *appsv1.StatefulSet) bool { return s.Status.ObservedGeneration == s.Generation })
	for _, name := range []string{"db-1", "db-0"} {
		if err := f.pods.Delete(t.Context(), name, metav1.DeleteOptions{GracePeriodSeconds: new(int64)}); err != nil {
			t.Fatal(err)
		}
		waittest.One(t, f.pods, name, "the new image", func(p *corev1.Pod) bool { return p.Spec.Containers[0].Image == "db:2" })
	}
	waittest.One(t, f.sets, "db", "the update complete", func(s *appsv1.StatefulSet) bool {
		return s.Status.CurrentRevision == s.Status.UpdateRevision && s.Status.CurrentReplicas == 3
	})
}

func TestClaimsOutliveOrFollow(t *testing.T) {
	f := start(t)
	f.create(set(2, withClaims, func(s *appsv1.StatefulSet) {
		s.Spec.PersistentVolumeClaimRetentionPolicy = &appsv1.StatefulSetPersistentVolumeClaimRetentionPolicy{
			WhenDeleted: appsv1.RetainPersistentVolumeClaimRetentionPolicyType,
			WhenScaled:  appsv1.DeletePersistentVolumeClaimRetentionPolicyType,
		}
	}))
	f.settled(2)
	p, err := f.pods.Get(t.Context(), "db-1")
	if err != nil {
		t.Fatal(err)
	}
	if p.GenerateName != "db-" { // as pods of other controllers, by which some tools group them
		t.Errorf("generated as %q", p.GenerateName)
	}
	if v := p.Spec.Volumes[0]; v.Name != "data" || v.PersistentVolumeClaim == nil || v.PersistentVolumeClaim.ClaimName != "data-db-1" {
		t.Errorf("volume %+v", v)
	}
	c, err := f.claims.Get(t.Context(), "data-db-1")
	if err != nil {
		t.Fatal(err)
	}
	if c.Labels["app"] != "db" || len(c.OwnerReferences) != 0 {
		t.Errorf("claim %v %v", c.Labels, c.OwnerReferences)
	}

	f.patch(map[string]any{"replicas": 1})
	waittest.Gone(t, f.claims, "data-db-1") // deleted with its pod
	f.settled(1)

	// A new pod of that name gets a new claim.
	f.patch(map[string]any{"replicas": 2})
	f.settled(2)
	again, err := f.claims.Get(t.Context(), "data-db-1")
	if err != nil || again.UID == c.UID {
		t.Errorf("the new claim: %v", err)
	}

	f.patch(map[string]any{"persistentVolumeClaimRetentionPolicy": map[string]any{"whenDeleted": "Delete", "whenScaled": "Retain"}})
	owned := func(c *corev1.PersistentVolumeClaim) bool {
		ref := metav1.GetControllerOf(c)
		return ref != nil && ref.Kind == "StatefulSet"
	}
	waittest.One(t, f.claims, "data-db-0", "its owner", owned)
	waittest.One(t, f.claims, "data-db-1", "its owner", owned)

	// A new claim has its owner from its creation: otherwise it might outlive the set.
	w, err := f.claims.Watch(t.Context(), metav1.ListOptions{ResourceVersion: again.ResourceVersion})
	if err != nil {
		t.Fatal(err)
	}
	defer w.Stop()
	f.patch(map[string]any{"replicas": 3})
	for {
		e, err := w.Next(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if e.Type == watch.Added && e.Object.Name == "data-db-2" {
			if !owned(e.Object) {
				t.Errorf("made without its owner: %v", e.Object.OwnerReferences)
			}
			break
		}
	}
	f.settled(3)
	if err := f.sets.Delete(t.Context(), "db"); err != nil {
		t.Fatal(err)
	}
	waittest.Gone(t, f.claims, "data-db-0")
	waittest.Gone(t, f.claims, "data-db-1")
}

func TestAFinishedPodIsReplacedAndAnOrphanAdopted(t *testing.T) {
	f := start(t)
	orphan := set(1).Spec.Template
	if _, err := f.pods.Create(t.Context(), &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: "db-0", Namespace: "default", Labels: orphan.Labels}, Spec: orphan.Spec}); err != nil {
		t.Fatal(err)
	}
	waittest.One(t, f.pods, "db-0", "readiness", podcontrol.IsReady)
	s := f.create(set(1))
	waittest.One(t, f.pods, "db-0", "adoption", func(p *corev1.Pod) bool { return metav1.IsControlledBy(p, s) })
	f.settled(1) // recreated from the template, because it has no revision

	p, err := f.pods.Get(t.Context(), "db-0")
	if err != nil {
		t.Fatal(err)
	}
	failed := p.DeepCopy()
	failed.Status.Phase = corev1.PodFailed
	if _, err := f.pods.UpdateStatus(t.Context(), failed); err != nil {
		t.Fatal(err)
	}
	waittest.One(t, f.pods, "db-0", "a successor", func(q *corev1.Pod) bool { return q.UID != p.UID && podcontrol.IsReady(q) })
	f.settled(1)
}
