package compat

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	autoscalingv2 "k8s.io/api/autoscaling/v2"
	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	policyv1 "k8s.io/api/policy/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/utils/ptr"
)

// tokens: Secrets that service accounts have tokens in.
func tokens(p *place) {
	a, err := p.c.CoreV1().ServiceAccounts(p.ns).Create(p.ctx, &corev1.ServiceAccount{ObjectMeta: named("till"),
		Secrets: []corev1.ObjectReference{{Name: "listed"}, {Name: "other"}}}, metav1.CreateOptions{})
	p.must(a, err)
	for name, account := range map[string]string{"key": "till", "listed": "till", "nobodys": "nobody"} {
		p.must(p.c.CoreV1().Secrets(p.ns).Create(p.ctx, &corev1.Secret{Type: corev1.SecretTypeServiceAccountToken,
			ObjectMeta: metav1.ObjectMeta{Name: name, Annotations: map[string]string{corev1.ServiceAccountNameKey: account}}}, metav1.CreateOptions{}))
	}
	filled := func(name string) *corev1.Secret {
		p.Helper()
		return see(p, "secrets", name, name+" filled", func(s *corev1.Secret) bool { return len(s.Data["token"]) > 0 })
	}
	s := filled("key")
	p.saw("namespace %s, annotated %v, of the account %v", s.Data["namespace"], len(s.Annotations), s.Annotations[corev1.ServiceAccountUIDKey] == string(a.UID))
	filled("listed")
	p.must(nil, p.c.CoreV1().Secrets(p.ns).Delete(p.ctx, "listed", metav1.DeleteOptions{}))
	left := see(p, "serviceaccounts", "till", "one listed", func(a *corev1.ServiceAccount) bool { return len(a.Secrets) == 1 })
	p.saw("left: %s", left.Secrets[0].Name)
	p.away("secrets", "nobodys")
	p.must(nil, p.c.CoreV1().ServiceAccounts(p.ns).Delete(p.ctx, "till", metav1.DeleteOptions{}))
	p.away("secrets", "key")
}

// scaler: an autoscaler's conditions without metrics, and its behaviour without them.
func scaler(p *place) {
	deploy(p, 3, nil)
	complete(p, "created")
	spec := func(name, target string, max int32) {
		p.must(p.c.AutoscalingV2().HorizontalPodAutoscalers(p.ns).Create(p.ctx, &autoscalingv2.HorizontalPodAutoscaler{ObjectMeta: named(name), Spec: autoscalingv2.HorizontalPodAutoscalerSpec{
			ScaleTargetRef: autoscalingv2.CrossVersionObjectReference{APIVersion: "apps/v1", Kind: "Deployment", Name: target}, MaxReplicas: max,
		}}, metav1.CreateOptions{}))
	}
	record := func(name, what string, want func(*autoscalingv2.HorizontalPodAutoscalerStatus) bool) {
		p.Helper()
		h := see(p, "horizontalpodautoscalers", name, what, func(h *autoscalingv2.HorizontalPodAutoscaler) bool { return want(&h.Status) })
		p.saw("%s: %d of %d, scaled %v, %d metrics, observed %v", what, h.Status.CurrentReplicas, h.Status.DesiredReplicas, h.Status.LastScaleTime != nil, len(h.Status.CurrentMetrics), h.Status.ObservedGeneration != nil)
		for _, c := range sortedBy(h.Status.Conditions, func(c autoscalingv2.HorizontalPodAutoscalerCondition) string { return string(c.Type) }) {
			p.saw("%s", condition(c.Type, c.Status, c.Reason, c.Message))
		}
	}
	has := func(s *autoscalingv2.HorizontalPodAutoscalerStatus, reason string) bool {
		return slices.ContainsFunc(s.Conditions, func(c autoscalingv2.HorizontalPodAutoscalerCondition) bool { return c.Reason == reason })
	}
	spec("nobody", "nobody", 5)
	record("nobody", "without a target", func(s *autoscalingv2.HorizontalPodAutoscalerStatus) bool { return has(s, "FailedGetScale") })
	p.event("HorizontalPodAutoscaler", "nobody", "FailedGetScale", "")
	spec("web", "web", 2)
	record("web", "shrunk", func(s *autoscalingv2.HorizontalPodAutoscalerStatus) bool { return s.LastScaleTime != nil })
	p.event("HorizontalPodAutoscaler", "web", "SuccessfulRescale", "")
	record("web", "unmeasured", func(s *autoscalingv2.HorizontalPodAutoscalerStatus) bool { return has(s, "FailedGetResourceMetric") })
	p.event("HorizontalPodAutoscaler", "web", "FailedGetResourceMetric", "")
	p.event("HorizontalPodAutoscaler", "web", "FailedComputeMetricsReplicas", "")
	change(p, `{"spec":{"replicas":0}}`)
	record("web", "off", func(s *autoscalingv2.HorizontalPodAutoscalerStatus) bool { return has(s, "ScalingDisabled") })
	change(p, `{"spec":{"replicas":1}}`)
	spec("rival", "web", 4)
	record("rival", "two of one", func(s *autoscalingv2.HorizontalPodAutoscalerStatus) bool { return has(s, "AmbiguousSelector") })
	p.event("HorizontalPodAutoscaler", "rival", "AmbiguousSelector", "")
}

