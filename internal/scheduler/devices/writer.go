package devices

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"fairlead.dev/client"
	"fairlead.dev/informer"
	"fairlead.dev/internal/scheduler/bell"
)

// A Writer writes allocations and reservations. Its methods may be called from any goroutine.
type Writer struct {
	Client *client.Client
	// Seen has the claims as the watch shows them; Bell rings when one has changed.
	Seen *informer.Store[*resourcev1.ResourceClaim]
	Bell bell.Bell
	// Wrote tells the goroutine of the State about a version of a claim that was written.
	Wrote func(*resourcev1.ResourceClaim)
	// Event records an event about a pod.
	Event func(pod *corev1.Pod, reason, note string)
}

// Bind writes the allocation for a claim, unless that is nil, and reserves the claim for its user, a pod or a pod group. It
// leaves out what another pod of the group has written already. It returns the claim as it is then.
func (w *Writer) Bind(ctx context.Context, user resourcev1.ResourceClaimConsumerReference, c *resourcev1.ResourceClaim, a *resourcev1.AllocationResult) (*resourcev1.ResourceClaim, error) {
	api, name := client.For[*resourcev1.ResourceClaim](w.Client).Namespace(c.Namespace), c.Namespace+"/"+c.Name
	uid, again := c.UID, false
	err := client.RetryOnConflict(ctx, func() (err error) {
		if again {
			if c, err = api.Get(ctx, c.Name); err != nil {
				return fmt.Errorf("get updated claim %s after conflict: %w", name, err)
			}
		}
		again = true
		c = c.DeepCopy()
		if c.DeletionTimestamp != nil || c.UID != uid {
			return fmt.Errorf("claim %s got deleted in the meantime", name)
		}
		if a != nil && c.Status.Allocation != nil && !isSame(a, c.Status.Allocation) {
			return fmt.Errorf("claim %s got allocated elsewhere in the meantime", name)
		}
		if IsReservedFor(c, user.UID) {
			w.Wrote(c)
			return nil
		}
		if a != nil && c.Status.Allocation == nil {
			if !slices.Contains(c.Finalizers, resourcev1.Finalizer) {
				c.Finalizers = append(c.Finalizers, resourcev1.Finalizer)
				with, err := api.Update(ctx, c)
				if err != nil {
					return fmt.Errorf("add finalizer to claim %s: %w", name, err)
				}
				c = with.DeepCopy()
			}
			c.Status.Allocation = a.DeepCopy()
		}
		if c.Status.Allocation == nil {
			return fmt.Errorf("claim %s got deallocated elsewhere in the meantime", name)
		}
		if c.Status.Allocation.AllocationTimestamp == nil {
			c.Status.Allocation.AllocationTimestamp = &metav1.Time{Time: time.Now()}
		}
		c.Status.ReservedFor = append(c.Status.ReservedFor, user)
		written, err := api.UpdateStatus(ctx, c)
		switch {
		case err != nil && a != nil:
			return fmt.Errorf("add allocation and reservation to claim %s: %w", name, err)
		case err != nil:
			return fmt.Errorf("add reservation to claim %s: %w", name, err)
		}
		c = written
		w.Wrote(c)
		return nil
	})
	return c, err
}

// CreateExtended creates the claim for a pod's extended resources.
func (w *Writer) CreateExtended(ctx context.Context, pod *corev1.Pod, spec resourcev1.ResourceClaimSpec) (*resourcev1.ResourceClaim, error) {
	c, err := client.For[*resourcev1.ResourceClaim](w.Client).Namespace(pod.Namespace).Create(ctx, &resourcev1.ResourceClaim{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: pod.Namespace, GenerateName: pod.Name + "-extended-resources-",
			OwnerReferences: []metav1.OwnerReference{{APIVersion: "v1", Kind: "Pod", Name: pod.Name, UID: pod.UID, Controller: ptr.To(true)}},
			Annotations:     map[string]string{resourcev1.ExtendedResourceClaimAnnotation: "true"},
		},
		Spec: spec,
	})
	if err != nil {
		return nil, fmt.Errorf("create claim for extended resources %s/: %w", pod.Namespace, err)
	}
	w.Wrote(c)
	return c, nil
}

// NameExtended writes the claim for a pod's extended resources into the pod's status.
func (w *Writer) NameExtended(ctx context.Context, pod *corev1.Pod, claim string, uses []corev1.ContainerExtendedResourceRequest) error {
	_, err := client.For[*corev1.Pod](w.Client).Namespace(pod.Namespace).Patch(ctx, pod.Name, client.StrategicPatch(map[string]any{
		"metadata": map[string]any{"uid": pod.UID},
		"status": map[string]any{"extendedResourceClaimStatus": corev1.PodExtendedResourceClaimStatus{
			RequestMappings: uses, ResourceClaimName: claim,
		}},
	}).On("status"))
	if err != nil {
		return fmt.Errorf("update pod %s/%s ExtendedResourceClaimStatus: %w", pod.Namespace, pod.Name, err)
	}
	return nil
}

// Wait waits until the devices of claims meet their conditions, or fail to, or the time is over.
func (w *Writer) Wait(ctx context.Context, claims []*resourcev1.ResourceClaim, timeout time.Duration) error {
	claims = slices.Clone(claims)
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	for {
		changed := w.Bell.Wait()
		all := true
		for i, c := range claims {
			if seen, ok := w.Seen.Get(c.Namespace, c.Name); ok && !isOlder(seen, c) {
				claims[i] = seen
			}
			ready, err := IsReady(claims[i])
			if err != nil {
				return err
			}
			if !ready && IsLate(claims[i], timeout) {
				return fmt.Errorf("%w: claim=%s", ErrBindingTimeout, c.Name)
			}
			all = all && ready
		}
		if all {
			return nil
		}
		select {
		case <-changed:
		case <-ctx.Done():
			if errors.Is(ctx.Err(), context.DeadlineExceeded) {
				return fmt.Errorf("%w: %w", ErrBindingTimeout, ctx.Err())
			}
			return ctx.Err()
		}
	}
}
