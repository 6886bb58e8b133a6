package scheduler

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
)

// fakeObjects is Objects as tables.
type fakeObjects struct {
	namespaces map[string]map[string]string
	services   []*corev1.Service
	owners     map[string]*metav1.LabelSelector
	budgets    []*policyv1.PodDisruptionBudget
	claims     map[string]*corev1.PersistentVolumeClaim
	volumes    map[string]*corev1.PersistentVolume
	classes    map[string]*storagev1.StorageClass
	csiNodes   map[string]*storagev1.CSINode
	drivers    map[string]*storagev1.CSIDriver
	attached   []*storagev1.VolumeAttachment
	capacities []*storagev1.CSIStorageCapacity
}

func (f *fakeObjects) NamespaceLabels(name string) map[string]string        { return f.namespaces[name] }
func (f *fakeObjects) Services(string, map[string]string) []*corev1.Service { return f.services }
func (f *fakeObjects) OwnerSelector(ns string, o *metav1.OwnerReference) *metav1.LabelSelector {
	return f.owners[o.Name]
}
func (f *fakeObjects) Budgets(ns string) []*policyv1.PodDisruptionBudget { return f.budgets }
func (f *fakeObjects) Claim(ns, name string) (*corev1.PersistentVolumeClaim, bool) {
	c, ok := f.claims[name]
	return c, ok
}
func (f *fakeObjects) Volume(name string) (*corev1.PersistentVolume, bool) {
	v, ok := f.volumes[name]
	return v, ok
}
func (f *fakeObjects) Volumes(string) []*corev1.PersistentVolume {
	return slices.SortedFunc(maps.Values(f.volumes), func(a, b *corev1.PersistentVolume) int { return cmp.Compare(a.Name, b.Name) })
}
func (f *fakeObjects) Class(name string) (*storagev1.StorageClass, bool) {
	c, ok := f.classes[name]
	return c, ok
}
func (f *fakeObjects) CSINode(name string) (*storagev1.CSINode, bool) {
	n, ok := f.csiNodes[name]
	return n, ok
}
func (f *fakeObjects) CSIDriver(name string) (*storagev1.CSIDriver, bool) {
	d, ok := f.drivers[name]
	return d, ok
}
func (f *fakeObjects) Attachments(node string) []*storagev1.VolumeAttachment {
	return slices.DeleteFunc(slices.Clone(f.attached), func(a *storagev1.VolumeAttachment) bool { return a.Spec.NodeName != node })
}
func (f *fakeObjects) Capacities(class string) []*storagev1.CSIStorageCapacity {
	return slices.DeleteFunc(slices.Clone(f.capacities), func(s *storagev1.CSIStorageCapacity) bool { return s.StorageClassName != class })
}
func (f *fakeObjects) BindVolumes(context.Context, *corev1.Node, []volumeChoice) error { return nil }

type nodeOption func(*corev1.Node)

// newNode has 4 CPUs, 8Gi and 10 pods, is ready, and is labeled with its name.
func newNode(name string, options ...nodeOption) *corev1.Node {
	n := &corev1.Node{
		ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{corev1.LabelHostname: name}},
		Status: corev1.NodeStatus{
			Allocatable: quantities("cpu", "4", "memory", "8Gi", "pods", "10"),
			Conditions:  []corev1.NodeCondition{{Type: corev1.NodeReady, Status: corev1.ConditionTrue}},
		},
	}
	for _, o := range options {
		o(n)
	}
	return n
}

func quantities(pairs ...string) corev1.ResourceList {
	l := corev1.ResourceList{}
	for i := 0; i < len(pairs); i += 2 {
		l[corev1.ResourceName(pairs[i])] = resource.MustParse(pairs[i+1])
	}
	return l
}

func labeled(pairs ...string) nodeOption {
	return func(n *corev1.Node) {
		for i := 0; i < len(pairs); i += 2 {
			n.Labels[pairs[i]] = pairs[i+1]
		}
	}
}

func zone(z string) nodeOption { return labeled(corev1.LabelTopologyZone, z) }

func tainted(key string, effect corev1.TaintEffect) nodeOption {
	return func(n *corev1.Node) { n.Spec.Taints = append(n.Spec.Taints, corev1.Taint{Key: key, Effect: effect}) }
}

func allocatable(pairs ...string) nodeOption {
	return func(n *corev1.Node) {
		for name, q := range quantities(pairs...) {
			n.Status.Allocatable[name] = q
		}
	}
}

func having(image string, size int64) nodeOption {
	return func(n *corev1.Node) {
		n.Status.Images = append(n.Status.Images, corev1.ContainerImage{Names: []string{image}, SizeBytes: size})
	}
}

type podOption func(*corev1.Pod)

func newPod(name string, options ...podOption) *corev1.Pod {
	p := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name, UID: types.UID(name), Generation: 1},
		Spec:       corev1.PodSpec{SchedulerName: "default-scheduler", Containers: []corev1.Container{{Name: "c"}}},
	}
	for _, o := range options {
		o(p)
	}
	return p
}

func on(node string) podOption { return func(p *corev1.Pod) { p.Spec.NodeName = node } }

func in(ns string) podOption { return func(p *corev1.Pod) { p.Namespace = ns } }