// endpointSlices: headless, not ready, on their way out, with names and hints.
func endpointSlices(p *place) {
	service := func(name string, with func(*corev1.ServiceSpec)) {
		s := &corev1.Service{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{"team": "a"}, Annotations: map[string]string{"note": "x"}}}
		s.Spec.Selector = map[string]string{"app": "web"}
		s.Spec.Ports = []corev1.ServicePort{{Port: 80}}
		with(&s.Spec)
		p.must(p.c.CoreV1().Services(p.ns).Create(p.ctx, s, metav1.CreateOptions{}))
	}
	service("bare", func(s *corev1.ServiceSpec) { s.ClusterIP, s.Ports, s.PublishNotReadyAddresses = "None", nil, true })
	service("near", func(s *corev1.ServiceSpec) {
		s.TrafficDistribution = ptr.To(corev1.ServiceTrafficDistributionPreferClose)
	})
	service("nobody", func(s *corev1.ServiceSpec) { s.Selector = map[string]string{"app": "nobody"} })
	for name, annotations := range map[string]map[string]string{"fit": {"fairlead.dev/terminate-after": "25s"}, "shy": {"fairlead.dev/not-ready": "true"}} {
		pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{"app": "web"}, Annotations: annotations}, Spec: podSpec("web:1")}
		pod.Spec.Hostname, pod.Spec.Subdomain = name, "bare"
		p.must(p.c.CoreV1().Pods(p.ns).Create(p.ctx, pod, metav1.CreateOptions{}))
		see(p, "pods", name, "running", func(pod *corev1.Pod) bool { return pod.Status.Phase == corev1.PodRunning })
	}
	record := func(service, what string, want func(*discoveryv1.EndpointSlice) bool) {
		p.Helper()
		s := see(p, "endpointslices", "", what, func(s *discoveryv1.EndpointSlice) bool {
			return s.Labels["kubernetes.io/service-name"] == service && want(s)
		})
		p.saw("%s of %s: labels %v, annotations %v, %s, %d ports", what, service, s.Labels, s.Annotations["note"], s.AddressType, len(s.Ports))
		for _, port := range s.Ports {
			p.saw("port %q %v %v %v", ptr.Deref(port.Name, "nil"), ptr.Deref(port.Port, -1), *port.Protocol, ptr.Deref(port.AppProtocol, "nil"))
		}
		for _, e := range sortedBy(s.Endpoints, func(e discoveryv1.Endpoint) string { return e.TargetRef.Name }) {
			p.saw("%s: ready %v serving %v terminating %v, host %q, zone %q, node %v, hints %v, ref %s %s %v", e.TargetRef.Name, *e.Conditions.Ready, *e.Conditions.Serving, *e.Conditions.Terminating,
				ptr.Deref(e.Hostname, "nil"), ptr.Deref(e.Zone, "nil"), e.NodeName != nil, e.Hints, e.TargetRef.Kind, e.TargetRef.Namespace, e.TargetRef.ResourceVersion)
		}
	}
	both := func(s *discoveryv1.EndpointSlice) bool {
		return len(s.Endpoints) == 2 && slices.ContainsFunc(s.Endpoints, func(e discoveryv1.Endpoint) bool { return e.TargetRef.Name == "fit" && *e.Conditions.Serving })
	}
	record("bare", "two", both)
	record("near", "two", both)
	record("nobody", "none", func(s *discoveryv1.EndpointSlice) bool { return true })
	e := see(p, "endpoints", "bare", "two", func(e *corev1.Endpoints) bool { return len(e.Subsets) == 1 && len(e.Subsets[0].Addresses) == 2 })
	delete(e.Annotations, corev1.EndpointsLastChangeTriggerTime) // is written if the controller saw the change in one sync and not in two
	p.saw("labels %v annotations %v", e.Labels, slices.Sorted(maps.Keys(e.Annotations)))
	for _, a := range sortedBy(e.Subsets[0].Addresses, func(a corev1.EndpointAddress) string { return a.TargetRef.Name }) {
		p.saw("address host %q node %v ref %s %s", a.Hostname, a.NodeName != nil, a.TargetRef.Kind, a.TargetRef.Name)
	}
	p.must(nil, p.c.CoreV1().Pods(p.ns).Delete(p.ctx, "fit", metav1.DeleteOptions{}))
	leaving := func(s *discoveryv1.EndpointSlice) bool {
		return slices.ContainsFunc(s.Endpoints, func(e discoveryv1.Endpoint) bool { return e.TargetRef.Name == "fit" && *e.Conditions.Terminating })
	}
	record("near", "one leaving", leaving)
	record("bare", "one leaving", leaving)
}

