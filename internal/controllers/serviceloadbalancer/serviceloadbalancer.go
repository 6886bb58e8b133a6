package serviceloadbalancer

import (
	"context"
	"net/netip"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"

	"fairlead.dev/client"
	"fairlead.dev/controller"
	"fairlead.dev/informer"
)

// finalizer keeps a deleted Service until its addresses are released.
const finalizer = "service.kubernetes.io/load-balancer-cleanup"

// Options configure the controller. Without a Pool there is nothing to give.
type Options struct {
	Pool Pool
}

type balancer struct {
	services controller.Objects[*corev1.Service]
	ledger   *ledger
	rec      *client.Recorder
	loop     *controller.Controller
}

// New returns the controller.
func New(env controller.Env, o Options) controller.Runner {
	b := &balancer{
		services: controller.ObjectsOf[*corev1.Service](env),
		ledger:   newLedger(o.Pool),
		rec:      env.Recorder.From("service-controller", ""),
	}
	b.loop = controller.New("serviceloadbalancer", controller.ByObject(b.services, b.reconcile), controller.Options{})
	seen := func(s *corev1.Service) {
		b.wake(s, b.ledger.show(s))
		if ours(s) || leaves(s) {
			b.loop.EnqueueFor(controller.KeyOf(s), s)
		}
	}
	return b.loop.Watch(controller.Handles(b.services, informer.Handler[*corev1.Service]{
		Add:    func(s *corev1.Service, _ bool) { seen(s) },
		Update: func(_, s *corev1.Service) { seen(s) },
		Delete: func(s *corev1.Service) { b.wake(s, b.ledger.gone(s)) },
	}))
}

func (b *balancer) wake(because *corev1.Service, waiting []controller.Key) {
	for _, k := range waiting {
		b.loop.EnqueueFor(k, because)
	}
}

// ours reports whether a Service wants addresses of the pool.
func ours(s *corev1.Service) bool {
	return s.Spec.Type == corev1.ServiceTypeLoadBalancer && s.Spec.LoadBalancerClass == nil && s.DeletionTimestamp == nil
}

// leaves reports whether a Service had addresses of the pool, and wants none now.
func leaves(s *corev1.Service) bool {
	return !ours(s) && s.Spec.LoadBalancerClass == nil && slices.Contains(s.Finalizers, finalizer)
}

// shown returns the addresses in a Service's status.
func shown(s *corev1.Service) (all []netip.Addr) {
	for _, in := range s.Status.LoadBalancer.Ingress {
		if ip, err := netip.ParseAddr(in.IP); err == nil {
			all = append(all, ip)
		}
	}
	return all
}

func (b *balancer) reconcile(ctx context.Context, s *corev1.Service) (controller.Result, error) {
	switch {
	case leaves(s):
		return controller.Result{}, b.release(ctx, s)
	case ours(s):
		return controller.Result{}, b.provide(ctx, s)
	}
	return controller.Result{}, nil
}

// provide gives a Service its addresses, if it does not show them.
func (b *balancer) provide(ctx context.Context, s *corev1.Service) error {
	all, err := b.ledger.give(s, func() bool {
		now, ok := b.services.Store().Get(s.Namespace, s.Name)
		return ok && now.UID == s.UID && ours(now)
	})
	if err != nil {
		b.rec.Event(s, corev1.EventTypeWarning, "SyncLoadBalancerFailed", "Error syncing load balancer: %v", err)
		return nil // it waits
	}
	if len(all) == 0 || slices.Equal(all, shown(s)) && slices.Contains(s.Finalizers, finalizer) {
		return nil
	}
	to := s.DeepCopy()
	if !slices.Contains(to.Finalizers, finalizer) {
		to.Finalizers = append(to.Finalizers, finalizer)
	}
	to.Status.LoadBalancer = corev1.LoadBalancerStatus{}
	for _, ip := range all {
		to.Status.LoadBalancer.Ingress = append(to.Status.LoadBalancer.Ingress, corev1.LoadBalancerIngress{
			IP: ip.String(), IPMode: ptr.To(corev1.LoadBalancerIPModeVIP),
		})
	}
	if err := b.write(ctx, s, to); err != nil {
		return client.IgnoreNotFound(err)
	}
	b.rec.Event(s, corev1.EventTypeNormal, "EnsuredLoadBalancer", "Ensured load balancer")
	return nil
}

// release removes the addresses and the finalizer.
func (b *balancer) release(ctx context.Context, s *corev1.Service) error {
	to := s.DeepCopy()
	to.Finalizers = slices.DeleteFunc(to.Finalizers, func(f string) bool { return f == finalizer })
	to.Status.LoadBalancer = corev1.LoadBalancerStatus{}
	if err := b.write(ctx, s, to); err != nil {
		return client.IgnoreNotFound(err)
	}
	b.rec.Event(s, corev1.EventTypeNormal, "DeletedLoadBalancer", "Deleted load balancer")
	return nil
}

// write writes the difference by way of the status, which may change finalizers too.
func (b *balancer) write(ctx context.Context, s, to *corev1.Service) error {
	_, err := b.services.API.Namespace(s.Namespace).Patch(ctx, s.Name, client.MergeFromLocked(s, to).On("status"))
	return err
}
