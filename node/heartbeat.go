package node

import (
	"context"
	"math/rand/v2"
	"slices"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
)

// imageReportDelay is the time from the first new image to the status report that lists it.
const imageReportDelay = 10 * time.Second

// keepAlive renews the lease, and reports the status when it is due. It returns when to run again; zero once the
// Node has been deleted.
func (k *kubelet) keepAlive(ctx context.Context) (time.Time, error) {
	if k.inOutage() {
		return time.Time{}, k.leave(ctx)
	}
	now := time.Now()
	if now.Sub(k.heartbeat.reported) >= k.options.statusPeriod() || k.hasNews(now) {
		if err := k.report(ctx, now); err != nil {
			return time.Time{}, err
		}
	}
	if k.heartbeat.retired {
		return time.Time{}, nil
	}
	if err := k.renew(ctx, now, k.options.LeaseDuration); err != nil {
		return time.Time{}, err
	}
	if k.heartbeat.retired {
		return time.Time{}, nil
	}
	late := k.heartbeat.left || !k.heartbeat.renewed.IsZero() && now.Sub(k.heartbeat.renewed) > k.options.LeaseDuration
	if late && k.heartbeat.reported.Before(now) {
		// The node lifecycle controller may have set conditions to Unknown.
		if err := k.report(ctx, now); err != nil || k.heartbeat.retired {
			return time.Time{}, err
		}
	}
	k.heartbeat.renewed, k.heartbeat.left = now, false
	// Up to a tenth earlier, so that nodes that started together drift apart. Nodes whose times are close to each other write
	// their leases at once, which wakes the process once, and which the store syncs together.
	period := k.options.LeaseDuration / 4
	return now.Add(period - rand.N(period/10)).Truncate(period / 100), nil
}

// leave shortens a long lease once at the beginning of an outage.
func (k *kubelet) leave(ctx context.Context) error {
	if !k.options.RareHeartbeats || k.heartbeat.renewed.IsZero() || k.heartbeat.left || k.heartbeat.retired {
		return nil
	}
	if err := k.renew(ctx, time.Now(), outageLease); err != nil {
		return err
	}
	k.heartbeat.left = true
	return nil
}

// report writes the Node's status with new heartbeat times.
func (k *kubelet) report(ctx context.Context, now time.Time) error {
	told := k.imageNews(time.Time{})
	k.mu.Lock()
	k.mu.devices, k.mu.news = false, false
	k.mu.Unlock()
	node, err := k.current(ctx)
	if err == nil && node == nil {
		k.retire()
		return nil
	}
	var status *corev1.NodeStatus
	if err == nil {
		status, err = k.nextStatus(node)
	}
	if err == nil {
		_, err = k.writeStatus(ctx, node, status)
	}
	if err == nil {
		k.heartbeat.reported = now
	} else {
		k.imageNews(told)
		k.mu.Lock()
		k.mu.news = true
		k.mu.Unlock()
	}
	return err
}

// current returns the Node that was registered; nil if it has been deleted.
func (k *kubelet) current(ctx context.Context) (*corev1.Node, error) {
	node, err := k.nodes.Get(ctx, k.name)
	if apierrors.IsNotFound(err) || err == nil && node.UID != k.heartbeat.uid {
		return nil, nil
	}
	return node, err
}

// imageNews sets since when there are unreported images, and returns the previous time.
func (k *kubelet) imageNews(since time.Time) time.Time {
	k.mu.Lock()
	defer k.mu.Unlock()
	before := k.mu.images.Unreported
	k.mu.images.Unreported = since
	return before
}

// hasNews reports whether there are devices or conditions to report, or images for so long that a burst of pods has probably
// ended.
func (k *kubelet) hasNews(now time.Time) bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	changed := k.mu.images.Unreported
	return k.mu.devices || k.mu.news || !changed.IsZero() && now.Sub(changed) >= imageReportDelay
}

// renew writes the lease on top of the version written last, and reads the server's only if that fails.
func (k *kubelet) renew(ctx context.Context, now time.Time, valid time.Duration) error {
	if last := k.heartbeat.lease; last != nil {
		next := *last
		next.Spec.RenewTime, next.Spec.LeaseDurationSeconds = &metav1.MicroTime{Time: now}, leaseSeconds(valid)
		lease, err := k.leases.Update(ctx, &next)
		if err == nil {
			k.heartbeat.lease = lease
			return nil
		}
		k.heartbeat.lease = nil
		if !apierrors.IsConflict(err) && !apierrors.IsNotFound(err) {
			return err
		}
	}
	lease, err := k.leases.Get(ctx, k.name)
	if err != nil && !apierrors.IsNotFound(err) {
		return err
	}
	fresh := k.lease(now, valid)
	if err != nil || !slices.Equal(lease.OwnerReferences, fresh.OwnerReferences) {
		// The garbage collector deletes the lease with the Node, so the Node may be gone too, or be another one's.
		if node, err := k.current(ctx); err != nil {
			return err
		} else if node == nil {
			k.retire()
			return nil
		}
	}
	if err != nil {
		lease, err = k.leases.Create(ctx, fresh)
	} else {
		next := *lease
		next.OwnerReferences, next.Spec = fresh.OwnerReferences, fresh.Spec
		lease, err = k.leases.Update(ctx, &next)
	}
	if err == nil {
		k.heartbeat.lease = lease
	}
	return err
}

func (k *kubelet) lease(now time.Time, valid time.Duration) *coordinationv1.Lease {
	return &coordinationv1.Lease{
		ObjectMeta: metav1.ObjectMeta{
			Name: k.name,
			OwnerReferences: []metav1.OwnerReference{
				{APIVersion: "v1", Kind: "Node", Name: k.name, UID: k.heartbeat.uid},
			},
		},
		Spec: coordinationv1.LeaseSpec{
			HolderIdentity:       ptr.To(k.name),
			LeaseDurationSeconds: leaseSeconds(valid),
			RenewTime:            &metav1.MicroTime{Time: now},
		},
	}
}

func leaseSeconds(d time.Duration) *int32 { return ptr.To(max(1, int32(d/time.Second))) }

func (k *kubelet) retire() {
	k.heartbeat.retired = true
	k.env.Log.Info("node was deleted; it retires", "node", k.name)
}
