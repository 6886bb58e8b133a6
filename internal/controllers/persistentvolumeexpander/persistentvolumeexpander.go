package persistentvolumeexpander

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"fairlead.dev/client"
	"fairlead.dev/controller"
	"fairlead.dev/internal/controllers/intree"
	"fairlead.dev/internal/expansion"
)

type expander struct {
	claims  controller.Objects[*corev1.PersistentVolumeClaim]
	volumes controller.Objects[*corev1.PersistentVolume]
	rec     *client.Recorder
}

// New returns the controller.
func New(env controller.Env) controller.Runner {
	e := &expander{
		claims:  controller.ObjectsOf[*corev1.PersistentVolumeClaim](env),
		volumes: controller.ObjectsOf[*corev1.PersistentVolume](env),
		rec:     env.Recorder.From("volume_expand", ""),
	}
	return controller.New("persistentvolumeexpander", controller.ByObject(e.claims, e.reconcile), controller.Options{}).Watch(
		controller.Watches(e.claims, ifBound).On(controller.Added, controller.Updated).If(grows),
		controller.Watches(e.volumes, claimOf).On(controller.Added, controller.Updated).If(expansion.Rebound),
	)
}

// ifBound returns the key of a bound claim.
func ifBound(c *corev1.PersistentVolumeClaim) []controller.Key {
	if c.Status.Phase != corev1.ClaimBound {
		return nil
	}
	return controller.Self(c)
}

// claimOf returns the key of the claim of a volume.
func claimOf(v *corev1.PersistentVolume) []controller.Key {
	if v.Spec.ClaimRef == nil {
		return nil
	}
	return []controller.Key{{Namespace: v.Spec.ClaimRef.Namespace, Name: v.Spec.ClaimRef.Name}}
}

// grows reports whether a claim's requested or actual size has increased.
func grows(old, c *corev1.PersistentVolumeClaim) bool {
	return c.Spec.Resources.Requests.Storage().Cmp(*old.Spec.Resources.Requests.Storage()) > 0 ||
		c.Status.Capacity.Storage().Cmp(*old.Status.Capacity.Storage()) > 0
}

func (e *expander) reconcile(ctx context.Context, c *corev1.PersistentVolumeClaim) (controller.Result, error) {
	v, _ := e.volumes.Store().Get("", c.Spec.VolumeName)
	if c.Status.Phase != corev1.ClaimBound || !expansion.Bound(v, c) {
		return controller.Result{}, nil // the event of its binding brings it back
	}
	var err error
	switch plugin := intree.Plugin(v); {
	case !expansion.Wanted(c):
		err = e.settle(ctx, c, v)
	case plugin != "":
		err = e.delegate(ctx, c, plugin)
	case v.Spec.FlexVolume != nil:
		err = e.expand(ctx, c, v)
	default:
		e.rec.Event(c, corev1.EventTypeNormal, "ExternalExpanding", "waiting for an external controller to expand this PVC")
	}
	return controller.Result{}, err
}

// delegate leaves the expansion to the CSI driver that has replaced a plugin.
func (e *expander) delegate(ctx context.Context, c *corev1.PersistentVolumeClaim, plugin string) error {
	e.rec.Event(c, corev1.EventTypeNormal, "ExternalExpanding", "CSI migration enabled for %s; waiting for external resizer to expand the pvc", plugin)
	driver := intree.Driver(plugin)
	if c.Annotations[expansion.Resizer] == driver {
		return nil
	}
	_, err := e.write(ctx, c, func(c *corev1.PersistentVolumeClaim) {
		metav1.SetMetaDataAnnotation(&c.ObjectMeta, expansion.Resizer, driver)
	})
	return err
}

// write writes the status and the annotations of a claim.
func (e *expander) write(ctx context.Context, c *corev1.PersistentVolumeClaim, change func(*corev1.PersistentVolumeClaim)) (*corev1.PersistentVolumeClaim, error) {
	changed := c.DeepCopy()
	change(changed)
	return e.claims.API.Namespace(c.Namespace).UpdateStatus(ctx, changed)
}
