package compat

import (
	"fmt"
	"slices"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// deploy creates the Deployment "web" with the changes of with, and waits until it is
// complete.
func deploy(p *place, replicas int32, with func(*appsv1.Deployment)) {
	p.Helper()
	d := &appsv1.Deployment{ObjectMeta: named("web"), Spec: appsv1.DeploymentSpec{
		Replicas: &replicas, Selector: selecting("web"), Template: template("web", "web:1"),
	}}
	if with != nil {
		with(d)
	}
	p.must(p.c.AppsV1().Deployments(p.ns).Create(p.ctx, d, metav1.CreateOptions{}))
}

// change patches the Deployment "web".
func change(p *place, patch string, args ...any) {
	p.Helper()
	p.must(p.c.AppsV1().Deployments(p.ns).Patch(p.ctx, "web", types.StrategicMergePatchType, fmt.Appendf(nil, patch, args...), metav1.PatchOptions{}))
}

const imagePatch = `{"spec":{"template":{"spec":{"containers":[{"name":"main","image":%q}]}}}}`

// complete waits until the Deployment's rollout is over, and records it.
func complete(p *place, what string) *appsv1.Deployment {
	p.Helper()
	d := see(p, "deployments", "web", what, func(d *appsv1.Deployment) bool {
		n, s := *d.Spec.Replicas, &d.Status
		settled := slices.ContainsFunc(s.Conditions, func(c appsv1.DeploymentCondition) bool {
			return c.Type == appsv1.DeploymentProgressing && c.Reason == "NewReplicaSetAvailable"
		})
		return settled && s.ObservedGeneration == d.Generation && s.Replicas == n && s.UpdatedReplicas == n && s.AvailableReplicas == n
	})
	recordDeployment(p, what, d)
	return d
}

func recordDeployment(p *place, what string, d *appsv1.Deployment) {
	p.saw("%s: revision %s, %d replicas, %d ready, %d updated", what, d.Annotations["deployment.kubernetes.io/revision"],
		d.Status.Replicas, d.Status.ReadyReplicas, d.Status.UpdatedReplicas)
	for _, c := range sortedBy(d.Status.Conditions, func(c appsv1.DeploymentCondition) string { return string(c.Type) }) {
		p.saw("%s", condition(c.Type, c.Status, c.Reason, c.Message))
	}
}

// sets records the ReplicaSets by revision.
func sets(p *place) {
	p.Helper()
	list, err := p.c.AppsV1().ReplicaSets(p.ns).List(p.ctx, metav1.ListOptions{})
	p.must(nil, err)
	var all []string
	for _, rs := range list.Items {
		a := rs.Annotations
		all = append(all, fmt.Sprintf("%s: %s %d/%d desired %s max %s before %q", a["deployment.kubernetes.io/revision"], rs.Spec.Template.Spec.Containers[0].Image,
			rs.Status.Replicas, *rs.Spec.Replicas, a["deployment.kubernetes.io/desired-replicas"], a["deployment.kubernetes.io/max-replicas"], a["deployment.kubernetes.io/revision-history"]))
	}
	slices.Sort(all)
	p.saw("sets %s", strings.Join(all, "; "))
}

func rolling(p *place) {
	one, none := intstr.FromInt32(1), intstr.FromInt32(0)
	deploy(p, 4, func(d *appsv1.Deployment) {
		d.Spec.Strategy = appsv1.DeploymentStrategy{RollingUpdate: &appsv1.RollingUpdateDeployment{MaxSurge: &one, MaxUnavailable: &none}}
	})
	complete(p, "created")
	change(p, imagePatch, "web:2")
	complete(p, "updated")
	sets(p)
	p.event("Deployment", "web", "ScalingReplicaSet", "Scaled down replica set web-<hash> from 1 to 0")
	// At most ten events of a kind are written separately, and the eleventh is random.
	p.events("ScalingReplicaSet", 9)
	change(p, imagePatch, "web:1")
	complete(p, "undone")
	sets(p)

	change(p, `{"spec":{"paused":true}}`)
	paused := see(p, "deployments", "web", "paused", func(d *appsv1.Deployment) bool {
		return slices.ContainsFunc(d.Status.Conditions, func(c appsv1.DeploymentCondition) bool { return c.Reason == "DeploymentPaused" })
	})
	recordDeployment(p, "paused", paused)
	change(p, imagePatch, "web:3")
	see(p, "deployments", "web", "the change observed", func(d *appsv1.Deployment) bool { return d.Status.ObservedGeneration > paused.Generation })
	change(p, `{"spec":{"replicas":6}}`)
	recordDeployment(p, "scaled while paused", see(p, "deployments", "web", "scaled while paused", func(d *appsv1.Deployment) bool { return d.Status.AvailableReplicas == 6 }))
	sets(p)
	change(p, `{"spec":{"paused":false}}`)
	complete(p, "resumed")
	sets(p)
}

func recreate(p *place) {
	deploy(p, 3, func(d *appsv1.Deployment) { d.Spec.Strategy.Type = appsv1.RecreateDeploymentStrategyType })
	complete(p, "created")
	change(p, imagePatch, "web:2")
	complete(p, "recreated")
	sets(p)
	p.event("Deployment", "web", "ScalingReplicaSet", "Scaled up replica set web-<hash> from 0 to 3")
	p.events("ScalingReplicaSet", 3)
}

func deadline(p *place) {
	deploy(p, 2, func(d *appsv1.Deployment) {
		seconds := int32(2)
		d.Spec.ProgressDeadlineSeconds = &seconds
		d.Spec.Template.Annotations = map[string]string{"fairlead.dev/not-ready": "true"}
	})
	d := see(p, "deployments", "web", "the deadline exceeded", func(d *appsv1.Deployment) bool {
		return slices.ContainsFunc(d.Status.Conditions, func(c appsv1.DeploymentCondition) bool { return c.Reason == "ProgressDeadlineExceeded" })
	})
	recordDeployment(p, "stuck", d)
	change(p, `{"spec":{"template":{"metadata":{"annotations":{"fairlead.dev/not-ready":null}}}}}`)
	complete(p, "repaired")
}

func history(p *place) {
	deploy(p, 1, func(d *appsv1.Deployment) { limit := int32(1); d.Spec.RevisionHistoryLimit = &limit })
	complete(p, "created")
	for _, image := range []string{"web:2", "web:3", "web:4"} {
		change(p, imagePatch, image)
		complete(p, image)
	}
	// The oldest go after the rollout's end was written.
	list, err := p.c.AppsV1().ReplicaSets(p.ns).List(p.ctx, metav1.ListOptions{})
	p.must(nil, err)
	for _, rs := range list.Items {
		if image := rs.Spec.Template.Spec.Containers[0].Image; image == "web:1" || image == "web:2" {
			p.away("replicasets", rs.Name)
		}
	}
	sets(p)
}

// A ReplicaSet and a ReplicationController take up pods that match, and let go of those
// that no longer do.
func adoption(p *place) {
	for _, name := range []string{"set", "rc"} {
		orphan := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: name + "-orphan", Labels: map[string]string{"app": name}}, Spec: podSpec("web:1")}
		p.must(p.c.CoreV1().Pods(p.ns).Create(p.ctx, orphan, metav1.CreateOptions{}))
	}
	two, three := int32(2), template("rc", "web:1")
	p.must(p.c.AppsV1().ReplicaSets(p.ns).Create(p.ctx, &appsv1.ReplicaSet{ObjectMeta: named("set"),
		Spec: appsv1.ReplicaSetSpec{Replicas: &two, Selector: selecting("set"), Template: template("set", "web:1")}}, metav1.CreateOptions{}))
	p.must(p.c.CoreV1().ReplicationControllers(p.ns).Create(p.ctx, &corev1.ReplicationController{ObjectMeta: named("rc"),
		Spec: corev1.ReplicationControllerSpec{Replicas: &two, Selector: map[string]string{"app": "rc"}, Template: &three}}, metav1.CreateOptions{}))
	full := func() {
		see(p, "replicasets", "set", "two of the set", func(rs *appsv1.ReplicaSet) bool { return rs.Status.AvailableReplicas == 2 })
		see(p, "replicationcontrollers", "rc", "two of the controller", func(rc *corev1.ReplicationController) bool { return rc.Status.AvailableReplicas == 2 })
	}
	full()
	for _, name := range []string{"set", "rc"} {
		adopted := see(p, "pods", name+"-orphan", "adopted", func(pod *corev1.Pod) bool { return len(pod.OwnerReferences) == 1 })
		o := adopted.OwnerReferences[0]
		p.saw("%s adopted by %s %s %s, controller %v, blocks %v; %d pods", adopted.Name, o.APIVersion, o.Kind, o.Name, *o.Controller, *o.BlockOwnerDeletion, len(p.pods(name)))
		known := map[string]bool{}
		for _, pod := range p.pods(name) {
			known[pod.Name] = true
		}
		p.must(p.c.CoreV1().Pods(p.ns).Patch(p.ctx, adopted.Name, types.MergePatchType, []byte(`{"metadata":{"labels":{"app":"free"}}}`), metav1.PatchOptions{}))
		see(p, "pods", adopted.Name, "released", func(pod *corev1.Pod) bool { return len(pod.OwnerReferences) == 0 })
		see(p, "pods", "", "another in its place", func(pod *corev1.Pod) bool { return pod.Labels["app"] == name && !known[pod.Name] })
	}
	full()
	p.event("ReplicaSet", "set", "SuccessfulCreate", "Created pod: set-")
	p.event("ReplicationController", "rc", "SuccessfulCreate", "Created pod: rc-")
}
