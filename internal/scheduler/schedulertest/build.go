package schedulertest

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"fairlead.dev/internal/scheduler/cache"
)

// Objects implements cache.Objects by tables.
type Objects struct {
	NamespaceLabelsByName map[string]map[string]string
	ServiceList           []*corev1.Service
	OwnerSelectors        map[string]*metav1.LabelSelector
	BudgetList            []*policyv1.PodDisruptionBudget
	Claims                map[string]*corev1.PersistentVolumeClaim
	PersistentVolumes     map[string]*corev1.PersistentVolume
	Classes               map[string]*storagev1.StorageClass
	CSINodes              map[string]*storagev1.CSINode
	CSIDrivers            map[string]*storagev1.CSIDriver
	AttachmentList        []*storagev1.VolumeAttachment
	CapacityList          []*storagev1.CSIStorageCapacity
}

func (f *Objects) NamespaceLabels(name string) map[string]string {
	return f.NamespaceLabelsByName[name]
}
func (f *Objects) Services(string, map[string]string) []*corev1.Service { return f.ServiceList }
func (f *Objects) OwnerSelector(ns string, o *metav1.OwnerReference) *metav1.LabelSelector {
	return f.OwnerSelectors[o.Name]
}
func (f *Objects) Budgets(ns string) []*policyv1.PodDisruptionBudget { return f.BudgetList }
func (f *Objects) Claim(ns, name string) (*corev1.PersistentVolumeClaim, bool) {
	c, ok := f.Claims[name]
	return c, ok
}
func (f *Objects) Volume(name string) (*corev1.PersistentVolume, bool) {
	v, ok := f.PersistentVolumes[name]
	return v, ok
}
func (f *Objects) Volumes(string) []*corev1.PersistentVolume {
	return slices.SortedFunc(maps.Values(f.PersistentVolumes), func(a, b *corev1.PersistentVolume) int { return cmp.Compare(a.Name, b.Name) })
}
func (f *Objects) Class(name string) (*storagev1.StorageClass, bool) {
	c, ok := f.Classes[name]
	return c, ok
}
func (f *Objects) CSINode(name string) (*storagev1.CSINode, bool) {
	n, ok := f.CSINodes[name]
	return n, ok
}
func (f *Objects) CSIDriver(name string) (*storagev1.CSIDriver, bool) {
	d, ok := f.CSIDrivers[name]
	return d, ok
}
func (f *Objects) Attachments(node string) []*storagev1.VolumeAttachment {
	return slices.DeleteFunc(slices.Clone(f.AttachmentList), func(a *storagev1.VolumeAttachment) bool { return a.Spec.NodeName != node })
}
func (f *Objects) Capacities(class string) []*storagev1.CSIStorageCapacity {
	return slices.DeleteFunc(slices.Clone(f.CapacityList), func(s *storagev1.CSIStorageCapacity) bool { return s.StorageClassName != class })
}
func (f *Objects) BindVolumes(context.Context, *corev1.Node, []cache.ClaimBinding) error { return nil }

type NodeOption func(*corev1.Node)

// Node returns a ready node with 4 CPUs, 8Gi and 10 pods, labeled with its name.
func Node(name string, options ...NodeOption) *corev1.Node {
	n := &corev1.Node{
		ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{corev1.LabelHostname: name}},
		Status: corev1.NodeStatus{
			Allocatable: Quantities("cpu", "4", "memory", "8Gi", "pods", "10"),
			Conditions:  []corev1.NodeCondition{{Type: corev1.NodeReady, Status: corev1.ConditionTrue}},
		},
	}
	for _, o := range options {
		o(n)
	}
	return n
}

func Quantities(pairs ...string) corev1.ResourceList {
	l := corev1.ResourceList{}
	for i := 0; i < len(pairs); i += 2 {
		l[corev1.ResourceName(pairs[i])] = resource.MustParse(pairs[i+1])
	}
	return l
}

func Labeled(pairs ...string) NodeOption {
	return func(n *corev1.Node) {
		for i := 0; i < len(pairs); i += 2 {
			n.Labels[pairs[i]] = pairs[i+1]
		}
	}
}

func InZone(z string) NodeOption { return Labeled(corev1.LabelTopologyZone, z) }

func Tainted(key string, effect corev1.TaintEffect) NodeOption {
	return func(n *corev1.Node) { n.Spec.Taints = append(n.Spec.Taints, corev1.Taint{Key: key, Effect: effect}) }
}

func Allocatable(pairs ...string) NodeOption {
	return func(n *corev1.Node) {
		for name, q := range Quantities(pairs...) {
			n.Status.Allocatable[name] = q
		}
	}
}

func HavingImage(image string, size int64) NodeOption {
	return func(n *corev1.Node) {
		n.Status.Images = append(n.Status.Images, corev1.ContainerImage{Names: []string{image}, SizeBytes: size})
	}
}

type PodOption func(*corev1.Pod)

func Pod(name string, options ...PodOption) *corev1.Pod {
	p := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name, UID: types.UID(name), Generation: 1},
		Spec:       corev1.PodSpec{SchedulerName: "default-scheduler", Containers: []corev1.Container{{Name: "c"}}},
	}
	for _, o := range options {
		o(p)
	}
	return p
}

func On(node string) PodOption { return func(p *corev1.Pod) { p.Spec.NodeName = node } }

func InNamespace(ns string) PodOption { return func(p *corev1.Pod) { p.Namespace = ns } }

