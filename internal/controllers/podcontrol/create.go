package podcontrol

import (
	"context"
	"errors"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation"

	"fairlead.dev/client"
)

// Control creates and deletes pods for an owner and records events about it.
type Control struct {
	pods client.Resource[*corev1.Pod]
	rec  *client.Recorder
}

// New returns a Control that writes through c and records events with rec.
func New(c *client.Client, rec *client.Recorder) *Control {
	return &Control{pods: client.For[*corev1.Pod](c).MetadataOnly(), rec: rec}
}

// FromTemplate returns a pod of the template, owned by owner. The pod shares the template's memory; take a DeepCopy
// before changing more than its name.
func FromTemplate(t *corev1.PodTemplateSpec, owner metav1.Object, kind schema.GroupVersionKind) *corev1.Pod {
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{
			GenerateName:    NamePrefix(owner.GetName()),
			Namespace:       owner.GetNamespace(),
			Labels:          t.Labels,
			Annotations:     t.Annotations,
			Finalizers:      t.Finalizers,
			OwnerReferences: []metav1.OwnerReference{*metav1.NewControllerRef(owner, kind)},
		},
		Spec: t.Spec,
	}
}

// NamePrefix returns the generateName of pods owned by an object of that name.
func NamePrefix(owner string) string {
	if len(owner) >= validation.DNS1123SubdomainMaxLength {
		return owner
	}
	return owner + "-"
}

// Create creates the pod and records SuccessfulCreate or FailedCreate on the owner; a terminating namespace is an
// error without an event.
func (c *Control) Create(ctx context.Context, owner client.Object, pod *corev1.Pod) error {
	if len(pod.Labels) == 0 {
		return errors.New("unable to create pods, no labels")
	}
	made, err := c.pods.Namespace(pod.Namespace).Create(ctx, pod)
	if err != nil {
		if !NamespaceGoing(err) {
			c.rec.Event(owner, corev1.EventTypeWarning, "FailedCreate", "Error creating: %v", err)
		}
		return err
	}
	c.rec.Event(owner, corev1.EventTypeNormal, "SuccessfulCreate", "Created pod: %v", made.Name)
	return nil
}

// Delete deletes the pod, if it still is the one with its UID, and records SuccessfulDelete or FailedDelete on the
// owner. If the pod is gone already, it returns a NotFound error and records no event.
func (c *Control) Delete(ctx context.Context, owner client.Object, pod *corev1.Pod) error {
	err := c.pods.Namespace(pod.Namespace).Delete(ctx, pod.Name, metav1.DeleteOptions{
		Preconditions: &metav1.Preconditions{UID: &pod.UID},
	})
	switch {
	case err == nil:
		c.rec.Event(owner, corev1.EventTypeNormal, "SuccessfulDelete", "Deleted pod: %v", pod.Name)
		return nil
	case apierrors.IsNotFound(err):
		return err
	case apierrors.IsConflict(err):
		// Another pod has the name, so the one meant is gone.
		return apierrors.NewNotFound(corev1.Resource("pods"), pod.Name)
	}
	c.rec.Event(owner, corev1.EventTypeWarning, "FailedDelete", "Error deleting: %v", err)
	return fmt.Errorf("unable to delete pods: %w", err)
}

// NamespaceGoing reports whether the error is caused by a terminating namespace, in which all creates fail.
func NamespaceGoing(err error) bool {
	return apierrors.HasStatusCause(err, corev1.NamespaceTerminatingCause)
}
