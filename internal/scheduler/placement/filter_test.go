package placement

import (
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"fairlead.dev/internal/scheduler/cache"
	"fairlead.dev/internal/scheduler/config"
	st "fairlead.dev/internal/scheduler/schedulertest"
	"fairlead.dev/internal/scheduler/volumes"
)

// TestFilters places one pod and looks at where it could have gone, or at why not.
func TestFilters(t *testing.T) {
	host := corev1.LabelHostname
	zoned := []*corev1.Node{st.Node("a1", st.InZone("a")), st.Node("a2", st.InZone("a")), st.Node("b1", st.InZone("b"))}
	hard := corev1.DoNotSchedule
	web := st.WithLabels("app", "web")
	isWeb := st.Selecting("app", "web")
	required := func(terms ...corev1.NodeSelectorTerm) st.PodOption {
		return func(p *corev1.Pod) {
			st.AffinityOf(p).NodeAffinity = &corev1.NodeAffinity{RequiredDuringSchedulingIgnoredDuringExecution: &corev1.NodeSelector{NodeSelectorTerms: terms}}
		}
	}
	expr := func(key string, op corev1.NodeSelectorOperator, values ...string) corev1.NodeSelectorTerm {
		return corev1.NodeSelectorTerm{MatchExpressions: []corev1.NodeSelectorRequirement{{Key: key, Operator: op, Values: values}}}
	}
	field := func(op corev1.NodeSelectorOperator, values ...string) corev1.NodeSelectorTerm {
		return corev1.NodeSelectorTerm{MatchFields: []corev1.NodeSelectorRequirement{{Key: "metadata.name", Operator: op, Values: values}}}
	}
	done := metav1.ObjectMeta{Annotations: map[string]string{volumes.AnnBindCompleted: "yes"}}
	gigs := func(size string) corev1.VolumeResourceRequirements {
		return corev1.VolumeResourceRequirements{Requests: st.Quantities("storage", size)}
	}
	free := func(name, size string, where corev1.NodeSelectorTerm) *corev1.PersistentVolume {
		return &corev1.PersistentVolume{
			ObjectMeta: metav1.ObjectMeta{Name: name},
			Spec: corev1.PersistentVolumeSpec{StorageClassName: "late", Capacity: st.Quantities("storage", size),
				NodeAffinity: &corev1.VolumeNodeAffinity{Required: &corev1.NodeSelector{NodeSelectorTerms: []corev1.NodeSelectorTerm{where}}}},
			Status: corev1.PersistentVolumeStatus{Phase: corev1.VolumeAvailable},
		}
	}
	claims := &st.Objects{
		Claims: map[string]*corev1.PersistentVolumeClaim{
			"bound":    {ObjectMeta: done, Spec: corev1.PersistentVolumeClaimSpec{VolumeName: "pv-b"}},
			"once":     {ObjectMeta: done, Spec: corev1.PersistentVolumeClaimSpec{VolumeName: "pv-b", AccessModes: []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOncePod}}},
			"local":    {ObjectMeta: done, Spec: corev1.PersistentVolumeClaimSpec{VolumeName: "pv-local"}},
			"orphan":   {ObjectMeta: done, Spec: corev1.PersistentVolumeClaimSpec{VolumeName: "none"}},
			"unbound":  {},
			"late":     {ObjectMeta: metav1.ObjectMeta{Name: "late"}, Spec: corev1.PersistentVolumeClaimSpec{StorageClassName: new("late"), Resources: gigs("2Gi")}},
			"later":    {ObjectMeta: metav1.ObjectMeta{Name: "later"}, Spec: corev1.PersistentVolumeClaimSpec{StorageClassName: new("late"), Resources: gigs("1Gi")}},
			"large":    {ObjectMeta: metav1.ObjectMeta{Name: "large"}, Spec: corev1.PersistentVolumeClaimSpec{StorageClassName: new("late"), Resources: gigs("9Gi")}},
			"made":     {ObjectMeta: metav1.ObjectMeta{Name: "made"}, Spec: corev1.PersistentVolumeClaimSpec{StorageClassName: new("made")}},
			"made-b":   {ObjectMeta: metav1.ObjectMeta{Name: "made-b"}, Spec: corev1.PersistentVolumeClaimSpec{StorageClassName: new("made-b")}},
			"selected": {ObjectMeta: metav1.ObjectMeta{Name: "selected", Annotations: map[string]string{volumes.AnnSelectedNode: "a2"}}, Spec: corev1.PersistentVolumeClaimSpec{StorageClassName: new("made")}},
		},
		PersistentVolumes: map[string]*corev1.PersistentVolume{
			"free-1": free("free-1", "2Gi", expr(corev1.LabelTopologyZone, corev1.NodeSelectorOpIn, "a")),
			"free-2": free("free-2", "1Gi", expr(host, corev1.NodeSelectorOpIn, "a1")),
			"pv-b":   {ObjectMeta: metav1.ObjectMeta{Labels: map[string]string{corev1.LabelTopologyZone: "b"}}},
			"pv-local": {Spec: corev1.PersistentVolumeSpec{NodeAffinity: &corev1.VolumeNodeAffinity{Required: &corev1.NodeSelector{
				NodeSelectorTerms: []corev1.NodeSelectorTerm{expr(host, corev1.NodeSelectorOpIn, "a2")}}}}},
		},
		Classes: map[string]*storagev1.StorageClass{
			"late":   {Provisioner: volumes.NoProvisioner, VolumeBindingMode: new(storagev1.VolumeBindingWaitForFirstConsumer)},
			"made":   {Provisioner: "disks", VolumeBindingMode: new(storagev1.VolumeBindingWaitForFirstConsumer)},
			"made-b": {Provisioner: "disks", VolumeBindingMode: new(storagev1.VolumeBindingWaitForFirstConsumer), AllowedTopologies: []corev1.TopologySelectorTerm{{MatchLabelExpressions: []corev1.TopologySelectorLabelRequirement{{Key: corev1.LabelTopologyZone, Values: []string{"b"}}}}}},
		},
		CSINodes: map[string]*storagev1.CSINode{"a1": {Spec: storagev1.CSINodeSpec{Drivers: []storagev1.CSINodeDriver{{Name: "disks", Allocatable: &storagev1.VolumeNodeResources{Count: new(int32(1))}}}}}},
	}

	wait := new(storagev1.VolumeBindingWaitForFirstConsumer)
	// The driver of these has room for 5Gi in zone a; one volume of it is attached to a1, which takes no more.
	rooms := &st.Objects{
		Claims: map[string]*corev1.PersistentVolumeClaim{
			"late":  {ObjectMeta: metav1.ObjectMeta{Name: "late"}, Spec: corev1.PersistentVolumeClaimSpec{StorageClassName: new("made"), Resources: gigs("5Gi")}},
			"large": {ObjectMeta: metav1.ObjectMeta{Name: "large"}, Spec: corev1.PersistentVolumeClaimSpec{StorageClassName: new("made"), Resources: gigs("6Gi")}},
			"on-a1": {ObjectMeta: metav1.ObjectMeta{Name: "on-a1", Annotations: map[string]string{volumes.AnnBindCompleted: ""}}, Spec: corev1.PersistentVolumeClaimSpec{VolumeName: "on-a1"}},
		},
		PersistentVolumes: map[string]*corev1.PersistentVolume{"on-a1": {Spec: corev1.PersistentVolumeSpec{PersistentVolumeSource: corev1.PersistentVolumeSource{
			CSI: &corev1.CSIPersistentVolumeSource{Driver: "disks", VolumeHandle: "1"}}}}},
		Classes:    map[string]*storagev1.StorageClass{"made": {ObjectMeta: metav1.ObjectMeta{Name: "made"}, Provisioner: "disks", VolumeBindingMode: wait}},
		CSIDrivers: map[string]*storagev1.CSIDriver{"disks": {Spec: storagev1.CSIDriverSpec{StorageCapacity: new(true)}}},
		AttachmentList: []*storagev1.VolumeAttachment{{Spec: storagev1.VolumeAttachmentSpec{
			Attacher: "disks", NodeName: "a1", Source: storagev1.VolumeAttachmentSource{PersistentVolumeName: new("on-a1")}}}},
		CapacityList: []*storagev1.CSIStorageCapacity{
			{StorageClassName: "made", Capacity: new(resource.MustParse("5Gi")), NodeTopology: &metav1.LabelSelector{MatchLabels: map[string]string{corev1.LabelTopologyZone: "a"}}},
			{StorageClassName: "made", Capacity: new(resource.MustParse("9Gi"))}, // nowhere
			{StorageClassName: "made", Capacity: new(resource.MustParse("9Gi")), MaximumVolumeSize: new(resource.MustParse("1Gi")), NodeTopology: &metav1.LabelSelector{}},
		},
		CSINodes: map[string]*storagev1.CSINode{"a1": {Spec: storagev1.CSINodeSpec{Drivers: []storagev1.CSINodeDriver{{Name: "disks", Allocatable: &storagev1.VolumeNodeResources{Count: new(int32(1))}}}}}},
	}
	lost := &st.Objects{Claims: map[string]*corev1.PersistentVolumeClaim{"p-v": {
		ObjectMeta: metav1.ObjectMeta{Name: "p-v", Annotations: map[string]string{volumes.AnnBindCompleted: ""}, OwnerReferences: []metav1.OwnerReference{{UID: "p", Controller: new(true)}}},
		Spec:       corev1.PersistentVolumeClaimSpec{VolumeName: "gone"},
	}}}

	for _, tc := range []struct {
		name    string
		objects *st.Objects
		nodes   []*corev1.Node
		there   []*corev1.Pod
		pod     *corev1.Pod
		fit     string // names of nodes, sorted
		err     string
	}{
		{name: "no nodes", pod: st.Pod("p"), err: "no nodes available to schedule pods"},
		{name: "anywhere", nodes: st.Nodes(2), pod: st.Pod("p"), fit: "n1 n2"},

		{name: "cpu", nodes: st.Nodes(3), pod: st.Pod("p", st.Requesting("cpu", "5")), err: "0/3 nodes are available: 3 Insufficient cpu."},
		{name: "cpu taken", nodes: st.Nodes(2), there: []*corev1.Pod{st.Pod("q", st.On("n1"), st.Requesting("cpu", "3"))},
			pod: st.Pod("p", st.Requesting("cpu", "2")), fit: "n2"},
		{name: "several resources", nodes: st.Nodes(2), pod: st.Pod("p", st.Requesting("cpu", "5", "memory", "9Gi", "example.com/gpu", "1")),
			err: "0/2 nodes are available: 2 Insufficient cpu, 2 Insufficient example.com/gpu, 2 Insufficient memory."},
		{name: "extended resource", nodes: []*corev1.Node{st.Node("n1"), st.Node("n2", st.Allocatable("example.com/gpu", "2"))},
			there: []*corev1.Pod{st.Pod("q", st.On("n2"), st.Requesting("example.com/gpu", "1"))},
			pod:   st.Pod("p", st.Requesting("example.com/gpu", "1")), fit: "n2"},
		{name: "ephemeral storage", nodes: []*corev1.Node{st.Node("n1"), st.Node("n2", st.Allocatable("ephemeral-storage", "1Gi"))},
			pod: st.Pod("p", st.Requesting("ephemeral-storage", "1Gi")), fit: "n2"},
		{name: "number of pods", nodes: []*corev1.Node{st.Node("n1", st.Allocatable("pods", "1"))}, there: []*corev1.Pod{st.Pod("q", st.On("n1"))},
			pod: st.Pod("p"), err: "0/1 nodes are available: 1 Too many pods."},

		{name: "cordoned", nodes: st.Nodes(1, func(n *corev1.Node) { n.Spec.Unschedulable = true }),
			pod: st.Pod("p"), err: "0/1 nodes are available: 1 node(s) were unschedulable."},
		{name: "cordon tolerated", nodes: st.Nodes(1, func(n *corev1.Node) { n.Spec.Unschedulable = true }),
			pod: st.Pod("p", st.Tolerating(corev1.TaintNodeUnschedulable)), fit: "n1"},
		{name: "taint", nodes: st.Nodes(1, st.Tainted("gpu", corev1.TaintEffectNoSchedule)),
			pod: st.Pod("p"), err: "0/1 nodes are available: 1 node(s) had untolerated taint(s)."},
		{name: "NoExecute taint", nodes: st.Nodes(1, st.Tainted("gpu", corev1.TaintEffectNoExecute)),
			pod: st.Pod("p"), err: "0/1 nodes are available: 1 node(s) had untolerated taint(s)."},
		{name: "taint tolerated", nodes: st.Nodes(1, st.Tainted("gpu", corev1.TaintEffectNoSchedule)), pod: st.Pod("p", st.Tolerating("gpu")), fit: "n1"},
		{name: "mild taint", nodes: st.Nodes(1, st.Tainted("gpu", corev1.TaintEffectPreferNoSchedule)), pod: st.Pod("p"), fit: "n1"},
		{name: "not ready", nodes: st.Nodes(1, func(n *corev1.Node) { n.Status.Conditions[0].Status = corev1.ConditionFalse }),
			pod: st.Pod("p"), err: "0/1 nodes are available: 1 node(s) had untolerated taint(s)."},
		{name: "not ready, tolerated", nodes: st.Nodes(1, func(n *corev1.Node) { n.Status.Conditions[0].Status = corev1.ConditionFalse }),
			pod: st.Pod("p", st.Tolerating(corev1.TaintNodeNotReady)), fit: "n1"},
		{name: "never reported", nodes: st.Nodes(1, func(n *corev1.Node) { n.Status.Conditions = nil }), pod: st.Pod("p"), fit: "n1"},

		{name: "node selector", nodes: zoned, pod: st.Pod("p", func(p *corev1.Pod) { p.Spec.NodeSelector = map[string]string{corev1.LabelTopologyZone: "a"} }), fit: "a1 a2"},
		{name: "node affinity", nodes: zoned, pod: st.Pod("p", required(expr(host, corev1.NodeSelectorOpNotIn, "a1", "b1"))), fit: "a2"},
		{name: "node affinity: one of the terms", nodes: zoned, pod: st.Pod("p", required(expr(host, corev1.NodeSelectorOpIn, "a1"), field(corev1.NodeSelectorOpIn, "b1"))), fit: "a1 b1"},
		{name: "node affinity: empty term", nodes: zoned, pod: st.Pod("p", required(corev1.NodeSelectorTerm{})),
			err: "0/3 nodes are available: 3 node(s) didn't match Pod's node affinity/selector."},
		{name: "node affinity: name", nodes: zoned, pod: st.Pod("p", required(field(corev1.NodeSelectorOpIn, "b1"))), fit: "b1"},
		{name: "node affinity: names in every term", nodes: zoned, pod: st.Pod("p", required(field(corev1.NodeSelectorOpIn, "b1", "none"), field(corev1.NodeSelectorOpIn, "a1"))), fit: "a1 b1"},
		{name: "node affinity: of the other nodes nothing is asked", nodes: []*corev1.Node{st.Node("n1", st.Tainted("x", corev1.TaintEffectNoSchedule)), st.Node("n2"), st.Node("n3")},
			pod: st.Pod("p", required(field(corev1.NodeSelectorOpIn, "n2")), st.Requesting("cpu", "9")),
			err: "0/3 nodes are available: 1 Insufficient cpu, 2 node(s) didn't satisfy plugin(s) [NodeAffinity]."},
		{name: "node affinity: nobody of that name", nodes: zoned, pod: st.Pod("p", required(field(corev1.NodeSelectorOpIn, "none"))),
			err: "0/3 nodes are available: 3 node(s) didn't satisfy plugin(s) [NodeAffinity]."},
		{name: "node affinity: names that contradict", nodes: zoned,
			pod: st.Pod("p", required(corev1.NodeSelectorTerm{MatchFields: []corev1.NodeSelectorRequirement{
				{Key: "metadata.name", Operator: corev1.NodeSelectorOpIn, Values: []string{"a1"}}, {Key: "metadata.name", Operator: corev1.NodeSelectorOpIn, Values: []string{"b1"}}}})),
			err: "0/3 nodes are available: pod affinity terms conflict."},
		{name: "node affinity: greater", nodes: []*corev1.Node{st.Node("n1", st.Labeled("disks", "2")), st.Node("n2", st.Labeled("disks", "12"))},
			pod: st.Pod("p", required(expr("disks", corev1.NodeSelectorOpGt, "9"))), fit: "n2"},
		{name: "selector and affinity differ", nodes: zoned,
			pod: st.Pod("p", required(field(corev1.NodeSelectorOpIn, "b1")), func(p *corev1.Pod) { p.Spec.NodeSelector = map[string]string{corev1.LabelTopologyZone: "a"} }),
			err: "0/3 nodes are available: 1 node(s) didn't match Pod's node affinity/selector, 2 node(s) didn't satisfy plugin(s) [NodeAffinity]."},
		{name: "unreadable rule", nodes: zoned, pod: st.Pod("p", required(expr("x", "Near", "y"))),
			err: `0/3 nodes are available: parsing pod: "Near" is not a valid node selector operator.`},

		{name: "host port", nodes: st.Nodes(2), there: []*corev1.Pod{st.Pod("q", st.On("n1"), st.UsingHostPort(80))}, pod: st.Pod("p", st.UsingHostPort(80)), fit: "n2"},
		{name: "host port free", nodes: st.Nodes(1), there: []*corev1.Pod{st.Pod("q", st.On("n1"), st.UsingHostPort(80))}, pod: st.Pod("p", st.UsingHostPort(81)), fit: "n1"},
		{name: "host port taken", nodes: st.Nodes(1), there: []*corev1.Pod{st.Pod("q", st.On("n1"), st.UsingHostPort(80))}, pod: st.Pod("p", st.UsingHostPort(80)),
			err: "0/1 nodes are available: 1 node(s) didn't have free ports for the requested pod ports."},

		{name: "anti-affinity", nodes: zoned, there: []*corev1.Pod{st.Pod("q", st.On("a1"), web)}, pod: st.Pod("p", st.Apart(host, isWeb)), fit: "a2 b1"},
		{name: "anti-affinity by zone", nodes: zoned, there: []*corev1.Pod{st.Pod("q", st.On("a1"), web)}, pod: st.Pod("p", st.Apart(corev1.LabelTopologyZone, isWeb)), fit: "b1"},
		{name: "anti-affinity, other namespace", nodes: zoned, there: []*corev1.Pod{st.Pod("q", st.InNamespace("other"), st.On("a1"), web)}, pod: st.Pod("p", st.Apart(host, isWeb)), fit: "a1 a2 b1"},
		{name: "anti-affinity, namespace named", nodes: zoned, there: []*corev1.Pod{st.Pod("q", st.InNamespace("other"), st.On("a1"), web)},
			pod: st.Pod("p", st.Apart(host, isWeb, func(t *corev1.PodAffinityTerm) { t.Namespaces = []string{"other"} })), fit: "a2 b1"},
		{name: "anti-affinity, namespace selected", nodes: zoned, there: []*corev1.Pod{st.Pod("q", st.InNamespace("other"), st.On("a1"), web)},
			objects: &st.Objects{NamespaceLabelsByName: map[string]map[string]string{"other": {"team": "x"}}},
			pod:     st.Pod("p", st.Apart(host, isWeb, func(t *corev1.PodAffinityTerm) { t.NamespaceSelector = st.Selecting("team", "x") })), fit: "a2 b1"},
		{name: "anti-affinity of those there", nodes: zoned, there: []*corev1.Pod{st.Pod("q", st.On("a1"), st.Apart(corev1.LabelTopologyZone, isWeb))}, pod: st.Pod("p", web), fit: "b1"},
		{name: "anti-affinity of those there, everywhere", nodes: st.Nodes(1), there: []*corev1.Pod{st.Pod("q", st.On("n1"), st.Apart(host, isWeb))}, pod: st.Pod("p", web),
			err: "0/1 nodes are available: 1 node(s) didn't satisfy existing pods anti-affinity rules."},
		{name: "anti-affinity nowhere", nodes: st.Nodes(1), there: []*corev1.Pod{st.Pod("q", st.On("n1"), web)}, pod: st.Pod("p", st.Apart(host, isWeb)),
			err: "0/1 nodes are available: 1 node(s) didn't match pod anti-affinity rules."},
		{name: "affinity", nodes: zoned, there: []*corev1.Pod{st.Pod("q", st.On("a1"), web)}, pod: st.Pod("p", st.Beside(corev1.LabelTopologyZone, isWeb)), fit: "a1 a2"},
		{name: "affinity to none", nodes: zoned, pod: st.Pod("p", st.Beside(corev1.LabelTopologyZone, isWeb)),
			err: "0/3 nodes are available: 3 node(s) didn't match pod affinity rules."},
		{name: "affinity to itself", nodes: zoned, pod: st.Pod("p", web, st.Beside(corev1.LabelTopologyZone, isWeb)), fit: "a1 a2 b1"},
		{name: "affinity to itself needs the key", nodes: append(st.Nodes(1), zoned...), pod: st.Pod("p", web, st.Beside(corev1.LabelTopologyZone, isWeb)), fit: "a1 a2 b1"},

		{name: "spread", nodes: zoned, there: []*corev1.Pod{st.Pod("q", st.On("a1"), web)}, pod: st.Pod("p", web, st.Spread(corev1.LabelTopologyZone, 1, hard, isWeb)), fit: "b1"},
		{name: "spread within skew", nodes: zoned, there: []*corev1.Pod{st.Pod("q", st.On("a1"), web)}, pod: st.Pod("p", web, st.Spread(corev1.LabelTopologyZone, 2, hard, isWeb)), fit: "a1 a2 b1"},
		{name: "spread by host", nodes: zoned, there: []*corev1.Pod{st.Pod("q", st.On("a1"), web), st.Pod("r", st.On("b1"), web)}, pod: st.Pod("p", web, st.Spread(host, 1, hard, isWeb)), fit: "a2"},
		{name: "spread, two rules", nodes: zoned, there: []*corev1.Pod{st.Pod("q", st.On("a1"), web), st.Pod("r", st.On("b1"), web), st.Pod("s", st.On("b1"), web)},
			pod: st.Pod("p", web, st.Spread(corev1.LabelTopologyZone, 1, hard, isWeb), st.Spread(host, 1, hard, isWeb)), fit: "a2"},
		{name: "spread without key", nodes: st.Nodes(1), pod: st.Pod("p", web, st.Spread(corev1.LabelTopologyZone, 1, hard, isWeb)),
			err: "0/1 nodes are available: 1 node(s) didn't match pod topology spread constraints (missing required label)."},
		{name: "spread over too few domains", nodes: zoned, there: []*corev1.Pod{st.Pod("q", st.On("a1"), web), st.Pod("r", st.On("b1"), web)},
			pod: st.Pod("p", web, st.Spread(corev1.LabelTopologyZone, 1, hard, isWeb), func(p *corev1.Pod) { p.Spec.TopologySpreadConstraints[0].MinDomains = new(int32(3)) }),
			err: "0/3 nodes are available: 3 node(s) didn't match pod topology spread constraints."},
		{name: "spread counts only admitted nodes", nodes: zoned, there: []*corev1.Pod{st.Pod("q", st.On("a1"), web)},
			pod: st.Pod("p", web, st.Spread(corev1.LabelTopologyZone, 1, hard, isWeb), func(p *corev1.Pod) { p.Spec.NodeSelector = map[string]string{corev1.LabelTopologyZone: "a"} }), fit: "a1 a2"},
		{name: "spread ignores the dying", nodes: zoned, there: []*corev1.Pod{st.Pod("q", st.On("a1"), web, func(p *corev1.Pod) { p.DeletionTimestamp = &metav1.Time{} })},
			pod: st.Pod("p", web, st.Spread(corev1.LabelTopologyZone, 1, hard, isWeb)), fit: "a1 a2 b1"},
		{name: "spread by label key", nodes: zoned, there: []*corev1.Pod{st.Pod("q", st.On("a1"), st.WithLabels("app", "web", "v", "1"))},
			pod: st.Pod("p", st.WithLabels("app", "web", "v", "2"), st.Spread(corev1.LabelTopologyZone, 1, hard, isWeb), func(p *corev1.Pod) {
				p.Spec.TopologySpreadConstraints[0].MatchLabelKeys = []string{"v"}
			}), fit: "a1 a2 b1"},

		{name: "volume in a zone", objects: claims, nodes: zoned, pod: st.Pod("p", st.Mounting("bound")), fit: "b1"},
		{name: "volume of a node", objects: claims, nodes: zoned, pod: st.Pod("p", st.Mounting("local")), fit: "a2"},
		{name: "volumes that no node reaches", objects: claims, nodes: zoned, pod: st.Pod("p", st.Mounting("local"), st.Mounting("bound")),
			err: "0/3 nodes are available: 1 node(s) had no available volume zone, 2 node(s) didn't match PersistentVolume's node affinity."},
		{name: "no such claim", objects: claims, nodes: zoned, pod: st.Pod("p", st.Mounting("x")), err: `0/3 nodes are available: persistentvolumeclaim "x" not found.`},
		{name: "unbound claim", objects: claims, nodes: zoned, pod: st.Pod("p", st.Mounting("unbound")), err: "0/3 nodes are available: pod has unbound immediate PersistentVolumeClaims."},
		{name: "late: a free volume", objects: claims, nodes: zoned, pod: st.Pod("p", st.Mounting("late")), fit: "a1 a2"},
		{name: "late: two free volumes", objects: claims, nodes: zoned, pod: st.Pod("p", st.Mounting("late"), st.Mounting("later")), fit: "a1"},
		{name: "late: none free", objects: claims, nodes: zoned, pod: st.Pod("p", st.Mounting("large")),
			err: "0/3 nodes are available: 3 node(s) didn't find available persistent volumes to bind."},
		{name: "late: to be made, of a driver that is full on one node", objects: claims, nodes: zoned, there: []*corev1.Pod{st.Pod("q", st.On("a1"), st.Mounting("made-b"))},
			pod: st.Pod("p", st.Mounting("made")), fit: "a2 b1"},
		{name: "late: to be made in a zone", objects: claims, nodes: zoned, pod: st.Pod("p", st.Mounting("made-b")), fit: "b1"},
		{name: "late: being made on a node", objects: claims, nodes: zoned, pod: st.Pod("p", st.Mounting("selected")), fit: "a2"},
		{name: "a volume that is gone", objects: claims, nodes: zoned, pod: st.Pod("p", st.Mounting("orphan")),
			err: `0/3 nodes are available: persistentvolume "none" not found.`},
		{name: "an ephemeral volume that is gone", objects: lost, nodes: st.Nodes(1), pod: st.Pod("p", func(p *corev1.Pod) {
			p.Spec.Volumes = []corev1.Volume{{Name: "v", VolumeSource: corev1.VolumeSource{Ephemeral: &corev1.EphemeralVolumeSource{}}}}
		}), err: "0/1 nodes are available: 1 node(s) unavailable due to one or more pvc(s) bound to non-existent pv(s)."},
		{name: "late: to be made where there is room", objects: rooms, nodes: zoned, pod: st.Pod("p", st.Mounting("late")), fit: "a2"},
		{name: "late: no room anywhere", objects: rooms, nodes: zoned[1:], pod: st.Pod("p", st.Mounting("large")),
			err: "0/2 nodes are available: 2 node(s) did not have enough free storage."},
		{name: "limit of volumes, one of which is there", objects: rooms, nodes: zoned[:1], pod: st.Pod("p", st.Mounting("on-a1"), st.Mounting("late")),
			err: "0/1 nodes are available: 1 node(s) exceed max volume count."},
		{name: "a volume that is there already", objects: rooms, nodes: zoned, pod: st.Pod("p", st.Mounting("on-a1")), fit: "a1 a2 b1"},
		{name: "limit of volumes", objects: claims, nodes: zoned[:1], pod: st.Pod("p", st.Mounting("made"), st.Mounting("selected")),
			err: "0/1 nodes are available: 1 node(s) exceed max volume count."},
		{name: "disk in use", nodes: st.Nodes(2), there: []*corev1.Pod{st.Pod("q", st.On("n1"), st.WithDisk("d"))}, pod: st.Pod("p", st.WithDisk("d")), fit: "n2"},
		{name: "claim of an ephemeral volume", objects: claims, nodes: st.Nodes(1), pod: st.Pod("p", func(p *corev1.Pod) {
			p.Spec.Volumes = []corev1.Volume{{Name: "v", VolumeSource: corev1.VolumeSource{Ephemeral: &corev1.EphemeralVolumeSource{}}}}
		}), err: `0/1 nodes are available: waiting for ephemeral volume controller to create the persistentvolumeclaim "p-v".`},
		{name: "claim for one pod", objects: claims, nodes: zoned, there: []*corev1.Pod{st.Pod("q", st.On("b1"), st.Mounting("once"))}, pod: st.Pod("p", st.Mounting("once")),
			err: "0/3 nodes are available: 3 node(s) unavailable due to PersistentVolumeClaim with ReadWriteOncePod access mode already in-use by another pod."},

		{name: "resource claim", nodes: st.Nodes(1), pod: st.Pod("p", func(p *corev1.Pod) {
			p.Spec.ResourceClaims = []corev1.PodResourceClaim{{Name: "gpu", ResourceClaimName: ptr.To("gpu")}}
		}), err: `0/1 nodes are available: could not find ResourceClaim "default/gpu".`},

		{name: "reasons add up", nodes: []*corev1.Node{st.Node("n1", st.Tainted("x", corev1.TaintEffectNoSchedule)), st.Node("n2"), st.Node("n3")},
			pod: st.Pod("p", st.Requesting("cpu", "5")), err: "0/3 nodes are available: 1 node(s) had untolerated taint(s), 2 Insufficient cpu."},
	} {
		t.Run(tc.name, func(t *testing.T) {
			c := st.NewCluster(tc.objects, tc.nodes, tc.there...)
			fit, err := fitting(c, tc.pod)
			if got := strings.Join(fit, " "); got != tc.fit {
				t.Errorf("fits %q, want %q", got, tc.fit)
			}
			if msg := message(err); msg != tc.err {
				t.Errorf("error:\n got %s\nwant %s", msg, tc.err)
			}
		})
	}
}

