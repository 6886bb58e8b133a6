package resourcepoolstatusrequest

import (
	"context"
	"errors"
	"log/slog"
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

// maxRetries is how often a request is tried again while slices are missing.
const maxRetries = 5

var errIncomplete = errors.New("slices of a pool are missing")

// Options of the controller.
type Options struct {
	// NoRules ignores DeviceTaintRules, which an older API does not have.
	NoRules bool
	// Metrics count the answers; nil means Metrics of its own.
	Metrics *Metrics
}

type answerer struct {
	requests controller.Objects[*resourcev1alpha3.ResourcePoolStatusRequest]
	slices   controller.Objects[*resourcev1.ResourceSlice]
	claims   controller.Objects[*resourcev1.ResourceClaim]
	rules    *controller.Objects[*resourcev1.DeviceTaintRule] // nil: the API has no rules
	metrics  *Metrics
	log      *slog.Logger
	failures func(controller.Key) int
}

// New returns the controller.
func New(env controller.Env, o Options) controller.Runner {
	if o.Metrics == nil {
		o.Metrics = NewMetrics()
	}
	a := &answerer{
		requests: controller.ObjectsOf[*resourcev1alpha3.ResourcePoolStatusRequest](env),
		slices:   controller.ObjectsOf[*resourcev1.ResourceSlice](env),
		claims:   controller.ObjectsOf[*resourcev1.ResourceClaim](env),
		metrics:  o.Metrics,
		log:      env.Log,
	}
	sources := []controller.Source{controller.For(a.requests), controller.Reads(a.slices), controller.Reads(a.claims)}
	if !o.NoRules {
		rules := controller.ObjectsOf[*resourcev1.DeviceTaintRule](env)
		a.rules = &rules
		sources = append(sources, controller.Reads(rules))
	}
	c := controller.New("resourcepoolstatusrequest", controller.ByObject(a.requests, a.reconcile), controller.Options{})
	a.failures = c.Failures
	return c.Watch(sources...)
}

func (a *answerer) reconcile(ctx context.Context, r *resourcev1alpha3.ResourcePoolStatusRequest) (controller.Result, error) {
	if left := time.Until(expiry(r)); left <= 0 {
		err := a.requests.API.Delete(ctx, r.Name, metav1.DeleteOptions{Preconditions: &metav1.Preconditions{UID: &r.UID}})
		return controller.Result{}, client.IgnoreNotFound(err)
	} else if r.Status != nil {
		return controller.Result{RequeueAfter: left}, nil
	}
	begun := time.Now()
	status, complete := a.answer(r)
	if !complete && a.failures(controller.KeyOf(r)) < maxRetries {
		return controller.Result{}, errIncomplete
	}
	if !complete {
		a.log.Error("giving up a request", "request", r.Name, "err", errIncomplete)
		return controller.Result{RequeueAfter: time.Until(expiry(r))}, nil
	}
	answered := r.DeepCopy()
	answered.Status = status
	_, err := a.requests.API.UpdateStatus(ctx, answered)
	a.metrics.answered(r.Spec.Driver, begun, err)
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
