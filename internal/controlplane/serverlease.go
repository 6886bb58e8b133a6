package controlplane

import (
	"context"
	"crypto/sha256"
	"encoding/base32"
	"encoding/binary"
	"log/slog"
	"math/rand/v2"
	"os"
	"strings"
	"time"

	"github.com/google/uuid"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"fairlead.dev/client"
	"fairlead.dev/internal/storageversion"
)

// serverLeaseGate is the feature gate of the Leases of API servers.
const serverLeaseGate = "APIServerIdentity"

const (
	// serverLeaseTime is how long the Lease is valid, serverLeaseRenewal the time between two renewals, which are also
	// serverLeaseJitter of it longer at random, and serverLeaseSweep the time between two searches for expired Leases.
	serverLeaseTime    = time.Hour
	serverLeaseRenewal = 10 * time.Second
	serverLeaseJitter  = 0.04
	serverLeaseSweep   = time.Hour
	// serverLeaseRetry is the first delay after a failed write, which doubles up to serverLeaseRenewal, and
	// serverLeasePatience limits the delete at the end.
	serverLeaseRetry    = 200 * time.Millisecond
	serverLeasePatience = 500 * time.Millisecond
)

// serverID is the name that kube-apiserver has on this machine: a digest of the host's name and its own, each after its
// length in two bytes.
func serverID() string {
	var text []byte
	for _, word := range []string{hostname(), storageversion.Server} {
		text = append(binary.BigEndian.AppendUint16(text, uint16(len(word))), word...)
	}
	sum := sha256.Sum256(text)
	return "apiserver-" + strings.ToLower(base32.StdEncoding.WithPadding(base32.NoPadding).EncodeToString(sum[:16]))
}

func hostname() string {
	host, err := os.Hostname()
	if err != nil {
		return "unknown"
	}
	return host
}

// A serverLease keeps the Lease by which other programs know this API server, and deletes those of servers that have ended
// without deleting theirs. The names, times and fields are kube-apiserver's. All goes over the wire in memory, so that it is
// admitted and recorded as the requests of others.
type serverLease struct {
	c      *client.Client
	log    *slog.Logger
	name   string
	holder string
	every  time.Duration
	// inherited leaves a Lease that exists as it is until its first renewal.
	inherited bool
	// asleep reports whether the client side sleeps; it is not woken for a renewal.
	asleep func() bool
	// latest is the Lease as it was last written; nil before, and after a failure.
	latest *coordinationv1.Lease
	// there is closed when the Lease is there, and failed when it is not written at the first attempt.
	there, failed chan struct{}

	stop context.CancelFunc
	done chan struct{}
}

func systemLeases(c *client.Client) client.Resource[*coordinationv1.Lease] {
	return client.For[*coordinationv1.Lease](c).Namespace(metav1.NamespaceSystem)
}

// keepLease starts to keep the server's Lease, unless its gate is off.
func (cp *ControlPlane) keepLease() error {
	o := cp.options
	if !o.API.Enabled(serverLeaseGate) {
		return nil
	}
	c, err := ownClient(cp.server)
	if err != nil {
		return err
	}
	l := &serverLease{
		c: c, log: o.Log,
		name: serverID(), every: o.pace().lease, inherited: cp.base != nil,
		asleep: func() bool { _, _, asleep := cp.sleeper.idleState(); return asleep },
		there:  make(chan struct{}), failed: make(chan struct{}), done: make(chan struct{}),
	}
	l.holder = l.name + "_" + uuid.NewString()
	ctx, stop := context.WithCancel(context.Background())
	l.stop = stop
	cp.lease = l
	go l.run(ctx)
	return nil
}

// close ends the renewals, and deletes the Lease if others may still read it.
func (l *serverLease) close(remains bool) {
	if l == nil {
		return
	}
	l.stop()
	<-l.done
	if !remains {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), serverLeasePatience)
	defer cancel()
	l.remove(ctx)
}

