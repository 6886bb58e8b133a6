package compat

import (
	"slices"
	"strings"

	autoscalingv2 "k8s.io/api/autoscaling/v2"
	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	networkingv1 "k8s.io/api/networking/v1"
	resourcev1 "k8s.io/api/resource/v1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"
)

// inCluster is the place without its namespace.
func (p *place) inCluster() *place {
	all := *p
	all.ns = ""
	return &all
}

// claimsTold: events of waiting claims, and of volumes without a deleter.
func claimsTold(p *place) {
	size := corev1.ResourceList{corev1.ResourceStorage: resource.MustParse("1Gi")}
	claim := func(name, class string) {
		p.Helper()
		p.must(p.c.CoreV1().PersistentVolumeClaims(p.ns).Create(p.ctx, &corev1.PersistentVolumeClaim{ObjectMeta: named(name), Spec: corev1.PersistentVolumeClaimSpec{
			AccessModes: []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce}, StorageClassName: &class, Resources: corev1.VolumeResourceRequirements{Requests: size}}}, metav1.CreateOptions{}))
	}
	for name, class := range map[string]storagev1.StorageClass{
		"told-byhand": {Provisioner: "kubernetes.io/no-provisioner"},
		"told-old":    {Provisioner: "kubernetes.io/aws-ebs"},
		"told-late":   {Provisioner: "example.com/disks", VolumeBindingMode: ptr.To(storagev1.VolumeBindingWaitForFirstConsumer)},
		"told-far":    {Provisioner: "example.com/disks", AllowVolumeExpansion: ptr.To(true)},
	} {
		class.Name = name
		p.must(p.c.StorageV1().StorageClasses().Create(p.ctx, &class, metav1.CreateOptions{}))
	}
	claim("byhand", "told-byhand")
	// The first try may come before the controller has seen the class.
	p.event("PersistentVolumeClaim", "byhand", "ProvisioningFailed", "no volume plugin matched")
	claim("old", "told-old")
	p.event("PersistentVolumeClaim", "old", "ExternalProvisioning", "")

	nowhere := &corev1.Pod{ObjectMeta: named("nowhere"), Spec: podSpec("web:1")}
	nowhere.Spec.NodeSelector = map[string]string{"no": "node"}
	nowhere.Spec.Volumes = []corev1.Volume{{Name: "v", VolumeSource: corev1.VolumeSource{PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: "late"}}}}
	claim("late", "told-late")
	p.must(p.c.CoreV1().Pods(p.ns).Create(p.ctx, nowhere, metav1.CreateOptions{}))
	p.event("PersistentVolumeClaim", "late", "WaitForPodScheduled", "")

	volume := func(name, class string, source corev1.PersistentVolumeSource) {
		p.Helper()
		p.must(p.c.CoreV1().PersistentVolumes().Create(p.ctx, &corev1.PersistentVolume{ObjectMeta: named(name), Spec: corev1.PersistentVolumeSpec{Capacity: size,
			AccessModes: []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce}, StorageClassName: class, PersistentVolumeReclaimPolicy: corev1.PersistentVolumeReclaimDelete, PersistentVolumeSource: source}}, metav1.CreateOptions{}))
	}
	bound := func(name string) {
		p.Helper()
		see(p, "persistentvolumeclaims", name, "bound", func(c *corev1.PersistentVolumeClaim) bool { return c.Status.Phase == corev1.ClaimBound })
	}
	volume("told-far", "told-far", corev1.PersistentVolumeSource{CSI: &corev1.CSIPersistentVolumeSource{Driver: "example.com", VolumeHandle: "h"}})
	claim("far", "told-far")
	bound("far")
	p.must(p.c.CoreV1().PersistentVolumeClaims(p.ns).Patch(p.ctx, "far", types.MergePatchType, []byte(`{"spec":{"resources":{"requests":{"storage":"2Gi"}}}}`), metav1.PatchOptions{}))
	p.event("PersistentVolumeClaim", "far", "ExternalExpanding", "")

	for _, name := range []string{"told-host", "told-iscsi"} {
		source := corev1.PersistentVolumeSource{HostPath: &corev1.HostPathVolumeSource{Path: "/data"}}
		if name == "told-iscsi" {
			source = corev1.PersistentVolumeSource{ISCSI: &corev1.ISCSIPersistentVolumeSource{TargetPortal: "10.1.2.3", IQN: "iqn.2001-04.com.example:storage"}}
		}
		volume(name, name, source)
		claim(name, name)
		bound(name)
		p.must(nil, p.c.CoreV1().PersistentVolumeClaims(p.ns).Delete(p.ctx, name, metav1.DeleteOptions{}))
		v := see(p.inCluster(), "persistentvolumes", name, "failed", func(v *corev1.PersistentVolume) bool { return v.Status.Phase == corev1.VolumeFailed })
		p.saw("%s: %s %q", name, v.Status.Phase, v.Status.Message)
	}
}

