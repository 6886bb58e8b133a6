// Package podcertificaterequestcleaner deletes PodCertificateRequests when they are fifteen minutes old, whether or not a
// certificate was issued: a kubelet keeps the certificate and needs the request no more.
package podcertificaterequestcleaner

import (
	"context"
	"time"

	certificatesv1 "k8s.io/api/certificates/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"fairlead.dev/client"
	"fairlead.dev/controller"
)

const keep = 15 * time.Minute

type cleaner struct {
	requests controller.Objects[*certificatesv1.PodCertificateRequest]
}

// New returns the controller.
func New(env controller.Env) controller.Runner {
	c := &cleaner{controller.ObjectsOf[*certificatesv1.PodCertificateRequest](env)}
	return controller.New("podcertificaterequestcleaner", controller.ByObject(c.requests, c.reconcile), controller.Options{}).Watch(
		controller.For(c.requests).On(controller.Added))
}

func (c *cleaner) reconcile(ctx context.Context, r *certificatesv1.PodCertificateRequest) (controller.Result, error) {
	if left := keep - time.Since(r.CreationTimestamp.Time); left > 0 {
		return controller.Result{RequeueAfter: left}, nil
	}
	err := c.requests.API.Namespace(r.Namespace).Delete(ctx, r.Name, metav1.DeleteOptions{Preconditions: &metav1.Preconditions{UID: &r.UID}})
	return controller.Result{}, client.IgnoreNotFound(err)
}
