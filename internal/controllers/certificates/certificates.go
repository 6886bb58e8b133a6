package certificates

import (
	"context"
	"crypto"
	"crypto/x509"
	"slices"
	"time"

	authorizationv1 "k8s.io/api/authorization/v1"
	certificatesv1 "k8s.io/api/certificates/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"fairlead.dev/client"
	"fairlead.dev/controller"
)

// An Authority is a signing CA. Without one, requests are only approved and cleaned.
type Authority struct {
	Certificate *x509.Certificate
	Key         crypto.Signer
	// Chain, in PEM, follows a signed certificate; it may be empty.
	Chain []byte
}

// Options configure the controller.
type Options struct {
	// Authority returns the present CA; nil is for none.
	Authority func() Authority
	// Duration is the maximum lifetime of a certificate. Zero means a year.
	Duration time.Duration
	// Now is the clock of the certificates. Nil means time.Now.
	Now func() time.Time
}

type requests struct {
	o        Options
	all      controller.Objects[*certificatesv1.CertificateSigningRequest]
	nodes    client.Resource[*corev1.Node]
	reviews  client.Resource[*authorizationv1.SubjectAccessReview]
	recorder *client.Recorder
}

// New returns the controller.
func New(env controller.Env, o Options) controller.Runner {
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Duration == 0 {
		o.Duration = 365 * 24 * time.Hour
	}
	r := &requests{
		o:        o,
		all:      controller.ObjectsOf[*certificatesv1.CertificateSigningRequest](env),
		nodes:    client.For[*corev1.Node](env.Client),
		reviews:  client.For[*authorizationv1.SubjectAccessReview](env.Client),
		recorder: env.Recorder,
	}
	return controller.New("certificates", controller.ByObject(r.all, r.reconcile), controller.Options{}).Watch(
		controller.For(r.all))
}

func (r *requests) reconcile(ctx context.Context, csr *certificatesv1.CertificateSigningRequest) (controller.Result, error) {
	end, ends := expiry(csr)
	if ends && time.Until(end) <= 0 {
		err := r.all.API.Delete(ctx, csr.Name, metav1.DeleteOptions{
			Preconditions: &metav1.Preconditions{UID: &csr.UID, ResourceVersion: &csr.ResourceVersion},
		})
		return controller.Result{}, client.IgnoreNotFound(err)
	}
	var err error
	switch {
	case len(csr.Status.Certificate) > 0:
	case is(csr, certificatesv1.CertificateApproved):
		err = r.sign(ctx, csr)
	case !is(csr, certificatesv1.CertificateDenied):
		err = r.approve(ctx, csr)
	}
	if err != nil || !ends {
		return controller.Result{}, err
	}
	return controller.Result{RequeueAfter: time.Until(end)}, nil
}

func is(csr *certificatesv1.CertificateSigningRequest, kind certificatesv1.RequestConditionType) bool {
	return slices.ContainsFunc(csr.Status.Conditions, func(c certificatesv1.CertificateSigningRequestCondition) bool {
		return c.Type == kind && (c.Status == corev1.ConditionTrue || c.Status == "")
	})
}

// with returns a copy of a request with one more condition.
func with(csr *certificatesv1.CertificateSigningRequest, kind certificatesv1.RequestConditionType, reason, message string) *certificatesv1.CertificateSigningRequest {
	csr = csr.DeepCopy()
	csr.Status.Conditions = append(csr.Status.Conditions, certificatesv1.CertificateSigningRequestCondition{
		Type: kind, Status: corev1.ConditionTrue, Reason: reason, Message: message, LastUpdateTime: metav1.Now(),
	})
	return csr
}