func WithLabels(pairs ...string) PodOption {
	return func(p *corev1.Pod) {
		p.Labels = map[string]string{}
		for i := 0; i < len(pairs); i += 2 {
			p.Labels[pairs[i]] = pairs[i+1]
		}
	}
}

func Requesting(pairs ...string) PodOption {
	return func(p *corev1.Pod) { p.Spec.Containers[0].Resources.Requests = Quantities(pairs...) }
}

func Priority(v int32) PodOption { return func(p *corev1.Pod) { p.Spec.Priority = &v } }

func Tolerating(key string) PodOption {
	return func(p *corev1.Pod) {
		p.Spec.Tolerations = append(p.Spec.Tolerations, corev1.Toleration{Key: key, Operator: corev1.TolerationOpExists})
	}
}

func Selecting(pairs ...string) *metav1.LabelSelector {
	s := &metav1.LabelSelector{MatchLabels: map[string]string{}}
	for i := 0; i < len(pairs); i += 2 {
		s.MatchLabels[pairs[i]] = pairs[i+1]
	}
	return s
}

func AffinityOf(p *corev1.Pod) *corev1.Affinity {
	if p.Spec.Affinity == nil {
		p.Spec.Affinity = &corev1.Affinity{}
	}
	return p.Spec.Affinity
}

func Beside(key string, s *metav1.LabelSelector) PodOption {
	return func(p *corev1.Pod) {
		AffinityOf(p).PodAffinity = &corev1.PodAffinity{RequiredDuringSchedulingIgnoredDuringExecution: []corev1.PodAffinityTerm{{LabelSelector: s, TopologyKey: key}}}
	}
}

func Apart(key string, s *metav1.LabelSelector, change ...func(*corev1.PodAffinityTerm)) PodOption {
	return func(p *corev1.Pod) {
		t := corev1.PodAffinityTerm{LabelSelector: s, TopologyKey: key}
		for _, c := range change {
			c(&t)
		}
		AffinityOf(p).PodAntiAffinity = &corev1.PodAntiAffinity{RequiredDuringSchedulingIgnoredDuringExecution: []corev1.PodAffinityTerm{t}}
	}
}

func Preferring(weight int32, key string, s *metav1.LabelSelector) PodOption {
	return func(p *corev1.Pod) {
		term := corev1.PodAffinityTerm{LabelSelector: s, TopologyKey: key}
		if weight > 0 {
			AffinityOf(p).PodAffinity = &corev1.PodAffinity{PreferredDuringSchedulingIgnoredDuringExecution: []corev1.WeightedPodAffinityTerm{{Weight: weight, PodAffinityTerm: term}}}
		} else {
			AffinityOf(p).PodAntiAffinity = &corev1.PodAntiAffinity{PreferredDuringSchedulingIgnoredDuringExecution: []corev1.WeightedPodAffinityTerm{{Weight: -weight, PodAffinityTerm: term}}}
		}
	}
}

func Spread(key string, skew int32, when corev1.UnsatisfiableConstraintAction, s *metav1.LabelSelector) PodOption {
	return func(p *corev1.Pod) {
		p.Spec.TopologySpreadConstraints = append(p.Spec.TopologySpreadConstraints, corev1.TopologySpreadConstraint{
			MaxSkew: skew, TopologyKey: key, WhenUnsatisfiable: when, LabelSelector: s,
		})
	}
}

func UsingHostPort(port int32) PodOption {
	return func(p *corev1.Pod) {
		p.Spec.Containers[0].Ports = []corev1.ContainerPort{{HostPort: port, ContainerPort: port}}
	}
}

func Mounting(claim string) PodOption {
	return func(p *corev1.Pod) {
		p.Spec.Volumes = append(p.Spec.Volumes, corev1.Volume{Name: claim, VolumeSource: corev1.VolumeSource{
			PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: claim}}})
	}
}

func WithDisk(id string) PodOption {
	return func(p *corev1.Pod) {
		p.Spec.Volumes = append(p.Spec.Volumes, corev1.Volume{Name: id, VolumeSource: corev1.VolumeSource{
			AWSElasticBlockStore: &corev1.AWSElasticBlockStoreVolumeSource{VolumeID: id}}})
	}
}

func OwnedBy(kind, name string) PodOption {
	return func(p *corev1.Pod) {
		yes := true
		p.OwnerReferences = []metav1.OwnerReference{{APIVersion: "apps/v1", Kind: kind, Name: name, UID: types.UID(name), Controller: &yes}}
	}
}

// NewCluster returns a cluster of the nodes and of the pods, which name their nodes.
func NewCluster(o *Objects, nodes []*corev1.Node, pods ...*corev1.Pod) *cache.Cluster {
	if o == nil {
		o = &Objects{}
	}
	c := cache.NewCluster(o)
	for _, n := range nodes {
		c.SetNode(n)
	}
	for _, p := range pods {
		c.AddPod(cache.NewPodInfo(p), p.Spec.NodeName)
	}
	return c
}

func Nodes(n int, options ...NodeOption) (all []*corev1.Node) {
	for i := range n {
		all = append(all, Node(fmt.Sprintf("n%d", i+1), options...))
	}
	return all
}

// ServiceSelecting returns a service that selects by one pair.
func ServiceSelecting(key, value string) []*corev1.Service {
	return []*corev1.Service{{Spec: corev1.ServiceSpec{Selector: map[string]string{key: value}}}}
}
