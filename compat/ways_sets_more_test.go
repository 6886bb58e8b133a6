package compat

import (
	"fmt"
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/utils/ptr"
)

// statefulAtOnce: in parallel, from another ordinal on, available after a while, updated by hand.
func statefulAtOnce(p *place) {
	p.must(p.c.AppsV1().StatefulSets(p.ns).Create(p.ctx, &appsv1.StatefulSet{ObjectMeta: named("db"), Spec: appsv1.StatefulSetSpec{
		Replicas: ptr.To[int32](3), ServiceName: "db", Selector: selecting("db"), Template: template("db", "db:1"), PodManagementPolicy: appsv1.ParallelPodManagement,
		Ordinals: &appsv1.StatefulSetOrdinals{Start: 5}, MinReadySeconds: 1, UpdateStrategy: appsv1.StatefulSetUpdateStrategy{Type: appsv1.OnDeleteStatefulSetStrategyType},
	}}, metav1.CreateOptions{}))
	record := func(what string, want func(*appsv1.StatefulSetStatus) bool) {
		p.Helper()
		s := see(p, "statefulsets", "db", what, func(s *appsv1.StatefulSet) bool {
			return s.Status.ObservedGeneration == s.Generation && want(&s.Status)
		})
		p.saw("%s: %d replicas, %d ready, %d available, %d current, %d updated, collisions %d, settled %v", what, s.Status.Replicas, s.Status.ReadyReplicas, s.Status.AvailableReplicas,
			s.Status.CurrentReplicas, s.Status.UpdatedReplicas, ptr.Deref(s.Status.CollisionCount, -1), s.Status.CurrentRevision == s.Status.UpdateRevision)
	}
	patch := func(patch string) {
		p.Helper()
		p.must(p.c.AppsV1().StatefulSets(p.ns).Patch(p.ctx, "db", types.StrategicMergePatchType, []byte(patch), metav1.PatchOptions{}))
	}
	record("made", func(s *appsv1.StatefulSetStatus) bool { return s.AvailableReplicas == 3 })
	for _, pod := range sortedBy(p.pods("db"), func(pod corev1.Pod) string { return pod.Name }) {
		p.saw("%s index %s of %s", pod.Name, pod.Labels["apps.kubernetes.io/pod-index"], pod.GenerateName)
	}
	patch(`{"spec":{"template":{"spec":{"containers":[{"name":"main","image":"db:2"}]}}}}`)
	record("to be updated by hand", func(s *appsv1.StatefulSetStatus) bool { return s.CurrentRevision != s.UpdateRevision })
	old, err := p.c.CoreV1().Pods(p.ns).Get(p.ctx, "db-6", metav1.GetOptions{})
	p.must(old, err)
	p.must(nil, p.c.CoreV1().Pods(p.ns).Delete(p.ctx, "db-6", metav1.DeleteOptions{}))
	see(p, "pods", "db-6", "anew", func(pod *corev1.Pod) bool {
		return pod.UID != old.UID && pod.Spec.Containers[0].Image == "db:2"
	})
	record("one by hand", func(s *appsv1.StatefulSetStatus) bool { return s.UpdatedReplicas == 1 && s.AvailableReplicas == 3 })
	patch(`{"spec":{"replicas":0}}`)
	p.away("pods", "")
	record("none", func(s *appsv1.StatefulSetStatus) bool { return s.Replicas == 0 })
	p.events("SuccessfulDelete", 3)
}

