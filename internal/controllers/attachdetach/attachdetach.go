package attachdetach

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/utils/ptr"

	"fairlead.dev/client"
	"fairlead.dev/controller"
	"fairlead.dev/informer"
	"fairlead.dev/internal/condition"
)

// Indexes: of pods by the claims of their volumes and, if they have claims, by node; of VolumeAttachments by volume and
// by node.
const (
	byClaim  = "attached claim"
	byUser   = "node with attached claims"
	byVolume = "volume"
	byNode   = "node"
)

// managed is the annotation of nodes that leave attaching to this controller.
const managed = "volumes.kubernetes.io/controller-managed-attach-detach"

type attacher struct {
	pods        controller.Objects[*corev1.Pod]
	nodes       controller.Objects[*corev1.Node]
	claims      controller.Objects[*corev1.PersistentVolumeClaim]
	volumes     controller.Objects[*corev1.PersistentVolume]
	drivers     controller.Objects[*storagev1.CSIDriver]
	attachments controller.Objects[*storagev1.VolumeAttachment]
	rec         *client.Recorder
	memory      memory
	volumeLoop  *controller.Controller
	nodeLoop    *controller.Controller
}

// New returns the controller, with two queues: of volumes, which are attached and detached, and of nodes, whose status
// lists the attached ones.
func New(env controller.Env) controller.Runner {
	a := &attacher{
		pods:        controller.ObjectsOf[*corev1.Pod](env),
		nodes:       controller.ObjectsOf[*corev1.Node](env),
		claims:      controller.ObjectsOf[*corev1.PersistentVolumeClaim](env),
		volumes:     controller.ObjectsOf[*corev1.PersistentVolume](env),
		drivers:     controller.ObjectsOf[*storagev1.CSIDriver](env),
		attachments: controller.ObjectsOf[*storagev1.VolumeAttachment](env),
		rec:         env.Recorder.From("attachdetach-controller", ""),
	}
	a.pods.Index(byClaim, claimsOf)
	a.pods.Index(byUser, func(p *corev1.Pod) []string {
		if p.Spec.NodeName == "" || len(claimsOf(p)) == 0 {
			return nil
		}
		return []string{p.Spec.NodeName}
	})
	a.attachments.Index(byVolume, func(va *storagev1.VolumeAttachment) []string {
		return []string{volumeOf(va)}
	})
	a.attachments.Index(byNode, func(va *storagev1.VolumeAttachment) []string { return []string{va.Spec.NodeName} })
	a.memory.mu.known, a.memory.mu.refused = map[string]*attachment{}, map[refusal]bool{}
	// The time since which a volume is to be detached is in memory only.
	a.volumeLoop = controller.New("attachdetach", a.syncVolume, controller.Options{Volatile: true})
	a.nodeLoop = controller.New("attachdetach-nodes", controller.ByObject(a.nodes, a.syncNode), controller.Options{})
	a.volumeLoop.Watch(
		controller.Watches(a.pods, a.volumesOfPod).If(func(old, p *corev1.Pod) bool {
			return old.UID != p.UID || old.Spec.NodeName != p.Spec.NodeName || ended(old) != ended(p)
		}),
		controller.Watches(a.claims, volumeOfClaim),
		controller.For(a.volumes),
		controller.Watches(a.drivers, a.volumesOfDriver),
		controller.Handles(a.attachments, informer.Handler[*storagev1.VolumeAttachment]{
			Add: func(va *storagev1.VolumeAttachment, initial bool) {
				if initial {
					a.memory.know(va)
				}
				a.seen(va)
			},
			Update: func(_, va *storagev1.VolumeAttachment) { a.seen(va) },
			Delete: func(va *storagev1.VolumeAttachment) { a.memory.forget(va.Name); a.seen(va) },
		}),
		controller.Handles(a.nodes, informer.Handler[*corev1.Node]{
			Add: func(n *corev1.Node, _ bool) { a.wakeVolumes(n) },
			Update: func(old, n *corev1.Node) {
				if bearing(old) != bearing(n) || !equality.Semantic.DeepEqual(old.Status.VolumesInUse, n.Status.VolumesInUse) {
					a.wakeVolumes(n)
				}
			},
			Delete: func(n *corev1.Node) {
				for _, va := range a.attachments.Store().ByIndex(byNode, n.Name) {
					a.memory.left(va.Name, slices.Contains(n.Status.VolumesInUse, a.nameOf(va, n)))
				}
				a.wakeVolumes(n)
			},
		}),
	)
	a.nodeLoop.Watch(
		controller.For(a.nodes).If(func(old, n *corev1.Node) bool {
			return !equality.Semantic.DeepEqual(old.Status.VolumesAttached, n.Status.VolumesAttached)
		}),
		controller.Handles(a.attachments, informer.Handler[*storagev1.VolumeAttachment]{
			Add: func(va *storagev1.VolumeAttachment, initial bool) {
				if initial { // this queue may start first, and would take the volume off the node's status
					a.memory.know(va)
				}
				a.listed(va)
			},
			Update: func(_, va *storagev1.VolumeAttachment) { a.listed(va) },
			Delete: a.listed,
		}),
		controller.Reads(a.volumes),
	)
	return controller.Runners{a.volumeLoop, a.nodeLoop}
}