func with(pairs ...string) podOption {
	return func(p *corev1.Pod) {
		p.Labels = map[string]string{}
		for i := 0; i < len(pairs); i += 2 {
			p.Labels[pairs[i]] = pairs[i+1]
		}
	}
}

func asking(pairs ...string) podOption {
	return func(p *corev1.Pod) { p.Spec.Containers[0].Resources.Requests = quantities(pairs...) }
}

func priority(v int32) podOption { return func(p *corev1.Pod) { p.Spec.Priority = &v } }

func tolerating(key string) podOption {
	return func(p *corev1.Pod) {
		p.Spec.Tolerations = append(p.Spec.Tolerations, corev1.Toleration{Key: key, Operator: corev1.TolerationOpExists})
	}
}

func selecting(pairs ...string) *metav1.LabelSelector {
	s := &metav1.LabelSelector{MatchLabels: map[string]string{}}
	for i := 0; i < len(pairs); i += 2 {
		s.MatchLabels[pairs[i]] = pairs[i+1]
	}
	return s
}

func affinityOf(p *corev1.Pod) *corev1.Affinity {
	if p.Spec.Affinity == nil {
		p.Spec.Affinity = &corev1.Affinity{}
	}
	return p.Spec.Affinity
}

func beside(key string, s *metav1.LabelSelector) podOption {
	return func(p *corev1.Pod) {
		affinityOf(p).PodAffinity = &corev1.PodAffinity{RequiredDuringSchedulingIgnoredDuringExecution: []corev1.PodAffinityTerm{{LabelSelector: s, TopologyKey: key}}}
	}
}

func apart(key string, s *metav1.LabelSelector, change ...func(*corev1.PodAffinityTerm)) podOption {
	return func(p *corev1.Pod) {
		t := corev1.PodAffinityTerm{LabelSelector: s, TopologyKey: key}
		for _, c := range change {
			c(&t)
		}
		affinityOf(p).PodAntiAffinity = &corev1.PodAntiAffinity{RequiredDuringSchedulingIgnoredDuringExecution: []corev1.PodAffinityTerm{t}}
	}
}

func rather(weight int32, key string, s *metav1.LabelSelector) podOption {
	return func(p *corev1.Pod) {
		term := corev1.PodAffinityTerm{LabelSelector: s, TopologyKey: key}
		if weight > 0 {
			affinityOf(p).PodAffinity = &corev1.PodAffinity{PreferredDuringSchedulingIgnoredDuringExecution: []corev1.WeightedPodAffinityTerm{{Weight: weight, PodAffinityTerm: term}}}
		} else {
			affinityOf(p).PodAntiAffinity = &corev1.PodAntiAffinity{PreferredDuringSchedulingIgnoredDuringExecution: []corev1.WeightedPodAffinityTerm{{Weight: -weight, PodAffinityTerm: term}}}
		}
	}
}

func spread(key string, skew int32, when corev1.UnsatisfiableConstraintAction, s *metav1.LabelSelector) podOption {
	return func(p *corev1.Pod) {
		p.Spec.TopologySpreadConstraints = append(p.Spec.TopologySpreadConstraints, corev1.TopologySpreadConstraint{
			MaxSkew: skew, TopologyKey: key, WhenUnsatisfiable: when, LabelSelector: s,
		})
	}
}

func hostPortOf(port int32) podOption {
	return func(p *corev1.Pod) {
		p.Spec.Containers[0].Ports = []corev1.ContainerPort{{HostPort: port, ContainerPort: port}}
	}
}

func mounting(claim string) podOption {
	return func(p *corev1.Pod) {
		p.Spec.Volumes = append(p.Spec.Volumes, corev1.Volume{Name: claim, VolumeSource: corev1.VolumeSource{
			PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: claim}}})
	}
}

func disk(id string) podOption {
	return func(p *corev1.Pod) {
		p.Spec.Volumes = append(p.Spec.Volumes, corev1.Volume{Name: id, VolumeSource: corev1.VolumeSource{
			AWSElasticBlockStore: &corev1.AWSElasticBlockStoreVolumeSource{VolumeID: id}}})
	}
}

func owned(kind, name string) podOption {
	return func(p *corev1.Pod) {
		yes := true
		p.OwnerReferences = []metav1.OwnerReference{{APIVersion: "apps/v1", Kind: kind, Name: name, UID: types.UID(name), Controller: &yes}}
	}
}

// newCluster has the nodes and the pods that name a node.
func newCluster(o *fakeObjects, nodes []*corev1.Node, pods ...*corev1.Pod) *Cluster {
	if o == nil {
		o = &fakeObjects{}
	}
	c := NewCluster(o)
	for _, n := range nodes {
		c.SetNode(n)
	}
	for _, p := range pods {
		c.AddPod(NewPodInfo(p), p.Spec.NodeName)
	}
	return c
}

func nodes(n int, options ...nodeOption) (all []*corev1.Node) {
	for i := range n {
		all = append(all, newNode(fmt.Sprintf("n%d", i+1), options...))
	}
	return all
}

// service selects by one pair.
func service(key, value string) []*corev1.Service {
	return []*corev1.Service{{Spec: corev1.ServiceSpec{Selector: map[string]string{key: value}}}}
}