// daemonsByHand: on delete, a pod that fails, and a node's pod whose node no longer fits.
func daemonsByHand(p *place) {
	d := &appsv1.DaemonSet{ObjectMeta: named("agent"), Spec: appsv1.DaemonSetSpec{Selector: selecting("agent"), Template: template("agent", "agent:1"),
		UpdateStrategy: appsv1.DaemonSetUpdateStrategy{Type: appsv1.OnDeleteDaemonSetStrategyType}}}
	d.Spec.Template.Spec.NodeSelector = map[string]string{corev1.LabelHostname: "node-1"}
	p.must(p.c.AppsV1().DaemonSets(p.ns).Create(p.ctx, d, metav1.CreateOptions{}))
	record := func(what string, want func(*appsv1.DaemonSetStatus) bool) {
		p.Helper()
		d := see(p, "daemonsets", "agent", what, func(d *appsv1.DaemonSet) bool { return d.Status.ObservedGeneration == d.Generation && want(&d.Status) })
		p.saw("%s: desired %d current %d ready %d updated %d available %d unavailable %d misscheduled %d", what, d.Status.DesiredNumberScheduled, d.Status.CurrentNumberScheduled,
			d.Status.NumberReady, d.Status.UpdatedNumberScheduled, d.Status.NumberAvailable, d.Status.NumberUnavailable, d.Status.NumberMisscheduled)
	}
	record("on one node", func(s *appsv1.DaemonSetStatus) bool { return s.NumberAvailable == 1 })
	p.must(p.c.AppsV1().DaemonSets(p.ns).Patch(p.ctx, "agent", types.StrategicMergePatchType, []byte(`{"spec":{"template":{"spec":{"containers":[{"name":"main","image":"agent:2"}]}}}}`), metav1.PatchOptions{}))
	record("to be updated by hand", func(s *appsv1.DaemonSetStatus) bool { return s.UpdatedNumberScheduled == 0 })
	first := p.pods("agent")[0]
	p.must(nil, p.c.CoreV1().Pods(p.ns).Delete(p.ctx, first.Name, metav1.DeleteOptions{}))
	record("updated by hand", func(s *appsv1.DaemonSetStatus) bool {
		return s.UpdatedNumberScheduled == 1 && s.NumberAvailable == 1
	})
	second := p.pods("agent")[0]
	p.must(p.c.CoreV1().Pods(p.ns).Patch(p.ctx, second.Name, types.MergePatchType, []byte(`{"status":{"phase":"Failed","reason":"Evicted"}}`), metav1.PatchOptions{}, "status"))
	see(p, "pods", "", "another for the one that failed", func(pod *corev1.Pod) bool {
		return pod.Name != first.Name && pod.Name != second.Name && pod.Status.Phase == corev1.PodRunning
	})
	p.event("DaemonSet", "agent", "FailedDaemonPod", "")
	record("repaired", func(s *appsv1.DaemonSetStatus) bool { return s.NumberAvailable == 1 })
}

// proportions: a Deployment that grows amid its rollout, and one whose template changes again.
func proportions(p *place) {
	deploy(p, 8, func(d *appsv1.Deployment) {
		d.Spec.Strategy.RollingUpdate = &appsv1.RollingUpdateDeployment{MaxSurge: ptr.To(intstr.FromInt32(2)), MaxUnavailable: ptr.To(intstr.FromInt32(2))}
	})
	complete(p, "created")
	change(p, `{"spec":{"template":{"metadata":{"annotations":{"fairlead.dev/not-ready":"true"}},"spec":{"containers":[{"name":"main","image":"web:2"}]}}}}`)
	amid := func(what string, replicas, updated int32) {
		p.Helper()
		recordDeployment(p, what, see(p, "deployments", "web", what, func(d *appsv1.Deployment) bool {
			s := &d.Status
			return s.ObservedGeneration == d.Generation && s.Replicas == replicas && s.UpdatedReplicas == updated && s.UnavailableReplicas == updated &&
				slices.ContainsFunc(s.Conditions, func(c appsv1.DeploymentCondition) bool { return c.Reason == "ReplicaSetUpdated" })
		}))
	}
	amid("stuck", 10, 4)
	sets(p)
	change(p, `{"spec":{"replicas":16}}`)
	see(p, "deployments", "web", "grown", func(d *appsv1.Deployment) bool {
		return d.Status.ObservedGeneration == d.Generation && d.Status.Replicas == 18 && d.Status.AvailableReplicas == d.Status.Replicas-d.Status.UpdatedReplicas
	})
	sets(p)
	change(p, `{"spec":{"template":{"metadata":{"annotations":{"fairlead.dev/not-ready":null}},"spec":{"containers":[{"name":"main","image":"web:3"}]}}}}`)
	complete(p, "another template")
	sets(p)
	change(p, `{"spec":{"minReadySeconds":2,"template":{"spec":{"containers":[{"name":"main","image":"web:4"}]}}}}`)
	complete(p, "after two seconds each")
}