// leftovers: controllers with pods without a node, terminating Services and targets of
// other versions.
func leftovers(p *place) {
	service := func(name string, selector map[string]string) {
		p.Helper()
		p.must(p.c.CoreV1().Services(p.ns).Create(p.ctx, &corev1.Service{ObjectMeta: named(name), Spec: corev1.ServiceSpec{Selector: selector, Ports: []corev1.ServicePort{{Port: 80}}}}, metav1.CreateOptions{}))
	}
	service("theirs", nil)
	p.must(p.c.CoreV1().Endpoints(p.ns).Create(p.ctx, &corev1.Endpoints{ObjectMeta: named("theirs"),
		Subsets: []corev1.EndpointSubset{{Addresses: []corev1.EndpointAddress{{IP: "10.9.8.7"}}, Ports: []corev1.EndpointPort{{Port: 80}}}}}, metav1.CreateOptions{}))
	see(p, "endpointslices", "", "mirrored", func(s *discoveryv1.EndpointSlice) bool { return s.Labels[discoveryv1.LabelServiceName] == "theirs" })
	p.must(nil, p.c.CoreV1().Services(p.ns).Delete(p.ctx, "theirs", metav1.DeleteOptions{}))
	p.away("endpoints", "theirs")
	p.away("endpointslices", "")

	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "far", Labels: map[string]string{"app": "far"}}, Spec: podSpec("web:1")}
	pod.Spec.NodeName = "nowhere"
	pod, err := p.c.CoreV1().Pods(p.ns).Create(p.ctx, pod, metav1.CreateOptions{})
	p.must(pod, err)
	pod.Status = corev1.PodStatus{Phase: corev1.PodRunning, PodIP: "10.9.8.7", PodIPs: []corev1.PodIP{{IP: "10.9.8.7"}},
		Conditions: []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionTrue}}}
	p.must(p.c.CoreV1().Pods(p.ns).UpdateStatus(p.ctx, pod, metav1.UpdateOptions{}))
	service("strict", map[string]string{"app": "far"})
	s := see(p, "endpointslices", "", "the slice", func(s *discoveryv1.EndpointSlice) bool { return s.Labels[discoveryv1.LabelServiceName] == "strict" })
	p.saw("%d endpoints", len(s.Endpoints))
	p.event("Service", "strict", "FailedToUpdateEndpointSlices", "")

	for _, k := range []struct{ version, kind, reason string }{{"apps/v1beta1", "Deployment", "SucceededGetScale"}, {"example.com/v1", "Wagon", "FailedGetScale"}} {
		if k.kind == "Deployment" {
			deploy(p, 1, nil)
		}
		name := strings.ToLower(k.kind)
		p.must(p.c.AutoscalingV2().HorizontalPodAutoscalers(p.ns).Create(p.ctx, &autoscalingv2.HorizontalPodAutoscaler{ObjectMeta: named(name), Spec: autoscalingv2.HorizontalPodAutoscalerSpec{
			ScaleTargetRef: autoscalingv2.CrossVersionObjectReference{APIVersion: k.version, Kind: k.kind, Name: "web"}, MaxReplicas: 3}}, metav1.CreateOptions{}))
		h := see(p, "horizontalpodautoscalers", name, k.reason, func(h *autoscalingv2.HorizontalPodAutoscaler) bool {
			return slices.ContainsFunc(h.Status.Conditions, func(c autoscalingv2.HorizontalPodAutoscalerCondition) bool { return c.Reason == k.reason })
		})
		p.saw("%s", condition(h.Status.Conditions[0].Type, h.Status.Conditions[0].Status, h.Status.Conditions[0].Reason, h.Status.Conditions[0].Message))
	}
}

// stuck: the conditions of a namespace whose pods do not terminate.
func stuck(p *place) {
	const name = "stuck-for-good"
	p.must(p.c.CoreV1().Namespaces().Create(p.ctx, &corev1.Namespace{ObjectMeta: named(name)}, metav1.CreateOptions{}))
	in := *p
	in.ns = name
	see(&in, "serviceaccounts", "default", "the account", func(*corev1.ServiceAccount) bool { return true })
	pod := &corev1.Pod{ObjectMeta: named("far"), Spec: podSpec("web:1")}
	pod.Spec.NodeName, pod.Spec.TerminationGracePeriodSeconds = "nowhere", ptr.To(int64(1))
	p.must(p.c.CoreV1().Pods(name).Create(p.ctx, pod, metav1.CreateOptions{}))
	p.must(nil, p.c.CoreV1().Namespaces().Delete(p.ctx, name, metav1.DeleteOptions{}))
	ns := see(p.inCluster(), "namespaces", name, "why it stays", func(ns *corev1.Namespace) bool {
		return slices.ContainsFunc(ns.Status.Conditions, func(c corev1.NamespaceCondition) bool {
			return c.Type == corev1.NamespaceDeletionContentFailure && c.Status == corev1.ConditionTrue
		})
	})
	for _, c := range ns.Status.Conditions {
		if c.Type == corev1.NamespaceDeletionContentFailure {
			p.saw("%s", condition(c.Type, c.Status, c.Reason, c.Message))
		}
	}
	p.must(nil, p.c.CoreV1().Pods(name).Delete(p.ctx, "far", metav1.DeleteOptions{GracePeriodSeconds: new(int64)}))
	p.inCluster().away("namespaces", name)
}

