package scheduler

import (
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	schedulingv1alpha3 "k8s.io/api/scheduling/v1alpha3"
	schedulingv1beta1 "k8s.io/api/scheduling/v1beta1"
	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"fairlead.dev/client"
	"fairlead.dev/informer"

	"fairlead.dev/internal/scheduler/volumes"
)

// objects implements Objects from informers.
type objects struct {
	pods         *informer.Informer[*corev1.Pod]
	nodes        *informer.Informer[*corev1.Node]
	namespaces   *informer.Informer[*corev1.Namespace]
	services     *informer.Informer[*corev1.Service]
	replicaSets  *informer.Informer[*appsv1.ReplicaSet]
	controllers  *informer.Informer[*corev1.ReplicationController]
	statefulSets *informer.Informer[*appsv1.StatefulSet]
	budgets      *informer.Informer[*policyv1.PodDisruptionBudget]
	claims       *informer.Informer[*corev1.PersistentVolumeClaim]
	volumes      *informer.Informer[*corev1.PersistentVolume]
	classes      *informer.Informer[*storagev1.StorageClass]
	csiNodes     *informer.Informer[*storagev1.CSINode]
	csiDrivers   *informer.Informer[*storagev1.CSIDriver]
	attachments  *informer.Informer[*storagev1.VolumeAttachment]
	capacities   *informer.Informer[*storagev1.CSIStorageCapacity]
	devices      deviceObjects
	groups       *informer.Informer[*schedulingv1beta1.PodGroup]           // nil if the server does not serve them
	composites   *informer.Informer[*schedulingv1alpha3.CompositePodGroup] // nil if the server does not serve them
	synced       []<-chan struct{}                                         // closed when the informers are synced

	*volumes.Binder
}

func newObjects(c *client.Client, set *informer.Set, opts Options) *objects {
	o := &objects{
		pods:         informer.For[*corev1.Pod](set),
		nodes:        informer.For[*corev1.Node](set),
		namespaces:   informer.For[*corev1.Namespace](set),
		services:     informer.For[*corev1.Service](set),
		replicaSets:  informer.For[*appsv1.ReplicaSet](set),
		controllers:  informer.For[*corev1.ReplicationController](set),
		statefulSets: informer.For[*appsv1.StatefulSet](set),
		budgets:      informer.For[*policyv1.PodDisruptionBudget](set),
		claims:       informer.For[*corev1.PersistentVolumeClaim](set),
		volumes:      informer.For[*corev1.PersistentVolume](set),
		classes:      informer.For[*storagev1.StorageClass](set),
		csiNodes:     informer.For[*storagev1.CSINode](set),
		csiDrivers:   informer.For[*storagev1.CSIDriver](set),
		attachments:  informer.For[*storagev1.VolumeAttachment](set),
		capacities:   informer.For[*storagev1.CSIStorageCapacity](set),
	}
	o.devices = newDeviceObjects(set, opts)
	if opts.enabled("GenericWorkload", false) {
		o.groups = informer.For[*schedulingv1beta1.PodGroup](set)
		if opts.enabled("CompositePodGroup", false) {
			o.composites = informer.For[*schedulingv1alpha3.CompositePodGroup](set)
		}
	}
	o.Binder = volumes.NewBinder(c, o)
	o.services.Index(bySelectorPair, selectorPair)
	o.volumes.Index(byClass, volumeClass)
	o.attachments.Index(byNode, func(a *storagev1.VolumeAttachment) []string { return []string{a.Spec.NodeName} })
	o.capacities.Index(byClass, func(s *storagev1.CSIStorageCapacity) []string { return []string{s.StorageClassName} })
	// The other informers have handlers, whose registrations are in synced already.
	o.synced = []<-chan struct{}{
		o.services.Synced(), o.replicaSets.Synced(), o.controllers.Synced(), o.statefulSets.Synced(),
		o.budgets.Synced(),
	}
	return o
}

// listening registers h and adds its first delivery to synced.
func listening[T client.Object](o *objects, i *informer.Informer[T], h informer.Handler[T]) (stop func()) {
	r := i.Handle(h)
	o.synced = append(o.synced, r.Synced())
	return r.Remove
}

func (o *objects) NamespaceLabels(name string) map[string]string {
	if ns, ok := o.namespaces.Store().Get("", name); ok {
		return ns.Labels
	}
	return nil
}

// bySelectorPair is the index of services by one pair of their selector, by which a pod's labels
// find the services.
const bySelectorPair = "scheduler-anchor"

func selectorPair(svc *corev1.Service) []string {
	var first string
	for k := range svc.Spec.Selector {
		if first == "" || k < first {
			first = k
		}
	}
	if first == "" {
		return nil
	}
	return []string{pairKey(svc.Namespace, first, svc.Spec.Selector[first])}
}

func pairKey(namespace, key, value string) string { return namespace + "/" + key + "=" + value }

func (o *objects) Services(namespace string, podLabels map[string]string) (services []*corev1.Service) {
	for k, v := range podLabels {
		services = append(services, o.services.Store().ByIndex(bySelectorPair, pairKey(namespace, k, v))...)
	}
	return services
}

func (o *objects) OwnerSelector(namespace string, owner *metav1.OwnerReference) *metav1.LabelSelector {
	switch owner.APIVersion + "/" + owner.Kind {
	case "apps/v1/ReplicaSet":
		if rs, ok := o.replicaSets.Store().Get(namespace, owner.Name); ok {
			return rs.Spec.Selector
		}
	case "apps/v1/StatefulSet":
		if set, ok := o.statefulSets.Store().Get(namespace, owner.Name); ok {
			return set.Spec.Selector
		}
	case "v1/ReplicationController":
		if rc, ok := o.controllers.Store().Get(namespace, owner.Name); ok && len(rc.Spec.Selector) > 0 {
			return &metav1.LabelSelector{MatchLabels: rc.Spec.Selector}
		}
	}
	return nil
}

func (o *objects) Budgets(namespace string) []*policyv1.PodDisruptionBudget {
	return o.budgets.Store().List(namespace)
}

func (o *objects) Claim(namespace, name string) (*corev1.PersistentVolumeClaim, bool) {
	return o.claims.Store().Get(namespace, name)
}

func (o *objects) Volume(name string) (*corev1.PersistentVolume, bool) {
	return o.volumes.Store().Get("", name)
}

func (o *objects) Volumes(class string) []*corev1.PersistentVolume {
	return o.volumes.Store().ByIndex(byClass, class)
}

func (o *objects) Class(name string) (*storagev1.StorageClass, bool) {
	return o.classes.Store().Get("", name)
}

func (o *objects) CSINode(name string) (*storagev1.CSINode, bool) {
	return o.csiNodes.Store().Get("", name)
}

func (o *objects) CSIDriver(name string) (*storagev1.CSIDriver, bool) {
	return o.csiDrivers.Store().Get("", name)
}

func (o *objects) Attachments(node string) []*storagev1.VolumeAttachment {
	return o.attachments.Store().ByIndex(byNode, node)
}

func (o *objects) Capacities(class string) []*storagev1.CSIStorageCapacity {
	return o.capacities.Store().ByIndex(byClass, class)
}

// Indexes: of volumes and capacities by their class, of attachments by their node.
const (
	byClass = "scheduler-class"
	byNode  = "scheduler-node"
)

func volumeClass(pv *corev1.PersistentVolume) []string {
	if class, ok := pv.Annotations[corev1.BetaStorageClassAnnotation]; ok {
		return []string{class}
	}
	return []string{pv.Spec.StorageClassName}
}
