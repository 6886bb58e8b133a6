package compat

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

func sortedBy[T any](s []T, key func(T) string) []T {
	s = slices.Clone(s)
	slices.SortFunc(s, func(a, b T) int { return cmp.Compare(key(a), key(b)) })
	return s
}

// A StatefulSet: in order, with claims, updated down to a partition, scaled down from the
// end, its claims deleted with the replicas.
func stateful(p *place) {
	class := "by-hand"
	size := corev1.ResourceList{corev1.ResourceStorage: resource.MustParse("1Gi")}
	for i := range 3 {
		p.must(p.c.CoreV1().PersistentVolumes().Create(p.ctx, &corev1.PersistentVolume{ObjectMeta: named(fmt.Sprintf("volume-%d", i)),
			Spec: corev1.PersistentVolumeSpec{Capacity: size, AccessModes: []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce}, StorageClassName: class,
				PersistentVolumeSource: corev1.PersistentVolumeSource{HostPath: &corev1.HostPathVolumeSource{Path: "/data"}}}}, metav1.CreateOptions{}))
	}
	three := int32(3)
	set := &appsv1.StatefulSet{ObjectMeta: named("db"), Spec: appsv1.StatefulSetSpec{
		Replicas: &three, ServiceName: "db", Selector: selecting("db"), Template: template("db", "db:1"),
		VolumeClaimTemplates: []corev1.PersistentVolumeClaim{{ObjectMeta: named("data"), Spec: corev1.PersistentVolumeClaimSpec{
			AccessModes: []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce}, StorageClassName: &class,
			Resources: corev1.VolumeResourceRequirements{Requests: size}}}},
		PersistentVolumeClaimRetentionPolicy: &appsv1.StatefulSetPersistentVolumeClaimRetentionPolicy{
			WhenScaled: appsv1.DeletePersistentVolumeClaimRetentionPolicyType, WhenDeleted: appsv1.RetainPersistentVolumeClaimRetentionPolicyType},
	}}
	p.must(p.c.AppsV1().StatefulSets(p.ns).Create(p.ctx, set, metav1.CreateOptions{}))
	record := func(what string, s *appsv1.StatefulSet) {
		p.saw("%s: %d replicas, %d ready, %d current, %d updated, settled %v", what, s.Status.Replicas, s.Status.ReadyReplicas,
			s.Status.CurrentReplicas, s.Status.UpdatedReplicas, s.Status.CurrentRevision == s.Status.UpdateRevision)
	}
	record("created", see(p, "statefulsets", "db", "three replicas", func(s *appsv1.StatefulSet) bool { return s.Status.AvailableReplicas == 3 }))
	var before metav1.Time
	for _, pod := range sortedBy(p.pods("db"), func(pod corev1.Pod) string { return pod.Name }) {
		p.saw("%s index %s named %s host %s.%s claim %s, after the last %v", pod.Name, pod.Labels["apps.kubernetes.io/pod-index"], pod.Labels["statefulset.kubernetes.io/pod-name"],
			pod.Spec.Hostname, pod.Spec.Subdomain, pod.Spec.Volumes[0].PersistentVolumeClaim.ClaimName, !pod.CreationTimestamp.Before(&before))
		before = pod.CreationTimestamp
	}
	p.event("StatefulSet", "db", "SuccessfulCreate", "Create Claim data-db-0 Pod db-0 in StatefulSet db success")
	p.event("StatefulSet", "db", "SuccessfulCreate", "Create Pod db-2 in StatefulSet db successful")

	patch := func(patch string) int64 {
		s, err := p.c.AppsV1().StatefulSets(p.ns).Patch(p.ctx, "db", types.StrategicMergePatchType, []byte(patch), metav1.PatchOptions{})
		p.must(s, err)
		return s.Generation
	}
	gen := patch(`{"spec":{"updateStrategy":{"rollingUpdate":{"partition":2}},"template":{"spec":{"containers":[{"name":"main","image":"db:2"}]}}}}`)
	record("partition 2", see(p, "statefulsets", "db", "one updated", func(s *appsv1.StatefulSet) bool {
		return s.Status.ObservedGeneration == gen && s.Status.UpdatedReplicas == 1 && s.Status.AvailableReplicas == 3
	}))
	var images []string
	for _, pod := range sortedBy(p.pods("db"), func(pod corev1.Pod) string { return pod.Name }) {
		images = append(images, pod.Spec.Containers[0].Image)
	}
	p.saw("images %s", strings.Join(images, " "))
	gen = patch(`{"spec":{"updateStrategy":{"rollingUpdate":{"partition":0}}}}`)
	record("partition 0", see(p, "statefulsets", "db", "all updated", func(s *appsv1.StatefulSet) bool {
		return s.Status.ObservedGeneration == gen && s.Status.CurrentRevision == s.Status.UpdateRevision && s.Status.AvailableReplicas == 3
	}))
	gen = patch(`{"spec":{"replicas":1}}`)
	p.away("pods", "db-2")
	p.away("pods", "db-1")
	p.away("persistentvolumeclaims", "data-db-2")
	p.away("persistentvolumeclaims", "data-db-1")
	record("scaled down", see(p, "statefulsets", "db", "one replica", func(s *appsv1.StatefulSet) bool {
		return s.Status.ObservedGeneration == gen && s.Status.Replicas == 1 && s.Status.AvailableReplicas == 1
	}))
	claim := see(p, "persistentvolumeclaims", "data-db-0", "bound", func(c *corev1.PersistentVolumeClaim) bool { return c.Status.Phase == corev1.ClaimBound })
	p.saw("claim %s finalizers %v annotations %v", claim.Status.Phase, claim.Finalizers, claim.Annotations)
	revisions, err := p.c.AppsV1().ControllerRevisions(p.ns).List(p.ctx, metav1.ListOptions{})
	p.must(nil, err)
	for _, r := range sortedBy(revisions.Items, func(r appsv1.ControllerRevision) string { return fmt.Sprint(r.Revision) }) {
		p.saw("revision %d of %s", r.Revision, r.OwnerReferences[0].Name)
	}
}

