package controlplane_test

import (
	"encoding/json"
	"fmt"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/client-go/rest"

	"fairlead.dev/client"
	"fairlead.dev/controller/podcontrol/waittest"
	"fairlead.dev/testenv"
)

// Controllers are killed at a write of a rollout: before the server has it, or after, when
// only the answer is lost. Those that come after them finish it, and nothing was created
// twice: three pods of each revision, one ReplicaSet for each.
func TestControllersKilledAtEachStep(t *testing.T) {
	f := startFaults(t)
	for step, reached := 1, true; reached && !t.Failed(); step += killStride {
		for _, after := range killAfter(step) {
			t.Run(fmt.Sprintf("create/%d/%v", step, after), func(t *testing.T) {
				r := f.rollout(t)
				reached = r.survive(step, after, r.create)
				r.finish(1)
			})
		}
	}
	for step, reached := 1, true; reached && !t.Failed(); step += killStride {
		for _, after := range killAfter(step) {
			t.Run(fmt.Sprintf("update/%d/%v", step, after), func(t *testing.T) {
				r := f.rollout(t)
				r.survive(0, false, r.create)
				reached = r.survive(step, after, func() { r.patch(`{"spec":{"template":{"spec":{"containers":[{"name":"main","image":"web:2"}]}}}}`) })
				r.finish(2)
			})
		}
	}
}

// Two crews do the same work, neither knowing of the other. Whatever they do to each other,
// there are as many pods as wanted in the end, and one ReplicaSet for each revision.
func TestControllersTwice(t *testing.T) {
	f := startFaults(t)
	r := f.rollout(t)
	startCrew(t, f.config, r.ns, 0, false, "deployment", "replicaset")
	startCrew(t, f.config, r.ns, 0, false, "deployment", "replicaset")
	r.create()
	r.complete()
	r.patch(`{"spec":{"template":{"spec":{"containers":[{"name":"main","image":"web:2"}]}}}}`)
	r.complete()
	if made := r.history(); made["ReplicaSet"] != 2 {
		t.Errorf("made %v, want 2 ReplicaSets", made)
	}
	r.leaveNothing()
}

// What the watches of one resource tell is held back while the Deployment is created,
// scaled and updated: controllers that see half of it must not do anything twice.
func TestControllersWithStaleCaches(t *testing.T) {
	f := startFaults(t)
	for _, resource := range []string{"pods", "replicasets", "deployments"} {
		t.Run(resource, func(t *testing.T) {
			r := f.rollout(t)
			c := startCrew(t, f.config, r.ns, 0, false, "deployment", "replicaset")
			r.create()
			r.complete()

			release := c.hold(resource)
			defer release()
			r.patch(`{"spec":{"replicas":5}}`)
			if resource == "pods" {
				// The pods are there, and the ReplicaSet's controller has not seen them.
				waittest.For(t, r.pods, "5 pods", "", func(have map[string]*corev1.Pod) bool { return len(have) == 5 })
			}
			r.patch(`{"spec":{"replicas":6}}`)
			release()
			r.complete()

			release = c.hold(resource)
			defer release()
			r.patch(`{"spec":{"template":{"spec":{"containers":[{"name":"main","image":"web:2"}]}}}}`)
			if resource != "deployments" {
				waittest.For(t, r.sets, "the second ReplicaSet", "", func(have map[string]*appsv1.ReplicaSet) bool { return len(have) == 2 })
			}
			release()
			r.complete()
			if made := r.history(); made["Pod"] != 12 || made["ReplicaSet"] != 2 {
				t.Errorf("made %v, want 6 pods of each of 2 revisions", made)
			}
			r.leaveNothing()
		})
	}
}

// faults is a server with nodes, and no controllers but those that a namespace needs.
type faults struct {
	config *rest.Config
	client *client.Client
	next   int
}