// mirrors: Endpoints that a user writes.
func mirrors(p *place) {
	p.must(p.c.CoreV1().Services(p.ns).Create(p.ctx, &corev1.Service{ObjectMeta: named("db"), Spec: corev1.ServiceSpec{Ports: []corev1.ServicePort{{Name: "sql", Port: 5432}}}}, metav1.CreateOptions{}))
	p.must(p.c.CoreV1().Endpoints(p.ns).Create(p.ctx, &corev1.Endpoints{ObjectMeta: metav1.ObjectMeta{Name: "db", Labels: map[string]string{"a": "b"}, Annotations: map[string]string{"c": "d"}},
		Subsets: []corev1.EndpointSubset{{
			Addresses:         []corev1.EndpointAddress{{IP: "192.0.2.1", Hostname: "one"}, {IP: "2001:db8::1"}},
			NotReadyAddresses: []corev1.EndpointAddress{{IP: "192.0.2.2"}},
			Ports:             []corev1.EndpointPort{{Name: "sql", Port: 5432}},
		}}}, metav1.CreateOptions{}))
	for family, n := range map[discoveryv1.AddressType]int{discoveryv1.AddressTypeIPv4: 2, discoveryv1.AddressTypeIPv6: 1} {
		s := see(p, "endpointslices", "", "the mirror of "+string(family), func(s *discoveryv1.EndpointSlice) bool { return s.AddressType == family && len(s.Endpoints) == n })
		q := *p
		q.record = nil
		q.saw("%s: labels %v annotations %v owner %s %s, port %s", family, s.Labels, s.Annotations, s.OwnerReferences[0].Kind, s.OwnerReferences[0].Name, *s.Ports[0].Name)
		for _, e := range sortedBy(s.Endpoints, func(e discoveryv1.Endpoint) string { return e.Addresses[0] }) {
			q.saw("%s: %v ready %v serving %v terminating %v host %q", family, e.Addresses, ptr.Deref(e.Conditions.Ready, false), e.Conditions.Serving != nil, e.Conditions.Terminating != nil, ptr.Deref(e.Hostname, "nil"))
		}
		p.record = append(p.record, q.record...)
	}
	slices.Sort(p.record)
	p.must(p.c.CoreV1().Endpoints(p.ns).Patch(p.ctx, "db", types.MergePatchType, []byte(`{"metadata":{"labels":{"endpointslice.kubernetes.io/skip-mirror":"true"}}}`), metav1.PatchOptions{}))
	p.away("endpointslices", "")
}

