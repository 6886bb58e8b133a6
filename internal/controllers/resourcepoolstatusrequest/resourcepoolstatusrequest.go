package resourcepoolstatusrequest

import (
	"context"
	"time"

	resourcev1 "k8s.io/api/resource/v1"
	resourcev1alpha3 "k8s.io/api/resource/v1alpha3"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"fairlead.dev/client"
	"fairlead.dev/controller"
)

// How long requests are kept: answered ones from their answer on, others from their creation.
const (
	keepAnswered = time.Hour
	keepPending  = 24 * time.Hour
)

// Options of the controller.
type Options struct {
	// NoRules ignores DeviceTaintRules, which an older API does not have.
	NoRules bool
}

type answerer struct {
	requests controller.Objects[*resourcev1alpha3.ResourcePoolStatusRequest]
	slices   controller.Objects[*resourcev1.ResourceSlice]
	claims   controller.Objects[*resourcev1.ResourceClaim]
	rules    *controller.Objects[*resourcev1.DeviceTaintRule] // nil: the API has no rules
}

// New returns the controller.
func New(env controller.Env, o Options) controller.Runner {
	a := &answerer{
		requests: controller.ObjectsOf[*resourcev1alpha3.ResourcePoolStatusRequest](env),
		slices:   controller.ObjectsOf[*resourcev1.ResourceSlice](env),
		claims:   controller.ObjectsOf[*resourcev1.ResourceClaim](env),
	}
	sources := []controller.Source{
		controller.For(a.requests), controller.Watches(a.slices, a.waiting), controller.Reads(a.claims),
	}
	if !o.NoRules {
		rules := controller.ObjectsOf[*resourcev1.DeviceTaintRule](env)
		a.rules = &rules
		sources = append(sources, controller.Reads(rules))
	}
	return controller.New("resourcepoolstatusrequest", controller.ByObject(a.requests, a.reconcile), controller.Options{}).Watch(sources...)
}

// waiting returns the requests that wait for slices of a driver.
func (a *answerer) waiting(s *resourcev1.ResourceSlice) (keys []controller.Key) {
	for _, r := range a.requests.Store().List("") {
		if r.Status == nil && r.Spec.Driver == s.Spec.Driver {
			keys = append(keys, controller.KeyOf(r))
		}
	}
	return keys
}

func (a *answerer) reconcile(ctx context.Context, r *resourcev1alpha3.ResourcePoolStatusRequest) (controller.Result, error) {
	if left := time.Until(expiry(r)); left <= 0 {
		err := a.requests.API.Delete(ctx, r.Name, metav1.DeleteOptions{Preconditions: &metav1.Preconditions{UID: &r.UID}})
		return controller.Result{}, client.IgnoreNotFound(err)
	} else if r.Status != nil {
		return controller.Result{RequeueAfter: left}, nil
	}
	status, complete := a.answer(r)
	if !complete {
		return controller.Result{RequeueAfter: time.Until(expiry(r))}, nil
	}
	answered := r.DeepCopy()
	answered.Status = status
	_, err := a.requests.API.UpdateStatus(ctx, answered)
	return controller.Result{}, client.IgnoreNotFound(err)
}

// expiry returns when a request is deleted.
func expiry(r *resourcev1alpha3.ResourcePoolStatusRequest) time.Time {
	if r.Status == nil {
		return r.CreationTimestamp.Add(keepPending)
	}
	for _, c := range r.Status.Conditions {
		if c.Type == resourcev1alpha3.ResourcePoolStatusRequestConditionComplete || c.Type == resourcev1alpha3.ResourcePoolStatusRequestConditionFailed {
			return c.LastTransitionTime.Add(keepAnswered)
		}
	}
	return r.CreationTimestamp.Add(keepAnswered)
}