// seen enqueues the volume of a VolumeAttachment.
func (a *attacher) seen(va *storagev1.VolumeAttachment) {
	a.volumeLoop.EnqueueFor(controller.Key{Name: volumeOf(va)}, va)
}

// listed enqueues the node of a VolumeAttachment.
func (a *attacher) listed(va *storagev1.VolumeAttachment) {
	a.nodeLoop.EnqueueFor(controller.Key{Name: va.Spec.NodeName}, va)
}

// volumeOf returns the name of the volume of a VolumeAttachment, "" for an inline volume.
func volumeOf(va *storagev1.VolumeAttachment) string {
	return ptr.Deref(va.Spec.Source.PersistentVolumeName, "")
}

// wakeVolumes enqueues the volumes that a node has or needs.
func (a *attacher) wakeVolumes(n *corev1.Node) {
	for _, va := range a.attachments.Store().ByIndex(byNode, n.Name) {
		a.seen(va)
	}
	for _, p := range a.pods.Store().ByIndex(byUser, n.Name) {
		for _, k := range a.volumesOfPod(p) {
			a.volumeLoop.EnqueueFor(k, n)
		}
	}
}

// volumesOfPod returns the volumes that a pod on a node uses, and, because a deleted pod's claims may be gone, those of
// its node.
func (a *attacher) volumesOfPod(p *corev1.Pod) (keys []controller.Key) {
	if p.Spec.NodeName == "" || len(claimsOf(p)) == 0 {
		return nil
	}
	for _, v := range p.Spec.Volumes {
		if c, ok := a.claimOf(p, &v); ok {
			keys = append(keys, volumeOfClaim(c)...)
		}
	}
	if _, there := a.pods.Store().Get(p.Namespace, p.Name); !there {
		for _, va := range a.attachments.Store().ByIndex(byNode, p.Spec.NodeName) {
			keys = append(keys, controller.Key{Name: volumeOf(va)})
		}
	}
	return keys
}

func volumeOfClaim(c *corev1.PersistentVolumeClaim) []controller.Key {
	if c.Spec.VolumeName == "" {
		return nil
	}
	return []controller.Key{{Name: c.Spec.VolumeName}}
}

func (a *attacher) volumesOfDriver(d *storagev1.CSIDriver) (keys []controller.Key) {
	for _, v := range a.volumes.Store().List("") {
		if v.Spec.CSI != nil && v.Spec.CSI.Driver == d.Name {
			keys = append(keys, controller.KeyOf(v))
		}
	}
	return keys
}

// state is what decides about attaching to a node and detaching from it.
type state struct{ managed, ready, outOfService bool }

func bearing(n *corev1.Node) state {
	ready := condition.Find(n.Status.Conditions, func(c *corev1.NodeCondition) bool { return c.Type == corev1.NodeReady })
	return state{
		managed: isManaged(n), ready: ready != nil && ready.Status == corev1.ConditionTrue,
		outOfService: slices.ContainsFunc(n.Spec.Taints, func(t corev1.Taint) bool { return t.Key == corev1.TaintNodeOutOfService }),
	}
}

func isManaged(n *corev1.Node) bool { _, is := n.Annotations[managed]; return is }
