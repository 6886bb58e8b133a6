package namespace

import (
	"context"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"fairlead.dev/client"
	"fairlead.dev/controller"
	"fairlead.dev/informer"
	"fairlead.dev/internal/controllers/podcontrol"
)

const (
	// lull batches the deletions of a namespace's pods into one pass.
	lull = 50 * time.Millisecond
	// podsAgain is when overdue pods are checked again, and slack the time they have beyond their grace period.
	podsAgain = 15 * time.Second
	slack     = 5 * time.Second
)

type namespaces struct {
	env   controller.Env
	all   controller.Objects[*corev1.Namespace]
	pods  controller.Objects[*corev1.Pod]
	loop  *controller.Controller
	waits podcontrol.Backoff
}

// New returns the Namespace controller.
func New(env controller.Env) controller.Runner {
	n := &namespaces{
		env:   env,
		all:   controller.ObjectsOf[*corev1.Namespace](env),
		pods:  controller.ObjectsOf[*corev1.Pod](env),
		waits: podcontrol.Backoff{First: 100 * time.Millisecond, Max: 10 * time.Second},
	}
	n.loop = controller.New("namespace", controller.ByObject(n.all, n.reconcile, n.waits.Forget), controller.Options{})
	return n.loop.Watch(
		controller.Watches(n.all, terminating),
		controller.Handles(n.pods, informer.Handler[*corev1.Pod]{Delete: n.podGone}),
	)
}

// terminating returns the key of a terminating namespace.
func terminating(ns *corev1.Namespace) []controller.Key {
	if ns.DeletionTimestamp == nil {
		return nil
	}
	return controller.Self(ns)
}

func (n *namespaces) podGone(p *corev1.Pod) {
	if ns, ok := n.all.Store().Get("", p.Namespace); ok && ns.DeletionTimestamp != nil {
		n.loop.EnqueueForAfter(controller.Key{Name: ns.Name}, p, lull)
	}
}

func (n *namespaces) reconcile(ctx context.Context, cached *corev1.Namespace) (controller.Result, error) {
	k := controller.KeyOf(cached)
	if cached.DeletionTimestamp == nil || finalized(cached) {
		n.waits.Forget(k)
		return controller.Result{}, nil
	}
	if left, waits := n.onlyWaitsForPods(cached); waits {
		return controller.Result{RequeueAfter: left}, nil
	}
	ns, err := n.all.API.Get(ctx, k.Name)
	if apierrors.IsNotFound(err) {
		return controller.Result{}, nil
	}
	if err != nil || ns.UID != cached.UID || finalized(ns) {
		return controller.Result{}, err
	}
	if ns, err = n.markTerminating(ctx, ns); err != nil {
		return controller.Result{}, client.IgnoreNotFound(err)
	}

	found := n.sweep(ctx, ns)
	if err := n.report(ctx, ns, found); err != nil {
		return controller.Result{}, client.IgnoreNotFound(err)
	}
	switch {
	case found.err() != nil:
		return controller.Result{}, found.err()
	case found.podsEnding:
		if left, waits := n.onlyWaitsForPods(ns); waits {
			return controller.Result{RequeueAfter: left}, nil
		}
		return controller.Result{RequeueAfter: podsAgain}, nil
	case found.remains():
		return controller.Result{RequeueAfter: n.waits.Next(k)}, nil
	}
	n.waits.Forget(k)
	return controller.Result{}, client.IgnoreNotFound(n.finalize(ctx, k.Name))
}

// onlyWaitsForPods reports whether an earlier pass has deleted all pods and some are still terminating, so that the
// only work is to wait; left is how long the last of them may take.
func (n *namespaces) onlyWaitsForPods(ns *corev1.Namespace) (left time.Duration, waits bool) {
	pods := n.pods.Store().List(ns.Name)
	if ns.Status.Phase != corev1.NamespaceTerminating || len(pods) == 0 {
		return 0, false
	}
	for _, p := range pods {
		if p.DeletionTimestamp == nil || len(p.Finalizers) > 0 {
			return 0, false
		}
		mine := time.Until(p.DeletionTimestamp.Time) + slack
		if mine <= 0 {
			return 0, false
		}
		left = max(left, mine)
	}
	return left, true
}

func finalized(ns *corev1.Namespace) bool {
	return !slices.Contains(ns.Spec.Finalizers, corev1.FinalizerKubernetes)
}