// owners: an owner of another namespace, one whose dependents are held, and one orphaned by foreground.
func owners(p *place) {
	create := func(name string, finalizers []string, owners ...metav1.OwnerReference) metav1.OwnerReference {
		p.Helper()
		cm, err := p.c.CoreV1().ConfigMaps(p.ns).Create(p.ctx, &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: name, Finalizers: finalizers, OwnerReferences: owners}}, metav1.CreateOptions{})
		p.must(cm, err)
		return metav1.OwnerReference{APIVersion: "v1", Kind: "ConfigMap", Name: name, UID: cm.UID}
	}
	blocking := func(o metav1.OwnerReference) metav1.OwnerReference {
		o.BlockOwnerDeletion = ptr.To(true)
		return o
	}
	abroad := &corev1.ConfigMap{ObjectMeta: named("abroad")}
	abroad, err := p.c.CoreV1().ConfigMaps("default").Create(p.ctx, abroad, metav1.CreateOptions{})
	p.must(abroad, err)
	p.Cleanup(func() { p.c.CoreV1().ConfigMaps("default").Delete(p.ctx, "abroad", metav1.DeleteOptions{}) })
	create("lost", nil, metav1.OwnerReference{APIVersion: "v1", Kind: "ConfigMap", Name: "abroad", UID: abroad.UID})
	p.event("ConfigMap", "lost", "OwnerRefInvalidNamespace", "")
	p.away("configmaps", "lost")

	top := create("top", nil)
	middle := create("middle", nil, blocking(top))
	create("held", []string{"example.com/hold"}, blocking(middle))
	create("free", nil, middle)
	p.must(nil, p.c.CoreV1().ConfigMaps(p.ns).Delete(p.ctx, "top", metav1.DeleteOptions{PropagationPolicy: ptr.To(metav1.DeletePropagationForeground)}))
	p.away("configmaps", "free")
	see(p, "configmaps", "held", "on its way out", func(c *corev1.ConfigMap) bool { return c.DeletionTimestamp != nil })
	for _, name := range []string{"top", "middle", "held"} {
		c, err := p.c.CoreV1().ConfigMaps(p.ns).Get(p.ctx, name, metav1.GetOptions{})
		p.must(c, err)
		p.saw("%s: deleted %v, finalizers %v", name, c.DeletionTimestamp != nil, c.Finalizers)
	}
	p.must(p.c.CoreV1().ConfigMaps(p.ns).Patch(p.ctx, "held", types.MergePatchType, []byte(`{"metadata":{"finalizers":null}}`), metav1.PatchOptions{}))
	p.away("configmaps", "top")
	one, two := create("one", nil), create("two", nil)
	create("of-two", nil, blocking(one), two)
	p.must(nil, p.c.CoreV1().ConfigMaps(p.ns).Delete(p.ctx, "one", metav1.DeleteOptions{PropagationPolicy: ptr.To(metav1.DeletePropagationForeground)}))
	p.away("configmaps", "one")
	c, err := p.c.CoreV1().ConfigMaps(p.ns).Get(p.ctx, "of-two", metav1.GetOptions{})
	p.must(c, err)
	p.saw("of two: %d owners, %s", len(c.OwnerReferences), c.OwnerReferences[0].Name)
}

// strays: pods of nodes that are not there, and finished ones that were never bound.
func strays(p *place) {
	pod := &corev1.Pod{ObjectMeta: named("stray"), Spec: podSpec("web:1")}
	pod.Spec.NodeName = "nowhere"
	p.must(p.c.CoreV1().Pods(p.ns).Create(p.ctx, pod, metav1.CreateOptions{}))
	gated := &corev1.Pod{ObjectMeta: named("gated"), Spec: podSpec("web:1")}
	gated.Spec.SchedulingGates = []corev1.PodSchedulingGate{{Name: "example.com/wait"}}
	p.must(p.c.CoreV1().Pods(p.ns).Create(p.ctx, gated, metav1.CreateOptions{}))
	p.must(nil, p.c.CoreV1().Pods(p.ns).Delete(p.ctx, "gated", metav1.DeleteOptions{}))
	p.away("pods", "gated")
	failed := see(p, "pods", "stray", "given up", func(pod *corev1.Pod) bool { return pod.Status.Phase == corev1.PodFailed })
	for _, c := range failed.Status.Conditions {
		p.saw("%s", condition(c.Type, c.Status, c.Reason, c.Message))
	}
	p.saw("reason %q message %q", failed.Status.Reason, failed.Status.Message)
	p.away("pods", "stray")
}

