package persistentvolume

import (
	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"

	"fairlead.dev/client"
	"fairlead.dev/controller"
)

// Kubernetes' annotations by which the components that handle volumes communicate.
const (
	bindCompleted   = "pv.kubernetes.io/bind-completed"
	boundByUs       = "pv.kubernetes.io/bound-by-controller"
	provisionedBy   = "pv.kubernetes.io/provisioned-by"
	wantsFrom       = "volume.kubernetes.io/storage-provisioner"
	wantsFromBeta   = "volume.beta.kubernetes.io/storage-provisioner"
	selectedNode    = "volume.kubernetes.io/selected-node"
	defaultClass    = "storageclass.kubernetes.io/is-default-class"
	defaultClassOld = "storageclass.beta.kubernetes.io/is-default-class"
)

// byClaim is the index of volumes by the claim they refer to.
const byClaim = "claim"

type binder struct {
	env     controller.Env
	claims  controller.Objects[*corev1.PersistentVolumeClaim]
	volumes controller.Objects[*corev1.PersistentVolume]
	classes controller.Objects[*storagev1.StorageClass]
	pods    controller.Objects[*corev1.Pod]
	rec     *client.Recorder
}

// New returns the controller, with two queues: of claims, and of volumes.
func New(env controller.Env) controller.Runner {
	b := &binder{
		env:     env,
		claims:  controller.ObjectsOf[*corev1.PersistentVolumeClaim](env),
		volumes: controller.ObjectsOf[*corev1.PersistentVolume](env),
		classes: controller.ObjectsOf[*storagev1.StorageClass](env),
		pods:    controller.ObjectsOf[*corev1.Pod](env),
		rec:     env.Recorder.From("persistentvolume-controller", ""),
	}
	b.volumes.Index(byClaim, claimOf)
	return controller.Runners{
		controller.New("persistentvolumeclaim", controller.ByObject(b.claims, b.syncClaim), controller.Options{}).Watch(
			controller.For(b.claims),
			controller.Watches(b.volumes, b.claimsFor),
			controller.Watches(b.classes, b.pendingOf),
			controller.Reads(b.pods),
		),
		controller.New("persistentvolume", controller.ByObject(b.volumes, b.syncVolume), controller.Options{}).Watch(
			controller.For(b.volumes),
			controller.Watches(b.claims, b.volumesFor),
			controller.Reads(b.classes),
		),
	}
}

// claimOf returns the claim that a volume refers to, for the index.
func claimOf(v *corev1.PersistentVolume) []string {
	if ref := v.Spec.ClaimRef; ref != nil {
		return []string{ref.Namespace + "/" + ref.Name}
	}
	return nil
}

// volumesFor returns the volumes to check when a claim changes.
func (b *binder) volumesFor(c *corev1.PersistentVolumeClaim) []controller.Key {
	var keys []controller.Key
	if c.Spec.VolumeName != "" {
		keys = append(keys, controller.Key{Name: c.Spec.VolumeName})
	}
	for _, v := range b.volumes.Store().ByIndex(byClaim, c.Namespace+"/"+c.Name) {
		if v.Name != c.Spec.VolumeName {
			keys = append(keys, controller.KeyOf(v))
		}
	}
	return keys
}

// claimsFor returns the claims to check when a volume changes: the one it refers to or, if it is free, the pending
// ones.
func (b *binder) claimsFor(v *corev1.PersistentVolume) []controller.Key {
	if ref := v.Spec.ClaimRef; ref != nil {
		return []controller.Key{{Namespace: ref.Namespace, Name: ref.Name}}
	}
	return b.pending(v.Spec.StorageClassName)
}

// pendingOf returns the claims that wait for the class; those without a class may get it.
func (b *binder) pendingOf(c *storagev1.StorageClass) []controller.Key {
	return append(b.pending(c.Name), b.pending("")...)
}

func (b *binder) pending(class string) []controller.Key {
	var keys []controller.Key
	for _, c := range b.claims.Store().List("") {
		if _, bound := c.Annotations[bindCompleted]; !bound && classOf(c) == class {
			keys = append(keys, controller.KeyOf(c))
		}
	}
	return keys
}
