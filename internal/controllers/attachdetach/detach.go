package attachdetach

import (
	"context"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"fairlead.dev/client"
	"fairlead.dev/controller"
)

// drain is how long a volume may stay mounted on a node that is not ready.
const drain = 6 * time.Minute

// detach detaches a volume if that is safe. Otherwise it returns when to look again, if no event will tell.
func (a *attacher) detach(ctx context.Context, va *storagev1.VolumeAttachment) (time.Duration, error) {
	if va.DeletionTimestamp != nil {
		return 0, nil
	}
	var at attachment
	a.memory.with(va.Name, func(x *attachment) {
		if x.since.IsZero() {
			x.since = time.Now()
		}
		x.waiting = false
		at = *x
	})
	left := drain - time.Since(at.since)
	n, exists := a.nodes.Store().Get("", va.Spec.NodeName)
	var is state
	mounted := !at.unmounted
	name := a.nameOf(va, n)
	if exists {
		is, mounted = bearing(n), slices.Contains(n.Status.VolumesInUse, name)
	}
	forced := is.outOfService || !is.ready && left <= 0
	if mounted && !forced {
		return max(left, 0), nil
	}
	a.memory.with(va.Name, func(x *attachment) { x.detaching = true })
	if exists {
		safe, err := a.withdraw(ctx, n, name, forced)
		if err != nil || !safe {
			a.memory.with(va.Name, func(x *attachment) { x.detaching = false })
			a.listed(va)
			return max(left, 0), err
		}
	}
	err := a.attachments.API.Delete(ctx, va.Name, metav1.DeleteOptions{Preconditions: &metav1.Preconditions{UID: &va.UID}})
	if apierrors.IsConflict(err) {
		return 0, nil // another one has the name by now
	}
	return 0, client.IgnoreNotFound(err)
}

// withdraw removes a volume from the node's status.volumesAttached, and reports whether the node has not mounted it
// meanwhile, which does not matter if it is forced.
func (a *attacher) withdraw(ctx context.Context, n *corev1.Node, name corev1.UniqueVolumeName, forced bool) (bool, error) {
	if _, err := a.syncNode(ctx, n); err != nil || forced {
		return err == nil, err
	}
	live, err := a.nodes.API.Get(ctx, n.Name)
	if err != nil {
		return apierrors.IsNotFound(err), client.IgnoreNotFound(err)
	}
	return !slices.Contains(live.Status.VolumesInUse, name), nil
}

// syncNode lists the attached CSI volumes in a node's status.
func (a *attacher) syncNode(ctx context.Context, n *corev1.Node) (controller.Result, error) {
	var list []corev1.AttachedVolume
	for _, va := range a.attachments.Store().ByIndex(byNode, n.Name) {
		at, known := a.memory.get(va.Name)
		if name := a.nameOf(va, n); name != "" && known && !at.detaching && va.Status.Attached && va.DeletionTimestamp == nil {
			list = append(list, corev1.AttachedVolume{Name: name})
		}
	}
	for _, v := range n.Status.VolumesAttached {
		if !strings.HasPrefix(string(v.Name), prefix) {
			list = append(list, v)
		}
	}
	byName := func(x, y corev1.AttachedVolume) int { return strings.Compare(string(x.Name), string(y.Name)) }
	slices.SortFunc(list, byName)
	if slices.Equal(list, slices.SortedFunc(slices.Values(n.Status.VolumesAttached), byName)) {
		return controller.Result{}, nil
	}
	_, err := a.nodes.API.Patch(ctx, n.Name, client.MergePatch(map[string]any{
		"metadata": map[string]any{"uid": n.UID}, "status": map[string]any{"volumesAttached": list},
	}).On("status"))
	return controller.Result{}, client.IgnoreNotFound(err)
}
