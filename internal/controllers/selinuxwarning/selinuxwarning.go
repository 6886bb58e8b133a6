// Package selinuxwarning tells pods that use one volume with different SELinux labels. A volume is mounted with one label (since
// Kubernetes 1.37 without a feature gate), so that only one of them can have it if they come to the same node.
//
// Labels matter for volumes of CSI drivers with seLinuxMount, of Fibre Channel and of iSCSI. The controller reads no
// node, and so cannot complete labels as nodes do: missing users, roles and types match any. All pods count that have not ended,
// also those without a node.
package selinuxwarning

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/utils/ptr"

	"fairlead.dev/client"
	"fairlead.dev/controller"
	"fairlead.dev/informer"
	"fairlead.dev/internal/poduses"
)

// byClaim is the index of pods by their claims.
const byClaim = "claim of a labeled volume"

// Options are the options of New.
type Options struct {
	// Conflicts has the present conflicts, for metrics; nil means one of its own.
	Conflicts *Conflicts
}

type warner struct {
	pods      controller.Objects[*corev1.Pod]
	claims    controller.Objects[*corev1.PersistentVolumeClaim]
	volumes   controller.Objects[*corev1.PersistentVolume]
	drivers   controller.Objects[*storagev1.CSIDriver]
	rec       *client.Recorder
	conflicts *Conflicts
}

// New returns the controller.
func New(env controller.Env, o Options) controller.Runner {
	if o.Conflicts == nil {
		o.Conflicts = NewConflicts()
	}
	w := &warner{
		pods:      controller.ObjectsOf[*corev1.Pod](env),
		claims:    controller.ObjectsOf[*corev1.PersistentVolumeClaim](env),
		volumes:   controller.ObjectsOf[*corev1.PersistentVolume](env),
		drivers:   controller.ObjectsOf[*storagev1.CSIDriver](env),
		rec:       env.Recorder.From("selinux_warning", ""),
		conflicts: o.Conflicts,
	}
	w.conflicts.forgetAll()
	w.pods.Index(byClaim, func(p *corev1.Pod) (keys []string) {
		for _, name := range poduses.Claims(p) {
			keys = append(keys, p.Namespace+"/"+name)
		}
		return keys
	})
	loop := controller.New("selinuxwarning", w.reconcile, controller.Options{})
	wake := func(d *storagev1.CSIDriver) {
		for _, k := range w.conflicts.podsOf(d.Name) {
			loop.EnqueueFor(k, d)
		}
	}
	return loop.Watch(
		// Volumes, labels and policies of a pod cannot change.
		controller.For(w.pods).If(func(old, p *corev1.Pod) bool { return old.UID != p.UID || ended(old) != ended(p) }),
		controller.Watches(w.claims, func(c *corev1.PersistentVolumeClaim) []controller.Key {
			return w.users(c.Namespace, c.Name)
		}).If(func(old, c *corev1.PersistentVolumeClaim) bool { return old.Spec.VolumeName != c.Spec.VolumeName }),
		controller.Watches(w.volumes, func(v *corev1.PersistentVolume) []controller.Key {
			if of := v.Spec.ClaimRef; of != nil {
				return w.users(of.Namespace, of.Name)
			}
			return nil
		}).If(func(old, v *corev1.PersistentVolume) bool { return claimUID(old) != claimUID(v) }),
		controller.Handles(w.drivers, informer.Handler[*storagev1.CSIDriver]{
			Add: func(d *storagev1.CSIDriver, _ bool) { wake(d) },
			Update: func(old, d *storagev1.CSIDriver) {
				if ptr.Deref(old.Spec.SELinuxMount, false) != ptr.Deref(d.Spec.SELinuxMount, false) {
					wake(d)
				}
			},
			Delete: wake,
		}),
	)
}

func claimUID(v *corev1.PersistentVolume) string {
	if v.Spec.ClaimRef == nil {
		return ""
	}
	return string(v.Spec.ClaimRef.UID)
}

func ended(p *corev1.Pod) bool {
	return p.Status.Phase == corev1.PodFailed || p.Status.Phase == corev1.PodSucceeded
}

// users returns the pods that use a claim.
func (w *warner) users(namespace, claim string) (keys []controller.Key) {
	for _, p := range w.pods.Store().ByIndex(byClaim, namespace+"/"+claim) {
		keys = append(keys, controller.KeyOf(p))
	}
	return keys
}

// reconcile compares the labels of a pod's volumes with those of other pods, and tells both of differences.
func (w *warner) reconcile(_ context.Context, k controller.Key) (controller.Result, error) {
	p, ok := w.pods.Store().Get(k.Namespace, k.Name)
	if !ok || ended(p) {
		w.conflicts.forget(k)
		return controller.Result{}, nil
	}
	uses, ambiguous := w.usesOf(p)
	for _, volume := range ambiguous {
		w.rec.Event(p, corev1.EventTypeWarning, "MultipleSELinuxLabels",
			"Volume %q is mounted twice with different SELinux labels inside this pod", volume)
	}
	for _, c := range w.conflicts.set(k, uses) {
		if p, ok := w.pods.Store().Get(c.pod.Namespace, c.pod.Name); ok {
			w.rec.Event(p, corev1.EventTypeNormal, c.property+"Conflict", "%s", c.message())
		}
	}
	return controller.Result{}, nil
}