// claims: events of waiting claims, and the reclaim of volumes.
func claims(p *place) {
	size := corev1.ResourceList{corev1.ResourceStorage: resource.MustParse("1Gi")}
	claim := func(name, class string, with func(*corev1.PersistentVolumeClaim)) {
		p.Helper()
		c := &corev1.PersistentVolumeClaim{ObjectMeta: named(name), Spec: corev1.PersistentVolumeClaimSpec{AccessModes: []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce},
			StorageClassName: &class, Resources: corev1.VolumeResourceRequirements{Requests: size}}}
		if with != nil {
			with(c)
		}
		p.must(p.c.CoreV1().PersistentVolumeClaims(p.ns).Create(p.ctx, c, metav1.CreateOptions{}))
	}
	for name, mode := range map[string]storagev1.VolumeBindingMode{"claims-now": storagev1.VolumeBindingImmediate, "claims-later": storagev1.VolumeBindingWaitForFirstConsumer} {
		p.must(p.c.StorageV1().StorageClasses().Create(p.ctx, &storagev1.StorageClass{ObjectMeta: named(name), Provisioner: "example.com/disks", VolumeBindingMode: &mode}, metav1.CreateOptions{}))
	}
	volume := func(name string, policy corev1.PersistentVolumeReclaimPolicy, source corev1.PersistentVolumeSource) {
		p.Helper()
		p.must(p.c.CoreV1().PersistentVolumes().Create(p.ctx, &corev1.PersistentVolume{ObjectMeta: named(name), Spec: corev1.PersistentVolumeSpec{Capacity: size,
			AccessModes: []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce}, StorageClassName: name, PersistentVolumeReclaimPolicy: policy, PersistentVolumeSource: source}}, metav1.CreateOptions{}))
	}
	claim("none", "", nil)
	p.event("PersistentVolumeClaim", "none", "FailedBinding", "")
	claim("nothing", "no-such-class", nil)
	p.event("PersistentVolumeClaim", "nothing", "ProvisioningFailed", "")
	claim("outside", "claims-now", nil)
	p.event("PersistentVolumeClaim", "outside", "ExternalProvisioning", "")
	o := see(p, "persistentvolumeclaims", "outside", "annotated", func(c *corev1.PersistentVolumeClaim) bool { return len(c.Annotations) > 1 })
	p.saw("annotations %v", o.Annotations)
	claim("later", "claims-later", nil)
	p.event("PersistentVolumeClaim", "later", "WaitForFirstConsumer", "")
	volume("kept", corev1.PersistentVolumeReclaimRetain, corev1.PersistentVolumeSource{HostPath: &corev1.HostPathVolumeSource{Path: "/data"}})
	volume("deleted", corev1.PersistentVolumeReclaimDelete, corev1.PersistentVolumeSource{NFS: &corev1.NFSVolumeSource{Server: "s", Path: "/"}})
	for _, name := range []string{"kept", "deleted"} {
		claim(name, name, nil)
		c := see(p, "persistentvolumeclaims", name, "bound", func(c *corev1.PersistentVolumeClaim) bool { return c.Status.Phase == corev1.ClaimBound })
		p.saw("%s: %v %v %s", name, c.Status.AccessModes, c.Status.Capacity.Storage(), c.Spec.VolumeName)
	}
	user := &corev1.Pod{ObjectMeta: named("user"), Spec: podSpec("web:1")}
	user.Spec.Volumes = []corev1.Volume{{Name: "v", VolumeSource: corev1.VolumeSource{PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: "kept"}}}}
	p.must(p.c.CoreV1().Pods(p.ns).Create(p.ctx, user, metav1.CreateOptions{}))
	see(p, "pods", "user", "running", func(pod *corev1.Pod) bool { return pod.Status.Phase == corev1.PodRunning })
	p.must(nil, p.c.CoreV1().PersistentVolumeClaims(p.ns).Delete(p.ctx, "kept", metav1.DeleteOptions{}))
	held := see(p, "persistentvolumeclaims", "kept", "in use", func(c *corev1.PersistentVolumeClaim) bool { return c.DeletionTimestamp != nil })
	p.saw("finalizers %v", held.Finalizers)
	p.must(nil, p.c.CoreV1().Pods(p.ns).Delete(p.ctx, "user", metav1.DeleteOptions{}))
	p.away("persistentvolumeclaims", "kept")
	inCluster := *p
	inCluster.ns = ""
	v := see(&inCluster, "persistentvolumes", "kept", "released", func(v *corev1.PersistentVolume) bool { return v.Status.Phase == corev1.VolumeReleased })
	p.saw("kept: claim %s, finalizers %v, annotations %v, reason %q %q, since %v", v.Spec.ClaimRef.Name, v.Finalizers, v.Annotations, v.Status.Reason, v.Status.Message, v.Status.LastPhaseTransitionTime != nil)
	p.must(nil, p.c.CoreV1().PersistentVolumeClaims(p.ns).Delete(p.ctx, "deleted", metav1.DeleteOptions{}))
	v = see(&inCluster, "persistentvolumes", "deleted", "not deleted", func(v *corev1.PersistentVolume) bool {
		return v.Status.Phase == corev1.VolumeFailed || v.Status.Phase == corev1.VolumeReleased
	})
	p.saw("deleted: %s %q %q", v.Status.Phase, v.Status.Reason, v.Status.Message)
	claim("beforehand", "beforehand", func(c *corev1.PersistentVolumeClaim) { c.Spec.VolumeName = "beforehand" })
	volume("beforehand", corev1.PersistentVolumeReclaimRetain, corev1.PersistentVolumeSource{HostPath: &corev1.HostPathVolumeSource{Path: "/data"}})
	see(p, "persistentvolumeclaims", "beforehand", "bound", func(c *corev1.PersistentVolumeClaim) bool { return c.Status.Phase == corev1.ClaimBound })
	p.must(nil, p.c.CoreV1().PersistentVolumes().Delete(p.ctx, "beforehand", metav1.DeleteOptions{}))
	p.must(p.c.CoreV1().PersistentVolumes().Patch(p.ctx, "beforehand", types.MergePatchType, []byte(`{"metadata":{"finalizers":null}}`), metav1.PatchOptions{}))
	lost := see(p, "persistentvolumeclaims", "beforehand", "lost", func(c *corev1.PersistentVolumeClaim) bool { return c.Status.Phase == corev1.ClaimLost })
	p.saw("lost: %s", lost.Spec.VolumeName)
	p.event("PersistentVolumeClaim", "beforehand", "ClaimLost", "")
}

