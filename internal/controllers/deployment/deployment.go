package deployment

import (
	"context"
	"errors"
	"fmt"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"

	"fairlead.dev/client"
	"fairlead.dev/controller"
	"fairlead.dev/internal/controllers/podcontrol"
)

var kind = appsv1.SchemeGroupVersion.WithKind("Deployment")

type deployments struct {
	env   controller.Env
	api   client.Resource[*appsv1.Deployment]
	rsAPI client.Resource[*appsv1.ReplicaSet]
	all   podcontrol.Owned[*appsv1.Deployment]
	sets  podcontrol.Owned[*appsv1.ReplicaSet]
	pods  podcontrol.Owned[*corev1.Pod]
	rec   *client.Recorder
	loop  *controller.Controller
}

// New returns the Deployment controller.
func New(env controller.Env) controller.Runner {
	c := &deployments{
		env:   env,
		api:   client.For[*appsv1.Deployment](env.Client),
		rsAPI: client.For[*appsv1.ReplicaSet](env.Client),
		all:   podcontrol.Index[*appsv1.Deployment](env.Informers),
		sets:  podcontrol.Index[*appsv1.ReplicaSet](env.Informers),
		pods:  podcontrol.Index[*corev1.Pod](env.Informers),
		rec:   env.Recorder.From("deployment-controller", ""),
	}
	c.loop = controller.New("deployment", c.reconcile, controller.Options{})
	c.watch()
	return c.loop
}

// reconcile brings a Deployment's sets nearer to its spec. If the Deployment or its namespace is deleted meanwhile,
// that is not an error: their events end the work.
func (c *deployments) reconcile(ctx context.Context, k controller.Key) (controller.Result, error) {
	res, err := c.sync(ctx, k)
	if podcontrol.NamespaceGoing(err) || isGone(err, k) {
		return controller.Result{}, nil
	}
	return res, err
}

// isGone reports whether the API server answered that the Deployment does not exist.
func isGone(err error, k controller.Key) bool {
	status, ok := errors.AsType[*apierrors.StatusError](err)
	if !ok || !apierrors.IsNotFound(err) {
		return false
	}
	d := status.ErrStatus.Details
	return d != nil && d.Group == kind.Group && d.Kind == "deployments" && d.Name == k.Name
}

func (c *deployments) sync(ctx context.Context, k controller.Key) (controller.Result, error) {
	cached, ok := c.all.Store().Get(k.Namespace, k.Name)
	if !ok {
		return controller.Result{}, nil
	}
	d := cached.DeepCopy()
	selector, err := metav1.LabelSelectorAsSelector(d.Spec.Selector)
	if err != nil {
		c.env.Log.Warn("unusable selector", "controller", "deployment", "object", k, "error", err)
		return controller.Result{}, nil
	}
	if selector.Empty() {
		return controller.Result{}, c.selectsAll(ctx, d)
	}
	sets, err := c.claim(ctx, d, selector)
	if err != nil {
		return controller.Result{}, err
	}
	p := newPass(c, ctx, d, sets)
	if to, asked := p.rollbackRequested(); asked {
		return controller.Result{}, p.rollBack(to)
	}
	if err := p.step(); err != nil {
		return controller.Result{}, err
	}
	return p.writeStatus()
}

// step does the work of one pass, except for the status.
func (p *pass) step() error {
	d := p.d
	if d.DeletionTimestamp != nil {
		return nil
	}
	p.notePause()
	if d.Spec.Paused {
		if err := p.syncNew(); err != nil {
			return err
		}
		if err := p.scale(); err != nil {
			return err
		}
		if _, asked := rollbackTo(d); asked {
			return nil // the rollback may need a revision that would be deleted
		}
		return p.cleanup()
	}
	if err := p.syncNew(); err != nil {
		return err
	}
	if p.wasScaled() {
		return p.scale()
	}
	p.rollingOut = true
	switch d.Spec.Strategy.Type {
	case appsv1.RecreateDeploymentStrategyType:
		return p.recreate()
	case appsv1.RollingUpdateDeploymentStrategyType:
		return p.roll()
	}
	return fmt.Errorf("unexpected deployment strategy type: %s", d.Spec.Strategy.Type)
}

// selectsAll warns that a Deployment without a selector is ignored.
func (c *deployments) selectsAll(ctx context.Context, d *appsv1.Deployment) error {
	c.rec.Event(d, corev1.EventTypeWarning, "SelectingAll",
		"This deployment is selecting all pods. A non-empty selector is required.")
	if d.Status.ObservedGeneration >= d.Generation {
		return nil
	}
	d.Status.ObservedGeneration = d.Generation
	_, err := c.api.Namespace(d.Namespace).UpdateStatus(ctx, d)
	return err
}

func (c *deployments) claim(ctx context.Context, d *appsv1.Deployment, selector labels.Selector) ([]*appsv1.ReplicaSet, error) {
	claim := podcontrol.Claim[*appsv1.ReplicaSet]{
		Owner:    d,
		Kind:     kind,
		Selector: selector,
		Resource: c.rsAPI,
		Fresh: func(ctx context.Context) (metav1.Object, error) {
			return c.api.Namespace(d.Namespace).Get(ctx, d.Name)
		},
	}
	return claim.Take(ctx, c.sets.By(d.UID), c.sets.Orphans(d.Namespace))
}
