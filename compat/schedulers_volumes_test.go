package compat

import (
	"fmt"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

const (
	attached = "disks.example.com" // a driver of which nodes can attach so many volumes
	absent   = "made.example.com"  // a provisioner that provisions no volumes
)

// surroundings are the objects around pods besides nodes and other pods.
type surroundings struct {
	classes  []*storagev1.StorageClass
	drivers  []*storagev1.CSINode
	volumes  []*corev1.PersistentVolume
	claims   []*corev1.PersistentVolumeClaim
	services []*corev1.Service
	sets     []*appsv1.ReplicaSet
}

// surroundings makes claims in every state that needs no controller: bound to volumes of a
// node, of zones or of a driver, or without a volume: permanently, or until the first pod, for
// which no volume can be provisioned.
func (g *clusterMaker) surroundings() (s surroundings) {
	late, nowhere := storagev1.VolumeBindingWaitForFirstConsumer, []corev1.TopologySelectorTerm{{
		MatchLabelExpressions: []corev1.TopologySelectorLabelRequirement{{Key: corev1.LabelTopologyZone, Values: []string{"south"}}},
	}}
	for name, class := range map[string]storagev1.StorageClass{
		"at-once":  {Provisioner: absent},
		"static":   {Provisioner: "kubernetes.io/no-provisioner", VolumeBindingMode: &late},
		"far-away": {Provisioner: absent, VolumeBindingMode: &late, AllowedTopologies: nowhere},
	} {
		class.ObjectMeta = named(g.prefix + name)
		s.classes = append(s.classes, &class)
	}
	for _, name := range g.names {
		if g.once(2) {
			s.drivers = append(s.drivers, &storagev1.CSINode{ObjectMeta: named(name), Spec: storagev1.CSINodeSpec{Drivers: []storagev1.CSINodeDriver{
				{Name: attached, NodeID: name, Allocatable: &storagev1.VolumeNodeResources{Count: new(int32(g.rand.IntN(3)))}},
			}}})
		}
	}
	for i := range 8 {
		pv, claim := g.bound(fmt.Sprintf("%sv%d", g.prefix, i))
		if !g.once(10) { // or the volume is lost
			s.volumes = append(s.volumes, pv)
		}
		s.claims = append(s.claims, claim)
		g.claims = append(g.claims, claim.Name)
	}
	for _, class := range []string{"at-once", "static", "far-away", "none"} {
		claim := newClaim(g.prefix+class, g.prefix+class)
		s.claims = append(s.claims, claim)
		g.unbound = append(g.unbound, claim.Name)
	}
	g.unbound = append(g.unbound, g.prefix+"missing")
	for _, app := range []string{"a", "b"} {
		if g.once(2) {
			s.services = append(s.services, &corev1.Service{ObjectMeta: named(g.prefix + app), Spec: corev1.ServiceSpec{
				Selector: map[string]string{"app": app}, Ports: []corev1.ServicePort{{Port: 80}}, ClusterIP: corev1.ClusterIPNone,
			}})
		}
	}
	for _, app := range []string{"a", "b", "c"} {
		s.sets = append(s.sets, &appsv1.ReplicaSet{ObjectMeta: named(g.prefix + app), Spec: appsv1.ReplicaSetSpec{
			Replicas: new(int32(0)), Selector: selecting(app), Template: template(app, "web:1"),
		}})
	}
	return s
}

// bound is a volume and its claim, bound to each other.
func (g *clusterMaker) bound(name string) (*corev1.PersistentVolume, *corev1.PersistentVolumeClaim) {
	claim := newClaim(name, "")
	claim.UID = types.UID(name)
	claim.Annotations = map[string]string{"pv.kubernetes.io/bind-completed": "yes"}
	claim.Spec.VolumeName = name
	if g.once(4) {
		claim.Spec.AccessModes = []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOncePod}
	}
	claim.Status.Phase = corev1.ClaimBound
	pv := &corev1.PersistentVolume{ObjectMeta: named(name), Spec: corev1.PersistentVolumeSpec{
		Capacity: claim.Spec.Resources.Requests.DeepCopy(), AccessModes: claim.Spec.AccessModes,
		ClaimRef: &corev1.ObjectReference{Kind: "PersistentVolumeClaim", APIVersion: "v1", Namespace: asking, Name: name},
	}}
	switch g.rand.IntN(3) {
	case 0:
		pv.Spec.Local = &corev1.LocalVolumeSource{Path: "/data"}
		pv.Spec.NodeAffinity = &corev1.VolumeNodeAffinity{Required: &corev1.NodeSelector{NodeSelectorTerms: []corev1.NodeSelectorTerm{{
			MatchExpressions: []corev1.NodeSelectorRequirement{{Key: corev1.LabelHostname, Operator: corev1.NodeSelectorOpIn, Values: []string{pick(g, g.names...), pick(g, g.names...)}}},
		}}}}
	case 1:
		pv.Labels = map[string]string{corev1.LabelTopologyZone: pick(g, "east", "west", "east__west")}
		pv.Spec.NFS = &corev1.NFSVolumeSource{Server: "files", Path: "/"}
	case 2:
		pv.Spec.CSI = &corev1.CSIPersistentVolumeSource{Driver: attached, VolumeHandle: name}
	}
	return pv, claim
}

