package plugins

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"fairlead.dev/internal/scheduler/cache"
	"fairlead.dev/internal/scheduler/framework"
	st "fairlead.dev/internal/scheduler/schedulertest"
	"fairlead.dev/internal/scheduler/volumes"
)

// TestScores looks at the points that one score gives to each node, in order.
func TestScores(t *testing.T) {
	host, soft := corev1.LabelHostname, corev1.ScheduleAnyway
	zones := []*corev1.Node{st.Node("a1", st.InZone("a")), st.Node("a2", st.InZone("a")), st.Node("b1", st.InZone("b"))}
	web, isWeb := st.WithLabels("app", "web"), st.Selecting("app", "web")
	set := &st.Objects{OwnerSelectors: map[string]*metav1.LabelSelector{"web": isWeb}}
	service := &st.Objects{ServiceList: []*corev1.Service{{Spec: corev1.ServiceSpec{Selector: isWeb.MatchLabels}}}}
	preferring := func(weight int32, node string) st.PodOption {
		return func(p *corev1.Pod) {
			st.AffinityOf(p).NodeAffinity = &corev1.NodeAffinity{PreferredDuringSchedulingIgnoredDuringExecution: []corev1.PreferredSchedulingTerm{{
				Weight: weight, Preference: corev1.NodeSelectorTerm{MatchExpressions: []corev1.NodeSelectorRequirement{{Key: host, Operator: corev1.NodeSelectorOpIn, Values: []string{node}}}},
			}}}
		}
	}
	for _, tc := range []struct {
		name    string
		score   framework.Score
		objects *st.Objects
		nodes   []*corev1.Node
		there   []*corev1.Pod
		pod     *corev1.Pod
		want    []int64 // nil: all the same
	}{
		{name: "least allocated", score: Allocation{Resources: cpuAndMemory}, nodes: st.Nodes(2), there: []*corev1.Pod{st.Pod("q", st.On("n1"), st.Requesting("cpu", "2", "memory", "2Gi"))},
			pod: st.Pod("p", st.Requesting("cpu", "1", "memory", "1Gi")), want: []int64{(25 + 62) / 2, (75 + 87) / 2}},
		{name: "least allocated counts pods without requests", score: Allocation{Resources: cpuAndMemory}, nodes: st.Nodes(2), there: []*corev1.Pod{st.Pod("q", st.On("n1"))},
			pod: st.Pod("p"), want: []int64{(95 + 95) / 2, (97 + 97) / 2}},
		{name: "balanced", score: balanced{cpuAndMemory}, nodes: st.Nodes(2), there: []*corev1.Pod{st.Pod("q", st.On("n1"), st.Requesting("cpu", "2"))},
			pod: st.Pod("p", st.Requesting("memory", "4Gi")), want: []int64{50 + (50+100-75)/2, 50 + (50+75-100)/2}},
		{name: "balanced does not care about small pods", score: balanced{cpuAndMemory}, nodes: st.Nodes(2), pod: st.Pod("p")},
		{name: "most allocated", score: Allocation{Strategy: MostAllocated, Resources: cpuAndMemory}, nodes: st.Nodes(2), there: []*corev1.Pod{st.Pod("q", st.On("n1"), st.Requesting("cpu", "2", "memory", "2Gi"))},
			pod: st.Pod("p", st.Requesting("cpu", "1", "memory", "1Gi")), want: []int64{(75 + 37) / 2, (25 + 12) / 2}},
		{name: "along a curve", score: Allocation{Strategy: RequestedToCapacityRatio, Resources: cpuAndMemory[:1], Shape: framework.Shape{{Utilization: 0, Score: 0}, {Utilization: 50, Score: 100}, {Utilization: 100, Score: 50}}}, nodes: st.Nodes(2),
			there: []*corev1.Pod{st.Pod("q", st.On("n1"), st.Requesting("cpu", "2"))}, pod: st.Pod("p", st.Requesting("cpu", "1")), want: []int64{75, 50}},
		{name: "extended resources with weights", score: Allocation{Resources: []WeightedResource{{"cpu", 1}, {"example.com/gpu", 3}}}, nodes: []*corev1.Node{st.Node("n1", st.Allocatable("example.com/gpu", "4")), st.Node("n2")},
			pod: st.Pod("p", st.Requesting("cpu", "1", "example.com/gpu", "1")), want: []int64{75, 75}},
		{name: "images", score: imageLocality{}, nodes: []*corev1.Node{st.Node("n1", st.HavingImage("nginx:latest", 523<<20)), st.Node("n2")},
			pod: st.Pod("p", func(p *corev1.Pod) { p.Spec.Containers[0].Image = "nginx" }), want: []int64{24, 0}},
		{name: "images are as large as the first node says", score: imageLocality{}, nodes: []*corev1.Node{st.Node("n1", st.HavingImage("nginx:latest", 523<<20)), st.Node("n2", st.HavingImage("nginx:latest", 1<<30))},
			pod: st.Pod("p", func(p *corev1.Pod) { p.Spec.Containers[0].Image = "nginx" }), want: []int64{51, 51}},
		{name: "images that nobody has", score: imageLocality{}, nodes: []*corev1.Node{st.Node("n1", st.HavingImage("nginx:2", 523<<20)), st.Node("n2")},
			pod: st.Pod("p", func(p *corev1.Pod) { p.Spec.Containers[0].Image = "nginx" })},
		{name: "mild taints", score: taintScore{}, nodes: []*corev1.Node{st.Node("n1", st.Tainted("x", corev1.TaintEffectPreferNoSchedule)), st.Node("n2")},
			pod: st.Pod("p"), want: []int64{0, 100}},
		{name: "mild taints tolerated", score: taintScore{}, nodes: []*corev1.Node{st.Node("n1", st.Tainted("x", corev1.TaintEffectPreferNoSchedule)), st.Node("n2")},
			pod: st.Pod("p", st.Tolerating("x")), want: []int64{100, 100}},
		{name: "no mild taints", score: taintScore{}, nodes: st.Nodes(2), pod: st.Pod("p")},
		{name: "preferred node", score: nodeAffinityScore{}, nodes: st.Nodes(2), pod: st.Pod("p", preferring(7, "n2")), want: []int64{0, 100}},

		{name: "preferred pods", score: interPodScore{hardWeight: 1}, nodes: zones, there: []*corev1.Pod{st.Pod("q", st.On("a1"), web)},
			pod: st.Pod("p", st.Preferring(5, corev1.LabelTopologyZone, isWeb)), want: []int64{100, 100, 0}},
		{name: "avoided pods", score: interPodScore{hardWeight: 1}, nodes: zones, there: []*corev1.Pod{st.Pod("q", st.On("a1"), web)},
			pod: st.Pod("p", st.Preferring(-5, host, isWeb)), want: []int64{0, 100, 100}},
		{name: "pods that prefer this one", score: interPodScore{hardWeight: 1}, nodes: zones, there: []*corev1.Pod{st.Pod("q", st.On("b1"), st.Preferring(5, host, isWeb))},
			pod: st.Pod("p", web), want: []int64{0, 0, 100}},
		{name: "pods that require this one", score: interPodScore{hardWeight: 1}, nodes: zones, there: []*corev1.Pod{st.Pod("q", st.On("b1"), st.Beside(host, isWeb))},
			pod: st.Pod("p", web), want: []int64{0, 0, 100}},
		{name: "pods that require this one do not count", score: interPodScore{hardWeight: 0}, nodes: zones, there: []*corev1.Pod{st.Pod("q", st.On("b1"), st.Beside(host, isWeb))},
			pod: st.Pod("p", web)},
		{name: "pods that prefer this one do not count", score: interPodScore{ignoreExisting: true}, nodes: zones, there: []*corev1.Pod{st.Pod("q", st.On("b1"), st.Preferring(5, host, isWeb))},
			pod: st.Pod("p", web)},
		{name: "no preferences", score: interPodScore{hardWeight: 1}, nodes: zones, there: []*corev1.Pod{st.Pod("q", st.On("b1"), st.Apart(host, isWeb))}, pod: st.Pod("p", web)},

		{name: "spread, own rule", score: spreadScore{systemSpread}, nodes: zones, there: []*corev1.Pod{st.Pod("q", st.On("a1"), web), st.Pod("r", st.On("a1"), web)},
			pod: st.Pod("p", web, st.Spread(corev1.LabelTopologyZone, 1, soft, isWeb)), want: []int64{0, 0, 100}},
		{name: "spread, node without the key", score: spreadScore{systemSpread}, nodes: []*corev1.Node{st.Node("n1"), st.Node("a1", st.InZone("a"))},
			pod: st.Pod("p", web, st.Spread(corev1.LabelTopologyZone, 1, soft, isWeb)), want: []int64{0, 100}},
		{name: "spread, by owner", score: spreadScore{systemSpread}, objects: set, nodes: st.Nodes(2), there: []*corev1.Pod{st.Pod("q", st.On("n1"), web), st.Pod("r", st.On("n1"), web), st.Pod("s", st.On("n2"), web)},
			pod: st.Pod("p", web, st.OwnedBy("ReplicaSet", "web")), want: []int64{60, 100}},
		{name: "spread, by service", score: spreadScore{systemSpread}, objects: service, nodes: st.Nodes(2), there: []*corev1.Pod{st.Pod("q", st.On("n1"), web)},
			pod: st.Pod("p", web), want: []int64{66, 100}},
		{name: "spread, hard rules only", score: spreadScore{systemSpread}, objects: service, nodes: zones,
			pod: st.Pod("p", web, st.Spread(corev1.LabelTopologyZone, 1, corev1.DoNotSchedule, isWeb))},
		{name: "spread, alone", score: spreadScore{systemSpread}, nodes: st.Nodes(2), pod: st.Pod("p", web)},

		{name: "storage, most is free in zone a", score: volumes.Score{Shape: DefaultArgs().StorageShape}, objects: storage(), nodes: zones,
			pod: st.Pod("p", st.Mounting("made")), want: []int64{80, 80, 50}},
		{name: "storage, two claims of one capacity", score: volumes.Score{Shape: DefaultArgs().StorageShape}, objects: storage(), nodes: zones,
			pod: st.Pod("p", st.Mounting("made"), st.Mounting("made-2")), want: []int64{60, 60, 0}},
		{name: "storage, volumes that are there", score: volumes.Score{Shape: DefaultArgs().StorageShape}, objects: storage(), nodes: zones,
			pod: st.Pod("p", st.Mounting("late"), st.Mounting("made")), want: []int64{75, 75, 50}},
		{name: "storage, by another shape", score: volumes.Score{Shape: framework.Shape{{Utilization: 0, Score: 0}, {Utilization: 100, Score: 100}}}, objects: storage(), nodes: zones,
			pod: st.Pod("p", st.Mounting("made")), want: []int64{20, 20, 50}},
		{name: "storage, no claims", score: volumes.Score{Shape: DefaultArgs().StorageShape}, objects: storage(), nodes: zones, pod: st.Pod("p")},
	} {
		t.Run(tc.name, func(t *testing.T) {
			c := st.NewCluster(tc.objects, tc.nodes, tc.there...)
			r := tc.score.PreScore(c, cache.NewPodInfo(tc.pod), c.NodeInfos)
			if r == nil {
				if tc.want != nil {
					t.Fatalf("nothing to say, want %v", tc.want)
				}
				return
			}
			got := make([]int64, len(c.NodeInfos))
			for i, n := range c.NodeInfos {
				got[i] = r.Score(n)
			}
			r.NormalizeScores(got)
			for i := range got {
				if tc.want == nil || got[i] != tc.want[i] {
					t.Fatalf("points %v, want %v", got, tc.want)
				}
			}
		})
	}
}