// run keeps the Lease until ctx ends.
func (l *serverLease) run(ctx context.Context) {
	defer close(l.done)
	if l.inherited {
		close(l.there)
		wait(ctx, l.every)
	} else {
		l.remove(ctx) // of a server that was killed: clients are not to take it for this one
	}
	var swept time.Time
	for retry := serverLeaseRetry; ctx.Err() == nil; {
		next := l.every + rand.N(time.Duration(serverLeaseJitter*float64(l.every)))
		switch {
		case l.asleep():
		case !l.renewAndTell(ctx):
			next, retry = retry, min(2*retry, serverLeaseRenewal)
		default:
			retry = serverLeaseRetry
			if time.Since(swept) >= serverLeaseSweep {
				l.sweep(ctx)
				swept = time.Now()
			}
		}
		wait(ctx, next)
	}
}

// renewAndTell renews the Lease, and tells those who wait for it.
func (l *serverLease) renewAndTell(ctx context.Context) bool {
	ok, told := l.renew(ctx), l.failed
	if ok {
		told = l.there
	}
	select {
	case <-told:
	default:
		close(told)
	}
	return ok
}

// wait returns after d, or when ctx ends.
func wait(ctx context.Context, d time.Duration) {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
	case <-ctx.Done():
	}
}

// remove deletes the Lease.
func (l *serverLease) remove(ctx context.Context) {
	if err := systemLeases(l.c).Delete(ctx, l.name); err != nil && !apierrors.IsNotFound(err) && ctx.Err() == nil {
		l.log.Warn("the API server's Lease was not deleted", "lease", l.name, "err", err)
	}
}

// renew renews the Lease, or creates it, and returns whether it could. A Lease that another server of this machine holds
// is renewed for that one.
func (l *serverLease) renew(ctx context.Context) bool {
	leases := systemLeases(l.c)
	lease, err := l.latest, error(nil)
	if lease == nil {
		lease, err = leases.Get(ctx, l.name)
	}
	switch {
	case apierrors.IsNotFound(err):
		l.latest, err = leases.Create(ctx, l.renewed(&coordinationv1.Lease{
			ObjectMeta: metav1.ObjectMeta{Name: l.name}, Spec: coordinationv1.LeaseSpec{HolderIdentity: &l.holder},
		}))
	case err == nil:
		l.latest, err = leases.Update(ctx, l.renewed(lease.DeepCopy()))
	}
	if err == nil {
		return true
	}
	l.latest = nil
	if ctx.Err() == nil && !apierrors.IsConflict(err) && !apierrors.IsNotFound(err) {
		l.log.Warn("the API server's Lease was not renewed", "lease", l.name, "err", err)
	}
	return false
}

// renewed sets the fields of a Lease that a renewal sets.
func (l *serverLease) renewed(lease *coordinationv1.Lease) *coordinationv1.Lease {
	now := metav1.NowMicro()
	lease.Spec.RenewTime, lease.Spec.LeaseDurationSeconds = &now, ptr.To(int32(serverLeaseTime.Seconds()))
	metav1.SetMetaDataLabel(&lease.ObjectMeta, storageversion.ServerLabel, storageversion.Server)
	metav1.SetMetaDataLabel(&lease.ObjectMeta, corev1.LabelHostname, hostname())
	return lease
}

// sweep deletes the Leases of API servers that are expired, or have no time at which they do.
func (l *serverLease) sweep(ctx context.Context) {
	leases := systemLeases(l.c)
	list, err := leases.List(ctx, metav1.ListOptions{LabelSelector: storageversion.ServerLabel + "=" + storageversion.Server})
	if err != nil {
		l.log.Warn("the Leases of API servers were not read", "err", err)
		return
	}
	for _, lease := range list.Items {
		s := lease.Spec
		if s.RenewTime != nil && s.LeaseDurationSeconds != nil && !s.RenewTime.Add(time.Duration(*s.LeaseDurationSeconds)*time.Second).Before(time.Now()) {
			continue
		}
		same := metav1.Preconditions{UID: &lease.UID, ResourceVersion: &lease.ResourceVersion}
		err := leases.Delete(ctx, lease.Name, metav1.DeleteOptions{Preconditions: &same})
		if err != nil && !apierrors.IsNotFound(err) && !apierrors.IsConflict(err) {
			l.log.Warn("the expired Lease of an API server was not deleted", "lease", lease.Name, "err", err)
		}
	}
}
