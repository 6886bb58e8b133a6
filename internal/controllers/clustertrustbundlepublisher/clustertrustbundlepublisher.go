// Package clustertrustbundlepublisher publishes the certificate authority of the API server as the ClusterTrustBundle of
// the signer kubernetes.io/kube-apiserver-serving, whose name has a hash of the certificates. A copy that was changed or
// deleted is restored, and other bundles of that signer are deleted.
package clustertrustbundlepublisher

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"strings"

	certificatesv1 "k8s.io/api/certificates/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"

	"fairlead.dev/client"
	"fairlead.dev/controller"
	"fairlead.dev/informer"
	"fairlead.dev/internal/controllers/cabundle"
)

const signer = "kubernetes.io/kube-apiserver-serving"

// Options configure the publisher.
type Options struct {
	// CA is the bundle to publish. Without certificates at the start the publisher is idle.
	CA cabundle.Bundle
}

type publisher struct {
	ca      cabundle.Bundle
	bundles controller.Objects[*certificatesv1.ClusterTrustBundle]
}

// New returns the publisher.
func New(env controller.Env, o Options) controller.Runner {
	p := &publisher{
		ca: o.CA,
		// Only the bundles of one signer: an informer of its own.
		bundles: controller.Objects[*certificatesv1.ClusterTrustBundle]{
			API: client.For[*certificatesv1.ClusterTrustBundle](env.Client),
			Informer: informer.New(client.For[*certificatesv1.ClusterTrustBundle](env.Informers.Client()), informer.Options[*certificatesv1.ClusterTrustBundle]{
				FieldSelector: fields.OneTermEqualSelector("spec.signerName", signer).String(),
			}),
		},
	}
	loop := controller.New("clustertrustbundlepublisher", p.reconcile, controller.Options{Workers: 1})
	if o.CA.Empty() {
		return loop
	}
	return controller.Runners{p.bundles, loop.Watch(
		controller.Watches(p.bundles, func(*certificatesv1.ClusterTrustBundle) []controller.Key { return []controller.Key{all} }),
	), o.CA.Follow(func() { loop.Enqueue(all) })}
}

// all is the only key: all bundles of the signer are reconciled together.
var all = controller.Key{Name: signer}

// bundleOf returns the bundle to publish.
func bundleOf(ca []byte) *certificatesv1.ClusterTrustBundle {
	hash := sha256.Sum256(ca)
	return &certificatesv1.ClusterTrustBundle{
		ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprintf("%s:%x", strings.ReplaceAll(signer, "/", ":"), hash[:12])},
		Spec:       certificatesv1.ClusterTrustBundleSpec{SignerName: signer, TrustBundle: string(ca)},
	}
}

func (p *publisher) reconcile(ctx context.Context, _ controller.Key) (controller.Result, error) {
	want := bundleOf(p.ca.PEM())
	have, ok := p.bundles.Store().Get("", want.Name)
	var err error
	switch {
	case !ok:
		_, err = p.bundles.API.Create(ctx, want)
	case have.Spec.TrustBundle != want.Spec.TrustBundle:
		have = have.DeepCopy()
		have.Spec.TrustBundle = want.Spec.TrustBundle
		_, err = p.bundles.API.Update(ctx, have)
	}
	if err != nil {
		return controller.Result{}, err
	}
	var errs []error
	for _, b := range p.bundles.Store().List("") {
		if b.Name != want.Name {
			errs = append(errs, client.IgnoreNotFound(p.bundles.API.Delete(ctx, b.Name)))
		}
	}
	return controller.Result{}, errors.Join(errs...)
}