// ephemeral: claims that come and go with their pod.
func ephemeral(p *place) {
	p.must(p.c.CoreV1().PersistentVolumeClaims(p.ns).Create(p.ctx, &corev1.PersistentVolumeClaim{ObjectMeta: named("rival-v"), Spec: corev1.PersistentVolumeClaimSpec{
		AccessModes: []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce}, StorageClassName: ptr.To("none"),
		Resources: corev1.VolumeResourceRequirements{Requests: corev1.ResourceList{corev1.ResourceStorage: resource.MustParse("1Gi")}}}}, metav1.CreateOptions{}))
	for _, name := range []string{"user", "rival"} {
		pod := &corev1.Pod{ObjectMeta: named(name), Spec: podSpec("web:1")}
		pod.Spec.Volumes = []corev1.Volume{{Name: "v", VolumeSource: corev1.VolumeSource{Ephemeral: &corev1.EphemeralVolumeSource{VolumeClaimTemplate: &corev1.PersistentVolumeClaimTemplate{
			ObjectMeta: metav1.ObjectMeta{Labels: map[string]string{"a": "b"}, Annotations: map[string]string{"c": "d"}},
			Spec: corev1.PersistentVolumeClaimSpec{AccessModes: []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce}, StorageClassName: ptr.To("none"),
				Resources: corev1.VolumeResourceRequirements{Requests: corev1.ResourceList{corev1.ResourceStorage: resource.MustParse("1Gi")}}},
		}}}}}
		p.must(p.c.CoreV1().Pods(p.ns).Create(p.ctx, pod, metav1.CreateOptions{}))
	}
	c := see(p, "persistentvolumeclaims", "user-v", "made", func(*corev1.PersistentVolumeClaim) bool { return true })
	o := c.OwnerReferences[0]
	p.saw("owner %s %s %s controller %v blocks %v; %v %v", o.APIVersion, o.Kind, o.Name, *o.Controller, *o.BlockOwnerDeletion, c.Labels, c.Annotations["c"])
	p.event("Pod", "rival", "FailedScheduling", "")
	p.must(nil, p.c.CoreV1().Pods(p.ns).Delete(p.ctx, "user", metav1.DeleteOptions{}))
	p.away("persistentvolumeclaims", "user-v")
}