// forbidden: events of pods that may not be created.
func forbidden(p *place) {
	with := func(app string) corev1.PodTemplateSpec {
		t := template(app, "web:1")
		t.Spec.ServiceAccountName = "nobody"
		return t
	}
	one := ptr.To[int32](1)
	rc := with("rc")
	p.must(p.c.CoreV1().ReplicationControllers(p.ns).Create(p.ctx, &corev1.ReplicationController{ObjectMeta: named("rc"),
		Spec: corev1.ReplicationControllerSpec{Replicas: one, Selector: map[string]string{"app": "rc"}, Template: &rc}}, metav1.CreateOptions{}))
	p.must(p.c.AppsV1().ReplicaSets(p.ns).Create(p.ctx, &appsv1.ReplicaSet{ObjectMeta: named("rs"),
		Spec: appsv1.ReplicaSetSpec{Replicas: one, Selector: selecting("rs"), Template: with("rs")}}, metav1.CreateOptions{}))
	p.must(p.c.AppsV1().StatefulSets(p.ns).Create(p.ctx, &appsv1.StatefulSet{ObjectMeta: named("ss"),
		Spec: appsv1.StatefulSetSpec{Replicas: one, Selector: selecting("ss"), Template: with("ss")}}, metav1.CreateOptions{}))
	p.must(p.c.AppsV1().DaemonSets(p.ns).Create(p.ctx, &appsv1.DaemonSet{ObjectMeta: named("ds"),
		Spec: appsv1.DaemonSetSpec{Selector: selecting("ds"), Template: with("ds")}}, metav1.CreateOptions{}))
	runJob(p, "job", "work:1", func(s *batchv1.JobSpec) { s.Template.Spec.ServiceAccountName = "nobody" })
	for kind, name := range map[string]string{"ReplicationController": "rc", "ReplicaSet": "rs", "StatefulSet": "ss", "DaemonSet": "ds", "Job": "job"} {
		q := *p
		q.record = nil
		q.event(kind, name, "FailedCreate", "")
		p.record = append(p.record, q.record...)
	}
	slices.Sort(p.record)
	set := see(p, "replicasets", "rs", "its failure told", func(rs *appsv1.ReplicaSet) bool { return len(rs.Status.Conditions) > 0 })
	p.saw("%s", condition(set.Status.Conditions[0].Type, set.Status.Conditions[0].Status, set.Status.Conditions[0].Reason, set.Status.Conditions[0].Message))
	c := see(p, "replicationcontrollers", "rc", "its failure told", func(rc *corev1.ReplicationController) bool { return len(rc.Status.Conditions) > 0 })
	p.saw("%s", condition(c.Status.Conditions[0].Type, c.Status.Conditions[0].Status, c.Status.Conditions[0].Reason, c.Status.Conditions[0].Message))
	p.must(p.c.CoreV1().ServiceAccounts(p.ns).Create(p.ctx, &corev1.ServiceAccount{ObjectMeta: named("nobody")}, metav1.CreateOptions{}))
	see(p, "replicasets", "rs", "made", func(rs *appsv1.ReplicaSet) bool {
		return rs.Status.AvailableReplicas == 1 && len(rs.Status.Conditions) == 0
	})
	see(p, "replicationcontrollers", "rc", "made", func(rc *corev1.ReplicationController) bool {
		return rc.Status.AvailableReplicas == 1 && len(rc.Status.Conditions) == 0
	})
	see(p, "statefulsets", "ss", "made", func(s *appsv1.StatefulSet) bool { return s.Status.AvailableReplicas == 1 })
	see(p, "daemonsets", "ds", "made", func(d *appsv1.DaemonSet) bool { return d.Status.NumberAvailable == 3 })
}

// released: which pods go first.
func released(p *place) {
	p.must(p.c.AppsV1().ReplicaSets(p.ns).Create(p.ctx, &appsv1.ReplicaSet{ObjectMeta: named("set"),
		Spec: appsv1.ReplicaSetSpec{Replicas: ptr.To[int32](4), Selector: selecting("set"), Template: template("set", "web:1")}}, metav1.CreateOptions{}))
	full := func(n int32) {
		p.Helper()
		rs := see(p, "replicasets", "set", fmt.Sprint(n), func(rs *appsv1.ReplicaSet) bool {
			return rs.Status.ObservedGeneration == rs.Generation && rs.Status.Replicas == n && rs.Status.AvailableReplicas == n && ptr.Deref(rs.Status.TerminatingReplicas, 0) == 0
		})
		p.saw("%d fully labelled, %d ready, terminating %d", rs.Status.FullyLabeledReplicas, rs.Status.ReadyReplicas, ptr.Deref(rs.Status.TerminatingReplicas, -1))
	}
	full(4)
	cheap, shy := p.pods("set")[1].Name, p.pods("set")[3].Name
	p.must(p.c.CoreV1().Pods(p.ns).Patch(p.ctx, cheap, types.MergePatchType, []byte(`{"metadata":{"annotations":{"controller.kubernetes.io/pod-deletion-cost":"-5"}}}`), metav1.PatchOptions{}))
	p.must(p.c.CoreV1().Pods(p.ns).Patch(p.ctx, shy, types.MergePatchType, []byte(`{"metadata":{"annotations":{"fairlead.dev/not-ready":"true"}}}`), metav1.PatchOptions{}))
	see(p, "replicasets", "set", "one not ready", func(rs *appsv1.ReplicaSet) bool { return rs.Status.AvailableReplicas == 3 })
	for _, goes := range []string{shy, cheap} {
		rs, err := p.c.AppsV1().ReplicaSets(p.ns).Get(p.ctx, "set", metav1.GetOptions{})
		p.must(rs, err)
		n := *rs.Spec.Replicas - 1
		p.must(p.c.AppsV1().ReplicaSets(p.ns).Patch(p.ctx, "set", types.MergePatchType, fmt.Appendf(nil, `{"spec":{"replicas":%d}}`, n), metav1.PatchOptions{}))
		p.away("pods", goes)
		full(n)
	}
	p.events("SuccessfulDelete", 2)
}