func newClaim(name, class string) *corev1.PersistentVolumeClaim {
	return &corev1.PersistentVolumeClaim{ObjectMeta: named(name), Spec: corev1.PersistentVolumeClaimSpec{
		StorageClassName: &class, AccessModes: []corev1.PersistentVolumeAccessMode{corev1.ReadWriteMany},
		Resources: corev1.VolumeResourceRequirements{Requests: corev1.ResourceList{"storage": resource.MustParse("1Gi")}},
	}}
}

// mounts gives a pod claims, rarely one that keeps it from every node.
func (g *clusterMaker) mounts(pod *corev1.Pod) {
	for range 2 {
		claim := ""
		switch {
		case g.once(4):
			claim = pick(g, g.claims...)
		case g.once(12) && pod.Spec.NodeName == "":
			claim = pick(g, g.unbound...)
		default:
			continue
		}
		pod.Spec.Volumes = append(pod.Spec.Volumes, corev1.Volume{
			Name:         fmt.Sprint("v", len(pod.Spec.Volumes)),
			VolumeSource: corev1.VolumeSource{PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: claim}},
		})
	}
}

// owner is the set that pods with the label are of.
func (g *clusterMaker) owner(app string) metav1.OwnerReference {
	return metav1.OwnerReference{APIVersion: "apps/v1", Kind: "ReplicaSet", Name: g.prefix + app, UID: types.UID(g.prefix + app), Controller: new(true)}
}

// surround creates the surroundings, in an order without dangling references.
func (s *asked) surround(all surroundings) {
	s.Helper()
	var o metav1.CreateOptions
	for _, x := range all.classes {
		_, err := s.c.StorageV1().StorageClasses().Create(s.ctx, x, o)
		s.must(err)
	}
	for _, x := range all.drivers {
		_, err := s.c.StorageV1().CSINodes().Create(s.ctx, x, o)
		s.must(err)
	}
	for _, x := range all.volumes {
		made, err := s.c.CoreV1().PersistentVolumes().Create(s.ctx, x, o)
		s.must(err)
		made.Status.Phase = corev1.VolumeBound
		_, err = s.c.CoreV1().PersistentVolumes().UpdateStatus(s.ctx, made, metav1.UpdateOptions{})
		s.must(err)
	}
	for _, x := range all.claims {
		made, err := s.c.CoreV1().PersistentVolumeClaims(asking).Create(s.ctx, x, o)
		s.must(err)
		made.Status = x.Status
		_, err = s.c.CoreV1().PersistentVolumeClaims(asking).UpdateStatus(s.ctx, made, metav1.UpdateOptions{})
		s.must(err)
	}
	for _, x := range all.services {
		_, err := s.c.CoreV1().Services(asking).Create(s.ctx, x, o)
		s.must(err)
	}
	for _, x := range all.sets {
		_, err := s.c.AppsV1().ReplicaSets(asking).Create(s.ctx, x, o)
		s.must(err)
	}
}
