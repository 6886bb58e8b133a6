package certificates

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	authorizationv1 "k8s.io/api/authorization/v1"
	certificatesv1 "k8s.io/api/certificates/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"fairlead.dev/internal/condition"
	"fairlead.dev/internal/nodekind"
)

// kind is a kind of request; RBAC knows it by the name of a virtual subresource.
type kind struct{ subresource, message string }

// approve approves a kubelet's request for a client certificate, if the requestor is authorized.
func (r *requests) approve(ctx context.Context, csr *certificatesv1.CertificateSigningRequest) error {
	req, err := parse(csr)
	if err != nil {
		return err
	}
	if csr.Spec.SignerName != certificatesv1.KubeAPIServerClientKubeletSignerName || kubeletClient(req, csr.Spec.Usages) != nil {
		return nil // left to other approvers
	}
	kinds := []kind{{"nodeclient", "Auto approving kubelet client certificate after SubjectAccessReview."}}
	if csr.Spec.Username == req.Subject.CommonName {
		kinds = []kind{{"selfnodeclient", "Auto approving self kubelet client certificate after SubjectAccessReview."}, kinds[0]}
	}
	for _, k := range kinds {
		may, err := r.mayCreate(ctx, csr, k.subresource)
		if err != nil {
			return err
		}
		if !may {
			continue
		}
		decided := with(csr, certificatesv1.CertificateApproved, "AutoApproved", k.message)
		if slices.Contains(csr.Spec.Groups, bootstrappers) {
			if err := r.checkName(ctx, strings.TrimPrefix(req.Subject.CommonName, nodeUser), csr.Spec.Username); errors.Is(err, errSimulated) {
				decided = with(csr, certificatesv1.CertificateDenied, "NodeNameTaken", err.Error())
			} else if err != nil {
				return err
			}
		}
		_, err = r.all.API.UpdateSubresource(ctx, decided, "approval")
		return err
	}
	// It is retried: the permission may be granted later.
	return fmt.Errorf("csr %q is a kubelet's, but its requestor %q may not have it", csr.Name, csr.Spec.Username)
}

func (r *requests) mayCreate(ctx context.Context, csr *certificatesv1.CertificateSigningRequest, subresource string) (bool, error) {
	extra := make(map[string]authorizationv1.ExtraValue, len(csr.Spec.Extra))
	for k, v := range csr.Spec.Extra {
		extra[k] = authorizationv1.ExtraValue(v)
	}
	review, err := r.reviews.Create(ctx, &authorizationv1.SubjectAccessReview{
		Spec: authorizationv1.SubjectAccessReviewSpec{
			User: csr.Spec.Username, UID: csr.Spec.UID, Groups: csr.Spec.Groups, Extra: extra,
			ResourceAttributes: &authorizationv1.ResourceAttributes{
				Group: certificatesv1.GroupName, Resource: "certificatesigningrequests", Verb: "create", Subresource: subresource, Version: "*",
			},
		},
	})
	if err != nil {
		return false, err
	}
	return review.Status.Allowed, nil
}

// bootstrappers is the group of all bootstrap tokens.
const bootstrappers = "system:bootstrappers"

// errSimulated is the error of a kubelet that wants to have the name of a simulated node.
var errSimulated = errors.New("a simulated node has that name: give the kubelet another one (--hostname-override)")

// checkName checks the name of a node for which the user of a bootstrap token requests a certificate. It fails with
// errSimulated. If a kubelet of that name is alive, another machine may have the same name: an Event of the Node reports that,
// because Kubernetes lets the second kubelet join.
func (r *requests) checkName(ctx context.Context, name, user string) error {
	node, err := r.nodes.Get(ctx, name)
	switch {
	case apierrors.IsNotFound(err):
		return nil
	case err != nil:
		return err
	case nodekind.IsSimulated(node):
		return errSimulated
	}
	if c := condition.Find(node.Status.Conditions, func(c *corev1.NodeCondition) bool { return c.Type == corev1.NodeReady }); c != nil && c.Status == corev1.ConditionTrue {
		r.recorder.Event(node, corev1.EventTypeWarning, "SecondKubelet",
			"%s requests a certificate for this node, whose kubelet is alive: do two machines have the name %s?", user, name)
	}
	return nil
}