func daemons(p *place) {
	p.must(p.c.AppsV1().DaemonSets(p.ns).Create(p.ctx, &appsv1.DaemonSet{ObjectMeta: named("agent"),
		Spec: appsv1.DaemonSetSpec{Selector: selecting("agent"), Template: template("agent", "agent:1")}}, metav1.CreateOptions{}))
	await := func(what string, want func(*appsv1.DaemonSet) bool) {
		p.Helper()
		d := see(p, "daemonsets", "agent", what, func(d *appsv1.DaemonSet) bool { return d.Status.ObservedGeneration == d.Generation && want(d) })
		p.saw("%s: desired %d current %d ready %d updated %d available %d misscheduled %d", what, d.Status.DesiredNumberScheduled, d.Status.CurrentNumberScheduled,
			d.Status.NumberReady, d.Status.UpdatedNumberScheduled, d.Status.NumberAvailable, d.Status.NumberMisscheduled)
	}
	patch := func(patch string) {
		p.Helper()
		p.must(p.c.AppsV1().DaemonSets(p.ns).Patch(p.ctx, "agent", types.StrategicMergePatchType, []byte(patch), metav1.PatchOptions{}))
	}
	await("one on each node", func(d *appsv1.DaemonSet) bool { return d.Status.NumberAvailable == 3 })
	for _, pod := range sortedBy(p.pods("agent"), func(pod corev1.Pod) string { return pod.Spec.NodeName }) {
		p.saw("on %s, affinity %v, tolerations %v, generation %s", pod.Spec.NodeName, pod.Spec.Affinity != nil, len(pod.Spec.Tolerations), pod.Labels["pod-template-generation"])
	}
	patch(`{"spec":{"template":{"spec":{"containers":[{"name":"main","image":"agent:2"}]}}}}`)
	await("rolled", func(d *appsv1.DaemonSet) bool {
		return d.Status.UpdatedNumberScheduled == 3 && d.Status.NumberAvailable == 3
	})
	patch(`{"spec":{"updateStrategy":{"rollingUpdate":{"maxSurge":1,"maxUnavailable":0}},"template":{"spec":{"containers":[{"name":"main","image":"agent:3"}]}}}}`)
	await("rolled with surge", func(d *appsv1.DaemonSet) bool {
		return d.Status.UpdatedNumberScheduled == 3 && d.Status.NumberAvailable == 3
	})
	patch(`{"spec":{"template":{"spec":{"nodeSelector":{"none":"such"}}}}}`)
	await("on no node", func(d *appsv1.DaemonSet) bool {
		return d.Status.DesiredNumberScheduled == 0 && d.Status.CurrentNumberScheduled == 0 && d.Status.NumberMisscheduled == 0
	})
	p.event("DaemonSet", "agent", "SuccessfulCreate", "Created pod: agent-")
	p.event("DaemonSet", "agent", "SuccessfulDelete", "Deleted pod: agent-")
}
