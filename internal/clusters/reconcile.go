package clusters

import (
	"context"
	"errors"
	"slices"

	corev1 "k8s.io/api/core/v1"
	apiequality "k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"fairlead.dev/client"
	"fairlead.dev/controller"
	"fairlead.dev/internal/controlplane"
)

// Finalizer keeps a Cluster until its control plane has ended.
const Finalizer = "fairlead.dev/cluster"

// Ready is the condition of a Cluster whose control plane answers.
const Ready = "Ready"

// reconciler keeps the control planes of a Host as the Clusters describe them.
type reconciler struct {
	host     *Host
	clusters controller.Objects[*Cluster]
	secrets  client.Resource[*corev1.Secret]
	// failed is called when a part of a control plane has failed.
	failed func(name string)
}

func (r *reconciler) reconcile(ctx context.Context, k controller.Key) (controller.Result, error) {
	object, ok := r.clusters.Store().Get("", k.Name)
	if !ok {
		return controller.Result{}, nil
	}
	if !object.DeletionTimestamp.IsZero() {
		return controller.Result{}, r.end(ctx, object)
	}
	if !slices.Contains(object.Finalizers, Finalizer) {
		held := object.DeepCopy()
		held.Finalizers = append(held.Finalizers, Finalizer)
		_, err := r.clusters.API.Patch(ctx, object.Name, client.MergeFromLocked(object, held))
		return controller.Result{}, err
	}
	status := object.DeepCopy().Status
	failed := r.bring(ctx, object, &status)
	if ctx.Err() != nil {
		return controller.Result{}, failed // which comes from the end of the server
	}
	setReady(&status, object.Generation, failed)
	if !apiequality.Semantic.DeepEqual(status, object.Status) {
		written := object.DeepCopy()
		written.Status = status
		if _, err := r.clusters.API.UpdateStatus(ctx, written); err != nil {
			return controller.Result{}, err
		}
	}
	if isPermanent(failed) {
		failed = controller.Terminal(failed)
	}
	return controller.Result{}, failed
}

// changed reports whether a change of an object is one to act upon: each but those of its status, which the reconciler
// makes itself, so that the backoff after a failure decides when it tries again.
func changed(old, new *Cluster) bool {
	return old.Generation != new.Generation || !slices.Equal(old.Finalizers, new.Finalizers) ||
		old.DeletionTimestamp.IsZero() != new.DeletionTimestamp.IsZero()
}

// bring starts or resets the control plane, and enters in status how it is now.
func (r *reconciler) bring(ctx context.Context, object *Cluster, status *Status) error {
	c := r.host.find(object.Name)
	switch {
	case c == nil:
		var err error
		if c, err = r.host.create(ctx, object, func() { r.failed(object.Name) }); err != nil {
			return err
		}
		r.host.set(object.Name, c)
	case status.Resets < object.Spec.Resets:
		if err := c.reset(ctx); err != nil {
			return err
		}
	}
	cp := c.running.Load()
	if cp == nil {
		return permanent{errors.New("a part of the control plane has failed; raise spec.resets to start it again")}
	}
	status.URL, status.Revision, status.Resets = cp.URL(), c.began.revision.String(), object.Spec.Resets
	return r.publish(ctx, object, cp)
}

// publish writes the kubeconfig of a control plane.
func (r *reconciler) publish(ctx context.Context, object *Cluster, cp *controlplane.ControlPlane) error {
	entry := cp.Entry()
	text, err := entry.Encode()
	if err != nil {
		return err
	}
	secret := &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Name: object.Name, OwnerReferences: []metav1.OwnerReference{
			*metav1.NewControllerRef(object, GroupVersion.WithKind("Cluster")),
		}},
		Data: map[string][]byte{KubeconfigKey: text},
	}
	_, err = r.secrets.Create(ctx, secret)
	if apierrors.IsAlreadyExists(err) {
		_, err = r.secrets.Update(ctx, secret)
	}
	return err
}

// end stops the control plane of a deleted Cluster, and lets the object go.
func (r *reconciler) end(ctx context.Context, object *Cluster) error {
	if c := r.host.find(object.Name); c != nil {
		r.host.set(object.Name, nil)
		if err := c.stop(); err != nil {
			r.host.options.Log.Warn("a hosted cluster has ended with an error", "cluster", object.Name, "error", err)
		}
	}
	if err := r.secrets.Delete(ctx, object.Name); err != nil && !apierrors.IsNotFound(err) {
		return err
	}
	return release(ctx, r.clusters.API, object)
}

// release removes the finalizer.
func release(ctx context.Context, clusters client.Resource[*Cluster], object *Cluster) error {
	if !slices.Contains(object.Finalizers, Finalizer) {
		return nil
	}
	released := object.DeepCopy()
	released.Finalizers = slices.DeleteFunc(released.Finalizers, func(f string) bool { return f == Finalizer })
	_, err := clusters.Patch(ctx, object.Name, client.MergeFromLocked(object, released))
	if apierrors.IsNotFound(err) {
		return nil
	}
	return err
}

// setReady sets the condition Ready, with the reason Retrying after an error that may pass, and Failed after one that stays.
func setReady(status *Status, generation int64, err error) {
	ready := metav1.Condition{Type: Ready, Status: metav1.ConditionTrue, Reason: "Answers", Message: "the control plane answers at " + status.URL, ObservedGeneration: generation}
	if err != nil {
		ready.Status, ready.Reason, ready.Message = metav1.ConditionFalse, "Retrying", err.Error()
	}
	if isPermanent(err) {
		ready.Reason = "Failed"
	}
	meta.SetStatusCondition(&status.Conditions, ready)
}
