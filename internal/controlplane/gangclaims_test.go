package controlplane_test

import (
	"fmt"
	"testing"

	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
)

const gangDriver = "gpu.example.com"

// devices gives a node devices.
func (g *gangs) devices(t testing.TB, node string, n int) {
	t.Helper()
	s := &resourcev1.ResourceSlice{ObjectMeta: metav1.ObjectMeta{Name: node}, Spec: resourcev1.ResourceSliceSpec{
		Driver: gangDriver, NodeName: &node, Pool: resourcev1.ResourcePool{Name: node, Generation: 1, ResourceSliceCount: 1},
	}}
	for i := range n {
		s.Spec.Devices = append(s.Spec.Devices, resourcev1.Device{Name: fmt.Sprintf("gpu-%d", i)})
	}
	if _, err := g.ResourceV1().ResourceSlices().Create(g.ctx, s, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
}

func (g *gangs) deviceClass(t testing.TB) {
	t.Helper()
	c := &resourcev1.DeviceClass{ObjectMeta: metav1.ObjectMeta{Name: "gpu"}, Spec: resourcev1.DeviceClassSpec{
		Selectors: []resourcev1.DeviceSelector{{CEL: &resourcev1.CELDeviceSelector{Expression: fmt.Sprintf("device.driver == %q", gangDriver)}}},
	}}
	if _, err := g.ResourceV1().DeviceClasses().Create(g.ctx, c, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
}

// deviceClaim creates a claim for one device.
func (g *gangs) deviceClaim(t testing.TB, name string) {
	t.Helper()
	c := &resourcev1.ResourceClaim{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: resourcev1.ResourceClaimSpec{
		Devices: resourcev1.DeviceClaim{Requests: []resourcev1.DeviceRequest{{Name: "r", Exactly: &resourcev1.ExactDeviceRequest{DeviceClassName: "gpu"}}}},
	}}
	if _, err := g.ResourceV1().ResourceClaims("default").Create(g.ctx, c, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
}

// claiming creates a pod with a claim for devices.
func (g *gangs) claiming(t testing.TB, name, group, cpu, claim string) {
	t.Helper()
	p := memberPod(name, group, cpu)
	p.Spec.ResourceClaims = []corev1.PodResourceClaim{{Name: "gpu", ResourceClaimName: &claim}}
	p.Spec.Containers[0].Resources.Claims = []corev1.ResourceClaim{{Name: "gpu"}}
	g.create(t, p)
}

// TestGangClaims: a gang for which there are too few devices takes none from others, and runs when there are enough.
func TestGangClaims(t *testing.T) {
	g := startGangs(t, 2, "resourceclaim")
	g.deviceClass(t)
	g.devices(t, "node-1", 2)
	g.gang(t, "train", 3, "", false)
	for i := range 3 {
		name := fmt.Sprintf("train-%d", i)
		g.deviceClaim(t, name)
		g.claiming(t, name, "train", "1", name)
	}
	g.group(t, "train", metav1.ConditionFalse, "Unschedulable")
	for i := range 2 { // both devices are free
		name := fmt.Sprintf("plain-%d", i)
		g.deviceClaim(t, name)
		g.claiming(t, name, "", "1", name)
		g.pod(t, name, "bound", hasNode)
	}
	g.devices(t, "node-2", 3)
	g.bound(t, "train", 3)
	for i := range 3 {
		c, err := g.ResourceV1().ResourceClaims("default").Get(g.ctx, fmt.Sprintf("train-%d", i), metav1.GetOptions{})
		if err != nil || c.Status.Allocation == nil || c.Status.Allocation.Devices.Results[0].Pool != "node-2" || len(c.Status.ReservedFor) != 1 {
			t.Errorf("%v %+v", err, c.Status)
		}
	}
}

// TestGangSharesClaim: the pods of a gang share a claim that has no devices before, and so run where its device is.
func TestGangSharesClaim(t *testing.T) {
	g := startGangs(t, 2, "resourceclaim")
	g.deviceClass(t)
	g.devices(t, "node-1", 1)
	g.devices(t, "node-2", 1)
	g.deviceClaim(t, "wide")
	g.gang(t, "wide", 2, "", false)
	for i := range 2 { // a node has room for one
		g.claiming(t, fmt.Sprintf("wide-%d", i), "wide", "20", "wide")
	}
	g.group(t, "wide", metav1.ConditionFalse, "Unschedulable")
	g.deviceClaim(t, "shared")
	g.gang(t, "shared", 8, "", false)
	for i := range 8 {
		g.claiming(t, fmt.Sprintf("shared-%d", i), "shared", "1", "shared")
	}
	g.bound(t, "shared", 8)
	c, err := g.ResourceV1().ResourceClaims("default").Get(g.ctx, "shared", metav1.GetOptions{})
	if err != nil || c.Status.Allocation == nil || len(c.Status.ReservedFor) != 8 {
		t.Fatalf("%v %+v", err, c.Status)
	}
	g.allOn(t, "shared", c.Status.Allocation.Devices.Results[0].Pool)
	if c, err := g.ResourceV1().ResourceClaims("default").Get(g.ctx, "wide", metav1.GetOptions{}); err != nil || c.Status.Allocation != nil {
		t.Errorf("the claim of the gang that does not fit: %v %+v", err, c.Status)
	}
}

func hasNode(p *corev1.Pod) bool { return p.Spec.NodeName != "" }

// allOn reports pods of a group that are not on a node.
func (g *gangs) allOn(t testing.TB, group, node string) {
	t.Helper()
	list, err := g.CoreV1().Pods("default").List(g.ctx, metav1.ListOptions{LabelSelector: "group=" + group})
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range list.Items {
		if p.Spec.NodeName != node {
			t.Errorf("%s is on %q, want %s", p.Name, p.Spec.NodeName, node)
		}
	}
}

// localDisk creates a volume that only a node reaches.
func (g *gangs) localDisk(t testing.TB, name, node string) {
	t.Helper()
	pv := &corev1.PersistentVolume{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: corev1.PersistentVolumeSpec{
		StorageClassName: "local", AccessModes: []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce},
		Capacity:               corev1.ResourceList{corev1.ResourceStorage: resource.MustParse("1Gi")},
		PersistentVolumeSource: corev1.PersistentVolumeSource{Local: &corev1.LocalVolumeSource{Path: "/disk"}},
		NodeAffinity: &corev1.VolumeNodeAffinity{Required: &corev1.NodeSelector{NodeSelectorTerms: []corev1.NodeSelectorTerm{{
			MatchExpressions: []corev1.NodeSelectorRequirement{{Key: corev1.LabelHostname, Operator: corev1.NodeSelectorOpIn, Values: []string{node}}},
		}}}},
	}}
	if _, err := g.CoreV1().PersistentVolumes().Create(g.ctx, pv, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
}

// late creates a class whose claims wait for their first consumer.
func (g *gangs) late(t testing.TB, name, provisioner string) {
	t.Helper()
	c := &storagev1.StorageClass{ObjectMeta: metav1.ObjectMeta{Name: name}, Provisioner: provisioner, VolumeBindingMode: ptr.To(storagev1.VolumeBindingWaitForFirstConsumer)}
	if _, err := g.StorageV1().StorageClasses().Create(g.ctx, c, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
}

func (g *gangs) volumeClaim(t testing.TB, name, class string) {
	t.Helper()
	c := &corev1.PersistentVolumeClaim{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: corev1.PersistentVolumeClaimSpec{
		StorageClassName: &class, AccessModes: []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce},
		Resources: corev1.VolumeResourceRequirements{Requests: corev1.ResourceList{corev1.ResourceStorage: resource.MustParse("1Gi")}},
	}}
	if _, err := g.CoreV1().PersistentVolumeClaims("default").Create(g.ctx, c, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
}

// mounting creates a pod with a volume.
func (g *gangs) mounting(t testing.TB, name, group, cpu, claim string) {
	t.Helper()
	p := memberPod(name, group, cpu)
	p.Spec.Volumes = []corev1.Volume{{Name: "v", VolumeSource: corev1.VolumeSource{PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: claim}}}}
	g.create(t, p)
}

// TestGangVolumes: a gang for which there are too few volumes leaves them to others and its claims untouched, and runs
// when there are enough.
func TestGangVolumes(t *testing.T) {
	g := startGangs(t, 2, "persistentvolume")
	g.late(t, "local", "kubernetes.io/no-provisioner")
	g.localDisk(t, "disk-1", "node-1")
	g.localDisk(t, "disk-2", "node-2")
	g.gang(t, "store", 3, "", false)
	for i := range 3 {
		name := fmt.Sprintf("store-%d", i)
		g.volumeClaim(t, name, "local")
		g.mounting(t, name, "store", "1", name)
	}
	g.group(t, "store", metav1.ConditionFalse, "Unschedulable")
	for i := range 2 {
		name := fmt.Sprintf("plain-%d", i)
		g.volumeClaim(t, name, "local")
		g.mounting(t, name, "", "1", name)
		g.pod(t, name, "bound", hasNode)
	}
	for i := range 3 {
		c, err := g.CoreV1().PersistentVolumeClaims("default").Get(g.ctx, fmt.Sprintf("store-%d", i), metav1.GetOptions{})
		if err != nil || c.Spec.VolumeName != "" || len(c.Annotations) > 0 {
			t.Errorf("%v %+v", err, c)
		}
	}
	for i := range 3 {
		g.localDisk(t, fmt.Sprintf("late-%d", i), "node-2")
	}
	g.bound(t, "store", 3)
	g.allOn(t, "store", "node-2")
}

// TestGangSharesVolume: pods of a gang with one claim go where its volume is, whether that exists or is made for them.
func TestGangSharesVolume(t *testing.T) {
	for class, provisioner := range map[string]string{"local": "kubernetes.io/no-provisioner", "made": "simulated.fairlead.dev"} {
		t.Run(class, func(t *testing.T) {
			g := startGangs(t, 2, "persistentvolume")
			g.late(t, class, provisioner)
			if class == "local" {
				g.localDisk(t, "disk-1", "node-1")
				g.localDisk(t, "disk-2", "node-2")
			}
			g.volumeClaim(t, "wide", class)
			g.gang(t, "wide", 2, "", false)
			for i := range 2 { // a node has room for one
				g.mounting(t, fmt.Sprintf("wide-%d", i), "wide", "20", "wide")
			}
			g.group(t, "wide", metav1.ConditionFalse, "Unschedulable")
			g.volumeClaim(t, "shared", class)
			g.gang(t, "shared", 4, "", false)
			for i := range 4 {
				g.mounting(t, fmt.Sprintf("shared-%d", i), "shared", "1", "shared")
			}
			first := g.pod(t, "shared-0", "bound", hasNode)
			g.bound(t, "shared", 4)
			g.allOn(t, "shared", first.Spec.NodeName)
		})
	}
}
