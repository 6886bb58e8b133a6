package persistentvolume

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"

	"golang.org/x/sync/errgroup"

	"fairlead.dev/client"
	"fairlead.dev/controller"
	"fairlead.dev/informer"
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
	env       controller.Env
	claimAPI  client.Resource[*corev1.PersistentVolumeClaim]
	volumeAPI client.Resource[*corev1.PersistentVolume]
	claims    *informer.Informer[*corev1.PersistentVolumeClaim]
	volumes   *informer.Informer[*corev1.PersistentVolume]
	classes   *informer.Informer[*storagev1.StorageClass]
	pods      *informer.Informer[*corev1.Pod]
	rec       *client.Recorder
	claimLoop *controller.Controller
	volLoop   *controller.Controller
	sizeLoop  *controller.Controller
}

// New returns the controller.
func New(env controller.Env) controller.Runner {
	b := &binder{
		env:       env,
		claimAPI:  client.For[*corev1.PersistentVolumeClaim](env.Client),
		volumeAPI: client.For[*corev1.PersistentVolume](env.Client),
		claims:    informer.For[*corev1.PersistentVolumeClaim](env.Informers),
		volumes:   informer.For[*corev1.PersistentVolume](env.Informers),
		classes:   informer.For[*storagev1.StorageClass](env.Informers),
		pods:      informer.For[*corev1.Pod](env.Informers),
		rec:       env.Recorder.From("persistentvolume-controller", ""),
	}
	b.volumes.Index(byClaim, claimOf)
	b.claimLoop = controller.New("persistentvolumeclaim", b.syncClaim, controller.Options{})
	b.volLoop = controller.New("persistentvolume", b.syncVolume, controller.Options{})
	b.sizeLoop = controller.New("persistentvolumeexpander", b.syncSize, controller.Options{})
	b.watch()
	return b
}

// Run runs the loops.
func (b *binder) Run(ctx context.Context) error {
	g, ctx := errgroup.WithContext(ctx)
	g.Go(func() error { return b.claimLoop.Run(ctx) })
	g.Go(func() error { return b.volLoop.Run(ctx) })
	g.Go(func() error { return b.sizeLoop.Run(ctx) })
	return g.Wait()
}

func (b *binder) watch() {
	controller.Watch(b.claimLoop, b.claims, controller.Self[*corev1.PersistentVolumeClaim])
	controller.Watch(b.volLoop, b.claims, b.volumesFor)
	controller.Watch(b.volLoop, b.volumes, controller.Self[*corev1.PersistentVolume])
	controller.Watch(b.claimLoop, b.volumes, b.claimsFor)
	controller.Watch(b.claimLoop, b.classes, b.pendingOf)
	controller.WatchFunc(b.volLoop, b.classes, informer.Handler[*storagev1.StorageClass]{})
	controller.WatchFunc(b.claimLoop, b.pods, informer.Handler[*corev1.Pod]{})
	b.watchSizes()
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
