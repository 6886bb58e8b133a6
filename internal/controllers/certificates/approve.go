package certificates

import (
	"context"
	"fmt"

	authorizationv1 "k8s.io/api/authorization/v1"
	certificatesv1 "k8s.io/api/certificates/v1"
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
		if may {
			_, err := r.all.API.UpdateSubresource(ctx, with(csr, certificatesv1.CertificateApproved, "AutoApproved", k.message), "approval")
			return err
		}
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
