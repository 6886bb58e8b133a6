package node

import (
	"context"
	"math/rand/v2"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"
)

// beat is what keeps a node alive.
type beat struct {
	uid      types.UID // of the Node
	lease    *coordinationv1.Lease
	renewed  time.Time // the lease, last
	reported time.Time // the conditions
	retired  bool      // the Node was deleted
}

// newsAfter is how long news about images waits to be told.
const newsAfter = 10 * time.Second

// keepAlive renews the lease, and the conditions when it is time. It returns when to do
// it again; never, once the Node is gone.
func (k *kubelet) keepAlive(ctx context.Context) (time.Time, error) {
	if k.isDark() {
		return time.Time{}, nil
	}
	now := time.Now()
	if now.Sub(k.beat.reported) >= heartbeat || k.hasNews(now) {
		if err := k.report(ctx, now); err != nil {
			return time.Time{}, err
		}
	}
	if k.beat.retired {
		return time.Time{}, nil
	}
	if err := k.renew(ctx, now); err != nil {
		return time.Time{}, err
	}
	if k.beat.retired {
		return time.Time{}, nil
	}
	if !k.beat.renewed.IsZero() && now.Sub(k.beat.renewed) > k.options.LeaseDuration && k.beat.reported.Before(now) {
		// Others may have concluded that the node is not well.
		if err := k.report(ctx, now); err != nil || k.beat.retired {
			return time.Time{}, err
		}
	}
	k.beat.renewed = now
	// Up to a tenth earlier, so that nodes that started together drift apart.
	period := k.options.LeaseDuration / 4
	return now.Add(period - rand.N(period/10)), nil
}

// report brings the Node's status up to date, heartbeat times above all.
func (k *kubelet) report(ctx context.Context, now time.Time) error {
	told := k.news(time.Time{})
	k.mu.Lock()
	k.mu.devices = false
	k.mu.Unlock()
	node, err := k.adopt(ctx)
	if apierrors.IsNotFound(err) || err == nil && node.UID != k.beat.uid {
		k.retire()
		return nil
	}
	if err == nil {
		k.beat.reported = now
	} else {
		k.news(told)
	}
	return err
}

// news says since when there are images to be told of, and returns what was said before.
func (k *kubelet) news(since time.Time) time.Time {
	k.mu.Lock()
	defer k.mu.Unlock()
	before := k.mu.images.changed
	k.mu.images.changed = since
	return before
}

// hasNews reports whether there are devices to be told of, or images, for so long that a burst of pods is
// likely over.
func (k *kubelet) hasNews(now time.Time) bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	changed := k.mu.images.changed
	return k.mu.devices || !changed.IsZero() && now.Sub(changed) >= newsAfter
}

// renew writes the lease on top of what was written last, and looks at what is there only
// when that fails.
func (k *kubelet) renew(ctx context.Context, now time.Time) error {
	if last := k.beat.lease; last != nil {
		next := *last
		next.Spec.RenewTime = &metav1.MicroTime{Time: now}
		lease, err := k.leases.Update(ctx, &next)
		if err == nil {
			k.beat.lease = lease
			return nil
		}
		k.beat.lease = nil
		if !apierrors.IsConflict(err) && !apierrors.IsNotFound(err) {
			return err
		}
	}
	// The lease goes with the Node, so its absence is a reason to look for that.
	lease, err := k.leases.Get(ctx, k.name)
	if apierrors.IsNotFound(err) {
		if node, err := k.nodes.Get(ctx, k.name); apierrors.IsNotFound(err) || err == nil && node.UID != k.beat.uid {
			k.retire()
			return nil
		} else if err != nil {
			return err
		}
		lease, err = k.leases.Create(ctx, k.lease(now))
	} else if err == nil {
		next := *lease
		next.OwnerReferences, next.Spec = k.lease(now).OwnerReferences, k.lease(now).Spec
		lease, err = k.leases.Update(ctx, &next)
	}
	if err == nil {
		k.beat.lease = lease
	}
	return err
}

func (k *kubelet) lease(now time.Time) *coordinationv1.Lease {
	return &coordinationv1.Lease{
		ObjectMeta: metav1.ObjectMeta{
			Name: k.name,
			OwnerReferences: []metav1.OwnerReference{
				{APIVersion: "v1", Kind: "Node", Name: k.name, UID: k.beat.uid},
			},
		},
		Spec: coordinationv1.LeaseSpec{
			HolderIdentity:       ptr.To(k.name),
			LeaseDurationSeconds: ptr.To(max(1, int32(k.options.LeaseDuration/time.Second))),
			RenewTime:            &metav1.MicroTime{Time: now},
		},
	}
}

func (k *kubelet) retire() {
	k.beat.retired = true
	k.env.Log.Info("node was deleted; it retires", "node", k.name)
}
