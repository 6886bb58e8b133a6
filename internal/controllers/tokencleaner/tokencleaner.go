package tokencleaner

import (
	"context"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	bootstrapsecrets "k8s.io/cluster-bootstrap/util/secrets"

	"fairlead.dev/client"
	"fairlead.dev/controller"
	"fairlead.dev/internal/controllers/bootstraptoken"
)

type cleaner struct {
	tokens controller.Objects[*corev1.Secret]
}

// New returns the controller.
func New(env controller.Env) controller.Runner {
	c := &cleaner{bootstraptoken.Objects(env)}
	loop := controller.New("tokencleaner", controller.ByObject(c.tokens, c.reconcile), controller.Options{})
	return controller.Runners{c.tokens, loop.Watch(controller.For(c.tokens))}
}

func (c *cleaner) reconcile(ctx context.Context, s *corev1.Secret) (controller.Result, error) {
	left, expired := bootstrapsecrets.GetExpiration(s, time.Now())
	if !expired {
		return controller.Result{RequeueAfter: left}, nil
	}
	err := c.tokens.API.Delete(ctx, s.Name, metav1.DeleteOptions{Preconditions: &metav1.Preconditions{UID: &s.UID}})
	if apierrors.IsConflict(err) { // another Secret of that name
		err = nil
	}
	return controller.Result{}, client.IgnoreNotFound(err)
}
