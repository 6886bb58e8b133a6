package servicecidr

import (
	"context"
	"time"

	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"fairlead.dev/client"
	"fairlead.dev/controller"
	"fairlead.dev/informer"
)

const (
	manager   = "service-cidr-controller"
	finalizer = "networking.k8s.io/service-cidr-finalizer"
	// grace is how long after its deletion servers may still allocate addresses from a range.
	grace = 10 * time.Second
)

type ranges struct {
	all       controller.Objects[*networkingv1.ServiceCIDR]
	addresses controller.Objects[*networkingv1.IPAddress]
	rec       *client.Recorder
	loop      *controller.Controller
}

// New returns the controller.
func New(env controller.Env) controller.Runner {
	r := &ranges{
		all:       controller.ObjectsOf[*networkingv1.ServiceCIDR](env),
		addresses: controller.ObjectsOf[*networkingv1.IPAddress](env),
		rec:       env.Recorder.From(manager, ""),
	}
	r.loop = controller.New("servicecidr", controller.ByObject(r.all, r.reconcile), controller.Options{})
	return r.loop.Watch(
		controller.Handles(r.all, informer.Handler[*networkingv1.ServiceCIDR]{
			Add:    func(c *networkingv1.ServiceCIDR, _ bool) { r.loop.EnqueueFor(controller.KeyOf(c), c); r.wake(c) },
			Update: func(_, c *networkingv1.ServiceCIDR) { r.loop.EnqueueFor(controller.KeyOf(c), c) },
		}),
		controller.Handles(r.addresses, informer.Handler[*networkingv1.IPAddress]{
			Delete: func(a *networkingv1.IPAddress) { r.wake(a) },
		}),
	)
}

// wake enqueues terminating ranges: the changed object may have held them.
func (r *ranges) wake(because client.Object) {
	for _, c := range r.all.Store().List("") {
		if c.DeletionTimestamp != nil {
			r.loop.EnqueueFor(controller.KeyOf(c), because)
		}
	}
}

func (r *ranges) reconcile(ctx context.Context, c *networkingv1.ServiceCIDR) (controller.Result, error) {
	if c.DeletionTimestamp != nil && r.used(c) {
		return controller.Result{}, r.say(ctx, c, metav1.ConditionFalse, networkingv1.ServiceCIDRReasonTerminating,
			"There are still IPAddresses referencing the ServiceCIDR, please remove them or create a new ServiceCIDR")
	}
	if c.DeletionTimestamp != nil {
		if left := grace - time.Since(c.DeletionTimestamp.Time); left > 0 {
			return controller.Result{RequeueAfter: left}, nil
		}
	}
	res, err := controller.Protect(ctx, r.all.API, c, finalizer, func() (bool, error) { return false, nil })
	if err != nil || c.DeletionTimestamp != nil {
		return res, err
	}
	if err := r.say(ctx, c, metav1.ConditionTrue, "", "Kubernetes Service CIDR is ready"); err != nil {
		r.rec.Event(c, corev1.EventTypeWarning, "KubernetesServiceCIDRError", "The ServiceCIDR Status can not be set to Ready=True")
		return controller.Result{}, err
	}
	return controller.Result{}, nil
}

// say writes the Ready condition, if it has changed.
func (r *ranges) say(ctx context.Context, c *networkingv1.ServiceCIDR, status metav1.ConditionStatus, reason, message string) error {
	was := meta.FindStatusCondition(c.Status.Conditions, networkingv1.ServiceCIDRConditionReady)
	if was != nil && was.Status == status && was.Reason == reason && was.Message == message {
		return nil
	}
	force := true
	_, err := r.all.API.Patch(ctx, c.Name, client.ApplyPatch(map[string]any{
		"apiVersion": networkingv1.SchemeGroupVersion.String(), "kind": "ServiceCIDR", "metadata": map[string]any{"name": c.Name},
		"status": map[string]any{"conditions": []metav1.Condition{{
			Type: networkingv1.ServiceCIDRConditionReady, Status: status, Reason: reason, Message: message, LastTransitionTime: metav1.Now(),
		}}},
	}).On("status"), metav1.PatchOptions{FieldManager: manager, Force: &force})
	return client.IgnoreNotFound(err)
}