// storage has a driver with room for 10Gi in zone a and 4Gi in zone b, claims of 2Gi that it is to make, and a claim of
// which a volume of 8Gi is in zone a and one of 4Gi in zone b.
func storage() *st.Objects {
	gigs := func(size string) corev1.ResourceList { return st.Quantities("storage", size) }
	claim := func(name, class string) *corev1.PersistentVolumeClaim {
		return &corev1.PersistentVolumeClaim{ObjectMeta: metav1.ObjectMeta{Name: name},
			Spec: corev1.PersistentVolumeClaimSpec{StorageClassName: &class, Resources: corev1.VolumeResourceRequirements{Requests: gigs("2Gi")}}}
	}
	volume := func(name, size, zone string) *corev1.PersistentVolume {
		return &corev1.PersistentVolume{ObjectMeta: metav1.ObjectMeta{Name: name}, Status: corev1.PersistentVolumeStatus{Phase: corev1.VolumeAvailable},
			Spec: corev1.PersistentVolumeSpec{StorageClassName: "late", Capacity: gigs(size), NodeAffinity: &corev1.VolumeNodeAffinity{Required: &corev1.NodeSelector{
				NodeSelectorTerms: []corev1.NodeSelectorTerm{{MatchExpressions: []corev1.NodeSelectorRequirement{{Key: corev1.LabelTopologyZone, Operator: corev1.NodeSelectorOpIn, Values: []string{zone}}}}}}}}}
	}
	room := func(size, zone string) *storagev1.CSIStorageCapacity {
		return &storagev1.CSIStorageCapacity{StorageClassName: "made", Capacity: new(resource.MustParse(size)),
			NodeTopology: &metav1.LabelSelector{MatchLabels: map[string]string{corev1.LabelTopologyZone: zone}}}
	}
	class := func(name, provisioner string) *storagev1.StorageClass {
		return &storagev1.StorageClass{ObjectMeta: metav1.ObjectMeta{Name: name}, Provisioner: provisioner, VolumeBindingMode: new(storagev1.VolumeBindingWaitForFirstConsumer)}
	}
	return &st.Objects{
		Claims:            map[string]*corev1.PersistentVolumeClaim{"made": claim("made", "made"), "made-2": claim("made-2", "made"), "late": claim("late", "late")},
		PersistentVolumes: map[string]*corev1.PersistentVolume{"a": volume("a", "8Gi", "a"), "b": volume("b", "4Gi", "b")},
		Classes:           map[string]*storagev1.StorageClass{"made": class("made", "disks"), "late": class("late", volumes.NoProvisioner)},
		CSIDrivers:        map[string]*storagev1.CSIDriver{"disks": {Spec: storagev1.CSIDriverSpec{StorageCapacity: new(true)}}},
		CapacityList:      []*storagev1.CSIStorageCapacity{room("10Gi", "a"), room("4Gi", "b")},
	}
}