// ranges: ServiceCIDRs, and the TTL annotation of nodes.
func ranges(p *place) {
	all := p.inCluster()
	p.must(p.c.NetworkingV1().ServiceCIDRs().Create(p.ctx, &networkingv1.ServiceCIDR{ObjectMeta: named("ranges"), Spec: networkingv1.ServiceCIDRSpec{CIDRs: []string{"192.168.77.0/24"}}}, metav1.CreateOptions{}))
	record := func(name string, status metav1.ConditionStatus) {
		p.Helper()
		r := see(all, "servicecidrs", name, string(status), func(r *networkingv1.ServiceCIDR) bool {
			return len(r.Status.Conditions) > 0 && r.Status.Conditions[0].Status == status && len(r.Finalizers) > 0
		})
		c := r.Status.Conditions[0]
		p.saw("%s %v", condition(c.Type, c.Status, c.Reason, c.Message), r.Finalizers)
	}
	record("ranges", metav1.ConditionTrue)
	p.must(nil, p.c.NetworkingV1().ServiceCIDRs().Delete(p.ctx, "ranges", metav1.DeleteOptions{}))
	all.away("servicecidrs", "ranges")
	n := see(all, "nodes", "node-1", "told", func(n *corev1.Node) bool { return n.Annotations[corev1.ObjectTTLAnnotationKey] != "" })
	p.saw("keeps for %s", n.Annotations[corev1.ObjectTTLAnnotationKey])
}

// devices: claims of templates.
func devices(p *place) {
	pod := &corev1.Pod{ObjectMeta: named("gpu"), Spec: podSpec("web:1")}
	pod.Spec.ResourceClaims = []corev1.PodResourceClaim{{Name: "one", ResourceClaimTemplateName: ptr.To("template")}}
	p.must(p.c.CoreV1().Pods(p.ns).Create(p.ctx, pod, metav1.CreateOptions{}))
	p.event("Pod", "gpu", "FailedResourceClaimCreation", "")
	p.must(p.c.ResourceV1().ResourceClaimTemplates(p.ns).Create(p.ctx, &resourcev1.ResourceClaimTemplate{ObjectMeta: named("template"), Spec: resourcev1.ResourceClaimTemplateSpec{
		ObjectMeta: metav1.ObjectMeta{Labels: map[string]string{"a": "b"}},
		Spec: resourcev1.ResourceClaimSpec{Devices: resourcev1.DeviceClaim{Requests: []resourcev1.DeviceRequest{{
			Name: "gpu", Exactly: &resourcev1.ExactDeviceRequest{DeviceClassName: "gpu.example.com"}}}}}}}, metav1.CreateOptions{}))
	pod = see(p, "pods", "gpu", "its claim", func(pod *corev1.Pod) bool { return len(pod.Status.ResourceClaimStatuses) == 1 })
	name := *pod.Status.ResourceClaimStatuses[0].ResourceClaimName
	c, err := p.c.ResourceV1().ResourceClaims(p.ns).Get(p.ctx, name, metav1.GetOptions{})
	p.must(c, err)
	p.saw("claim %s of %s: %s, labels %v, annotations %v, owner %s %v", pod.Status.ResourceClaimStatuses[0].Name, strings.TrimSuffix(name, name[len(name)-5:]), c.GenerateName, c.Labels, c.Annotations,
		c.OwnerReferences[0].Kind, ptr.Deref(c.OwnerReferences[0].BlockOwnerDeletion, false))
	for _, m := range pod.ManagedFields {
		if strings.Contains(m.FieldsV1.GetRawString(), "resourceClaimStatuses") {
			p.saw("said by %s, %s of %s", m.Manager, m.Operation, m.Subresource)
		}
	}
	p.must(nil, p.c.CoreV1().Pods(p.ns).Delete(p.ctx, "gpu", metav1.DeleteOptions{}))
	p.away("resourceclaims", name)
}
