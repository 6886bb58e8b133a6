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
	"fairlead.dev/informer"
	"fairlead.dev/internal/controllers/podcontrol"
)

var kind = appsv1.SchemeGroupVersion.WithKind("Deployment")

type deployments struct {
	env    controller.Env
	all    controller.Objects[*appsv1.Deployment]
	sets   podcontrol.Owned[*appsv1.ReplicaSet]
	pods   podcontrol.Owned[*corev1.Pod]
	owners podcontrol.Owners[*appsv1.Deployment] // of sets
	rec    *client.Recorder
	loop   *controller.Controller
}

// New returns the Deployment controller.
func New(env controller.Env) controller.Runner {
	c := &deployments{
		env:  env,
		all:  controller.ObjectsOf[*appsv1.Deployment](env),
		sets: podcontrol.OwnedOf[*appsv1.ReplicaSet](env),
		pods: podcontrol.OwnedOf[*corev1.Pod](env),
		rec:  env.Recorder.From("deployment-controller", ""),
	}
	c.owners = podcontrol.Owners[*appsv1.Deployment]{Kind: kind, From: c.all, Selector: selectorOf}
	c.loop = controller.New("deployment", controller.ByObject(c.all, c.reconcile), controller.Options{})
	return c.loop.Watch(
		controller.For(c.all),
		controller.Handles(c.sets, informer.Handler[*appsv1.ReplicaSet]{
			Add:    func(rs *appsv1.ReplicaSet, _ bool) { c.setSeen(rs) },
			Update: c.setUpdated,
			Delete: c.enqueueOwner,
		}),
		controller.Watches(c.pods, c.recreatesOf).On(controller.Deleted),
	)
}

func selectorOf(d *appsv1.Deployment) (labels.Selector, error) {
	return metav1.LabelSelectorAsSelector(d.Spec.Selector)
}

// reconcile brings a Deployment's sets nearer to its spec. If the Deployment or its namespace is deleted meanwhile,
// that is not an error: their events end the work.
func (c *deployments) reconcile(ctx context.Context, d *appsv1.Deployment) (controller.Result, error) {
	res, err := c.sync(ctx, d.DeepCopy())
	if podcontrol.NamespaceGoing(err) || isGone(err, d) {
		return controller.Result{}, nil
	}
	return res, err
}

// isGone reports whether the API server answered that the Deployment does not exist.
func isGone(err error, of *appsv1.Deployment) bool {
	status, ok := errors.AsType[*apierrors.StatusError](err)
	if !ok || !apierrors.IsNotFound(err) {
		return false
	}
	d := status.ErrStatus.Details
	return d != nil && d.Group == kind.Group && d.Kind == "deployments" && d.Name == of.Name
}

func (c *deployments) sync(ctx context.Context, d *appsv1.Deployment) (controller.Result, error) {
	selector, err := selectorOf(d)
	if err != nil {
		c.env.Log.Warn("unusable selector", "controller", "deployment", "object", controller.KeyOf(d), "error", err)
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
	_, err := c.all.API.Namespace(d.Namespace).UpdateStatus(ctx, d)
	return err
}

func (c *deployments) claim(ctx context.Context, d *appsv1.Deployment, selector labels.Selector) ([]*appsv1.ReplicaSet, error) {
	claim := podcontrol.Claim[*appsv1.ReplicaSet]{
		Owner:    d,
		Kind:     kind,
		Selector: selector,
		Resource: c.sets.API,
		Fresh:    podcontrol.Fresh(c.all.API, d),
	}
	return claim.Take(ctx, c.sets.By(d.UID), c.sets.Orphans(d.Namespace))
}