// budgets: of pods without a controller, by percentage, by maxUnavailable, without selected
// pods.
func budgets(p *place) {
	run(p, "bare", func(pod *corev1.Pod) { pod.Labels["app"] = "bare" })
	see(p, "pods", "bare", "running", func(pod *corev1.Pod) bool { return pod.Status.Phase == corev1.PodRunning })
	deploy(p, 4, nil)
	complete(p, "created")
	for name, spec := range map[string]policyv1.PodDisruptionBudgetSpec{
		"bare-percent": {MinAvailable: ptr.To(intstr.FromString("50%")), Selector: selecting("bare")},
		"bare-count":   {MinAvailable: ptr.To(intstr.FromInt32(1)), Selector: selecting("bare")},
		"web-percent":  {MaxUnavailable: ptr.To(intstr.FromString("30%")), Selector: selecting("web")},
		"web-most":     {MaxUnavailable: ptr.To(intstr.FromInt32(1)), Selector: selecting("web"), UnhealthyPodEvictionPolicy: ptr.To(policyv1.AlwaysAllow)},
		"nobody":       {MinAvailable: ptr.To(intstr.FromInt32(1)), Selector: selecting("nobody")},
	} {
		p.must(p.c.PolicyV1().PodDisruptionBudgets(p.ns).Create(p.ctx, &policyv1.PodDisruptionBudget{ObjectMeta: named(name), Spec: spec}, metav1.CreateOptions{}))
	}
	for _, name := range []string{"bare-count", "bare-percent", "nobody", "web-most", "web-percent"} {
		b := see(p, "poddisruptionbudgets", name, "counted", func(b *policyv1.PodDisruptionBudget) bool { return len(b.Status.Conditions) > 0 })
		p.saw("%s: allowed %d, healthy %d of %d, expected %d, observed %d", name, b.Status.DisruptionsAllowed, b.Status.CurrentHealthy, b.Status.DesiredHealthy, b.Status.ExpectedPods, b.Status.ObservedGeneration)
		for _, c := range b.Status.Conditions {
			p.saw("%s", condition(c.Type, c.Status, c.Reason, c.Message))
		}
	}
	p.event("PodDisruptionBudget", "nobody", "NoPods", "")
	p.event("PodDisruptionBudget", "bare-percent", "UnmanagedPods", "")
	err := p.c.PolicyV1().Evictions(p.ns).Evict(p.ctx, &policyv1.Eviction{ObjectMeta: metav1.ObjectMeta{Name: p.pods("web")[0].Name, Namespace: p.ns}})
	p.saw("two budgets: %v", err)
}