func TestNamespaceLabelsChange(t *testing.T) {
	objects := &st.Objects{NamespaceLabelsByName: map[string]map[string]string{"other": {"team": "x"}}}
	c := st.NewCluster(objects, st.Nodes(1), st.Pod("q", st.InNamespace("other"), st.On("n1"), st.WithLabels("app", "web")))
	p := st.Pod("p", st.Apart(corev1.LabelHostname, st.Selecting("app", "web"), func(t *corev1.PodAffinityTerm) {
		t.NamespaceSelector = st.Selecting("team", "x")
	}))
	if fit, _ := fitting(c, p); fit != nil {
		t.Fatalf("fits %v beside a pod it avoids", fit)
	}
	objects.NamespaceLabelsByName["other"] = map[string]string{"team": "y"}
	c.NamespacesChanged()
	if _, err := fitting(c, p); err != nil {
		t.Fatal(err)
	}
}

func fitting(c *cache.Cluster, pod *corev1.Pod) (names []string, err error) {
	pl := Placer{Profile: config.DefaultProfile()}
	if _, err := pl.Place(c, cache.NewPodInfo(pod)); err != nil {
		return nil, err
	}
	for _, n := range pl.feasible {
		names = append(names, n.Node.Name)
	}
	slices.Sort(names)
	return names, nil
}

func message(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}