func startFaults(t *testing.T) *faults {
	env := testenv.Start(t, testenv.Options{Controllers: []string{"serviceaccount", "garbagecollector", "nodelifecycle"}})
	return &faults{config: env.Config(), client: env.Client(t)}
}

// rollout is a Deployment of three in a namespace of its own.
type rollout struct {
	t      *testing.T
	f      *faults
	ns     string
	began  string // the revision
	pods   client.Resource[*corev1.Pod]
	sets   client.Resource[*appsv1.ReplicaSet]
	deploy client.Resource[*appsv1.Deployment]
}

func (f *faults) rollout(t *testing.T) *rollout {
	t.Helper()
	f.next++
	r := &rollout{t: t, f: f, ns: fmt.Sprintf("rollout-%d", f.next)}
	r.pods, r.sets = client.For[*corev1.Pod](f.client).Namespace(r.ns), client.For[*appsv1.ReplicaSet](f.client).Namespace(r.ns)
	r.deploy = client.For[*appsv1.Deployment](f.client).Namespace(r.ns)
	ns, err := client.For[*corev1.Namespace](f.client).Create(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: r.ns}})
	if err != nil {
		t.Fatal(err)
	}
	r.began = ns.ResourceVersion
	waittest.One(t, client.For[*corev1.ServiceAccount](f.client).Namespace(r.ns), "default", "the service account", func(*corev1.ServiceAccount) bool { return true })
	return r
}

var app = map[string]string{"app": "web"}

func (r *rollout) create() {
	r.t.Helper()
	replicas, surge, unavailable := int32(3), intstr.FromInt32(1), intstr.FromInt32(0)
	if _, err := r.deploy.Create(r.t.Context(), &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Name: "web"}, Spec: appsv1.DeploymentSpec{
		Replicas: &replicas, Selector: &metav1.LabelSelector{MatchLabels: app}, Template: webPods,
		Strategy: appsv1.DeploymentStrategy{RollingUpdate: &appsv1.RollingUpdateDeployment{MaxSurge: &surge, MaxUnavailable: &unavailable}},
	}}); err != nil {
		r.t.Fatal(err)
	}
}

var webPods = corev1.PodTemplateSpec{
	ObjectMeta: metav1.ObjectMeta{Labels: app},
	Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "main", Image: "web:1"}}},
}

func (r *rollout) patch(patch string) {
	r.t.Helper()
	if _, err := r.deploy.Patch(r.t.Context(), "web", client.StrategicPatch(json.RawMessage(patch))); err != nil {
		r.t.Fatal(err)
	}
}

func complete(d *appsv1.Deployment) bool {
	n, s := *d.Spec.Replicas, &d.Status
	return s.ObservedGeneration == d.Generation && s.Replicas == n && s.UpdatedReplicas == n && s.AvailableReplicas == n
}

// complete waits until the Deployment is as wanted.
func (r *rollout) complete() {
	r.t.Helper()
	waittest.One(r.t, r.deploy, "web", "the rollout complete", complete)
}

// survive has a crew that is killed at a step do some work, and others after it. It
// reports whether the work had that many steps.
func (r *rollout) survive(step int, after bool, work func()) bool {
	r.t.Helper()
	first := startCrew(r.t, r.f.config, r.ns, step, after, "deployment", "replicaset")
	var second *crew
	done, over := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(over)
		select {
		case <-first.dead:
			first.end()
			second = startCrew(r.t, r.f.config, r.ns, 0, false, "deployment", "replicaset")
		case <-done:
			first.end()
		}
	}()
	work()
	r.complete()
	close(done)
	<-over
	if second == nil {
		return false
	}
	second.end()
	return true
}

// finish checks what was made on the way to a revision.
func (r *rollout) finish(revisions int) {
	r.t.Helper()
	if made := r.history(); made["ReplicaSet"] != revisions || made["Pod"] != 3*revisions {
		r.t.Errorf("made %v for %d revisions of 3 pods", made, revisions)
	}
	r.leaveNothing()
}