// quotaScopes: quotas of some pods, and of all resources that pods request.
func quotaScopes(p *place) {
	list := func(pairs ...string) corev1.ResourceList {
		l := corev1.ResourceList{}
		for i := 0; i < len(pairs); i += 2 {
			l[corev1.ResourceName(pairs[i])] = resource.MustParse(pairs[i+1])
		}
		return l
	}
	for name, spec := range map[string]corev1.ResourceQuotaSpec{
		"best-effort": {Hard: list("pods", "5"), Scopes: []corev1.ResourceQuotaScope{corev1.ResourceQuotaScopeBestEffort}},
		"ending":      {Hard: list("pods", "5"), Scopes: []corev1.ResourceQuotaScope{corev1.ResourceQuotaScopeTerminating}},
		"important": {Hard: list("pods", "5"), ScopeSelector: &corev1.ScopeSelector{MatchExpressions: []corev1.ScopedResourceSelectorRequirement{
			{ScopeName: corev1.ResourceQuotaScopePriorityClass, Operator: corev1.ScopeSelectorOpIn, Values: []string{"system-node-critical"}}}}},
		"all": {Hard: list("requests.cpu", "10", "limits.memory", "10Gi", "services", "3", "services.nodeports", "2", "persistentvolumeclaims", "2", "requests.storage", "10Gi",
			"none.storageclass.storage.k8s.io/requests.storage", "5Gi", "count/deployments.apps", "4", "secrets", "9", "replicationcontrollers", "1", "requests.example.com/gpu", "2")},
	} {
		p.must(p.c.CoreV1().ResourceQuotas(p.ns).Create(p.ctx, &corev1.ResourceQuota{ObjectMeta: named(name), Spec: spec}, metav1.CreateOptions{}))
	}
	for _, name := range []string{"all", "best-effort", "ending", "important"} {
		see(p, "resourcequotas", name, "begun", func(q *corev1.ResourceQuota) bool { return len(q.Status.Used) == len(q.Spec.Hard) })
	}
	run(p, "guaranteed", func(pod *corev1.Pod) {
		pod.Spec.ActiveDeadlineSeconds = ptr.To[int64](3600)
		pod.Spec.Containers[0].Resources = corev1.ResourceRequirements{Requests: list("cpu", "100m", "memory", "1Mi", "example.com/gpu", "1"), Limits: list("cpu", "100m", "memory", "1Mi", "example.com/gpu", "1")}
	})
	err := func() error {
		_, err := p.c.CoreV1().Pods(p.ns).Create(p.ctx, &corev1.Pod{ObjectMeta: named("plain"), Spec: podSpec("web:1")}, metav1.CreateOptions{})
		return err
	}()
	p.saw("without requests: %v", err)
	p.must(p.c.CoreV1().Services(p.ns).Create(p.ctx, &corev1.Service{ObjectMeta: named("ports"), Spec: corev1.ServiceSpec{Type: corev1.ServiceTypeNodePort, Ports: []corev1.ServicePort{{Port: 80}}}}, metav1.CreateOptions{}))
	p.must(p.c.CoreV1().PersistentVolumeClaims(p.ns).Create(p.ctx, &corev1.PersistentVolumeClaim{ObjectMeta: named("c"), Spec: corev1.PersistentVolumeClaimSpec{
		AccessModes: []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce}, StorageClassName: ptr.To("none"), Resources: corev1.VolumeResourceRequirements{Requests: list("storage", "2Gi")}}}, metav1.CreateOptions{}))
	show := func(name string) {
		p.Helper()
		q, err := p.c.CoreV1().ResourceQuotas(p.ns).Get(p.ctx, name, metav1.GetOptions{})
		p.must(q, err)
		var used []string
		for n, v := range q.Status.Used {
			hard := q.Status.Hard[n]
			used = append(used, fmt.Sprintf("%s=%s/%s", n, v.String(), hard.String()))
		}
		slices.Sort(used)
		p.saw("%s: %s", name, strings.Join(used, " "))
	}
	see(p, "resourcequotas", "all", "charged", func(q *corev1.ResourceQuota) bool {
		used := q.Status.Used["requests.storage"]
		return used.Value() > 0
	})
	for _, name := range []string{"all", "best-effort", "ending", "important"} {
		show(name)
	}
	p.must(nil, p.c.CoreV1().Pods(p.ns).Delete(p.ctx, "guaranteed", metav1.DeleteOptions{GracePeriodSeconds: ptr.To[int64](0)}))
	see(p, "resourcequotas", "all", "given back", func(q *corev1.ResourceQuota) bool {
		return q.Status.Used.Cpu().IsZero() && func() bool { c := q.Status.Used["requests.cpu"]; return c.IsZero() }()
	})
	show("all")
}

// roles: a role made of others.
func roles(p *place) {
	made := func(name string, labels map[string]string, rule rbacv1.PolicyRule) {
		p.Helper()
		p.must(p.c.RbacV1().ClusterRoles().Create(p.ctx, &rbacv1.ClusterRole{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: labels}, Rules: []rbacv1.PolicyRule{rule}}, metav1.CreateOptions{}))
	}
	p.must(p.c.RbacV1().ClusterRoles().Create(p.ctx, &rbacv1.ClusterRole{ObjectMeta: named("roles-all"), AggregationRule: &rbacv1.AggregationRule{
		ClusterRoleSelectors: []metav1.LabelSelector{{MatchLabels: map[string]string{"part": "yes"}}}}}, metav1.CreateOptions{}))
	made("roles-b", map[string]string{"part": "yes"}, rbacv1.PolicyRule{Verbs: []string{"get"}, APIGroups: []string{""}, Resources: []string{"pods"}})
	made("roles-a", map[string]string{"part": "yes"}, rbacv1.PolicyRule{Verbs: []string{"list"}, APIGroups: []string{""}, Resources: []string{"secrets"}})
	made("roles-c", map[string]string{"part": "yes"}, rbacv1.PolicyRule{Verbs: []string{"get"}, APIGroups: []string{""}, Resources: []string{"pods"}})
	inCluster := *p
	inCluster.ns = ""
	r := see(&inCluster, "clusterroles", "roles-all", "all rules", func(r *rbacv1.ClusterRole) bool { return len(r.Rules) == 2 && r.Rules[0].Resources[0] == "secrets" })
	for _, rule := range r.Rules {
		p.saw("%v %v", rule.Verbs, rule.Resources)
	}
	p.must(nil, p.c.RbacV1().ClusterRoles().Delete(p.ctx, "roles-a", metav1.DeleteOptions{}))
	see(&inCluster, "clusterroles", "roles-all", "one rule less", func(r *rbacv1.ClusterRole) bool { return len(r.Rules) == 1 })
}
