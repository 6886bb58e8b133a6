package admission

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"strings"

	certificatesv1 "k8s.io/api/certificates/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"fairlead.dev/internal/resource/certificates"
	"fairlead.dev/internal/server/auth"
)

// Certificates protects certificate signing requests and trust bundles: it records the creator in each request,
// requires permission for a signer to approve, sign, or attest for its bundles, and rejects client
// certificates for system:masters.
type Certificates struct{ Authorizer auth.Authorizer }

var (
	csrs         = schema.GroupResource{Group: "certificates.k8s.io", Resource: "certificatesigningrequests"}
	podRequests  = schema.GroupResource{Group: "certificates.k8s.io", Resource: "podcertificaterequests"}
	trustBundles = schema.GroupResource{Group: "certificates.k8s.io", Resource: "clustertrustbundles"}
)

// Name implements Plugin.
func (Certificates) Name() string { return "Certificates" }

// Complete implements Completer.
func (Certificates) Complete(_ context.Context, r *Request) error {
	if r.on(Create, csrs) {
		stamp(r.Object.(*certificatesv1.CertificateSigningRequest), r.User)
	}
	return nil
}

// Validate implements Validator.
func (p Certificates) Validate(ctx context.Context, r *Request) error {
	switch r.GroupResource() {
	case csrs:
		return p.request(ctx, r)
	case podRequests:
		return p.podRequest(ctx, r)
	case trustBundles:
		return p.bundle(ctx, r)
	}
	return nil
}

func (p Certificates) request(ctx context.Context, r *Request) error {
	switch {
	case r.on(Create, csrs):
		if err := checkSubject(r.Object.(*certificatesv1.CertificateSigningRequest)); err != nil {
			return forbid(r, err)
		}
	case r.Verb == Update && r.Subresource == "approval":
		old := r.Old.(*certificatesv1.CertificateSigningRequest)
		if !p.may(ctx, r.User, "approve", old.Spec.SignerName) {
			return forbid(r, fmt.Errorf("user not permitted to approve requests with signerName %q", old.Spec.SignerName))
		}
	case r.Verb == Update && r.Subresource == "status":
		csr, old := r.Object.(*certificatesv1.CertificateSigningRequest), r.Old.(*certificatesv1.CertificateSigningRequest)
		if bytes.Equal(csr.Status.Certificate, old.Status.Certificate) &&
			equality.Semantic.DeepEqual(csr.Status.Conditions, old.Status.Conditions) {
			return nil
		}
		if !p.may(ctx, r.User, "sign", old.Spec.SignerName) {
			return forbid(r, fmt.Errorf("user not permitted to sign requests with signerName %q", old.Spec.SignerName))
		}
	}
	return nil
}

// podRequest requires permission to sign for the request's signer. As in kube-apiserver, where validation checks it, a
// refusal is an invalid object.
func (p Certificates) podRequest(ctx context.Context, r *Request) error {
	if r.Verb != Update || r.Subresource != "status" {
		return nil
	}
	now, old := r.Object.(*certificatesv1.PodCertificateRequest), r.Old.(*certificatesv1.PodCertificateRequest)
	signer := old.Spec.SignerName
	if equality.Semantic.DeepEqual(now.Status, old.Status) || p.may(ctx, r.User, "sign", signer) {
		return nil
	}
	return apierrors.NewInvalid(r.Kind().GroupKind(), now.Name, field.ErrorList{
		field.Forbidden(field.NewPath("spec", "signerName"), fmt.Sprintf("User %q is not permitted to \"sign\" for signer %q", r.User.Name, signer)),
	})
}

// bundle requires permission to attest for the bundle's signer, if it has one, unless only fields of the garbage
// collector change.
func (p Certificates) bundle(ctx context.Context, r *Request) error {
	if r.Verb != Create && r.Verb != Update {
		return nil
	}
	b := r.Object.(*certificatesv1.ClusterTrustBundle)
	signer := b.Spec.SignerName
	if signer == "" || r.Verb == Update && sameButGC(b, r.Old.(*certificatesv1.ClusterTrustBundle)) || p.may(ctx, r.User, "attest", signer) {
		return nil
	}
	return forbid(r, fmt.Errorf("user not permitted to attest for signerName %q", signer))
}

// sameButGC reports whether a write changes only the fields that the garbage collector may change: finalizers and
// owner references.
func sameButGC(b, old *certificatesv1.ClusterTrustBundle) bool {
	c := *b
	c.OwnerReferences, c.Finalizers, c.ManagedFields = old.OwnerReferences, old.Finalizers, old.ManagedFields
	return equality.Semantic.DeepEqual(&c, old)
}

// stamp records the user in the request, overwriting the client's values.
func stamp(csr *certificatesv1.CertificateSigningRequest, u *auth.User) {
	csr.Spec.Username, csr.Spec.UID = u.Name, u.UID
	csr.Spec.Groups = slices.Clone(u.Groups)
	csr.Spec.Extra = nil
	for k, v := range u.Extra {
		if csr.Spec.Extra == nil {
			csr.Spec.Extra = map[string]certificatesv1.ExtraValue{}
		}
		csr.Spec.Extra[k] = slices.Clone(v)
	}
}

// checkSubject rejects a client certificate for system:masters. It returns nil for a request that cannot be parsed,
// which validation rejects.
func checkSubject(csr *certificatesv1.CertificateSigningRequest) error {
	if csr.Spec.SignerName != certificatesv1.KubeAPIServerClientSignerName {
		return nil
	}
	parsed, err := certificates.ParseRequest(csr.Spec.Request)
	if err != nil {
		return fmt.Errorf("failed to parse CSR: %w", err)
	}
	if slices.Contains(parsed.Subject.Organization, auth.MastersGroup) {
		return fmt.Errorf("use of %s signer with system:masters group is not allowed", csr.Spec.SignerName)
	}
	return nil
}

// may reports whether the user may act for the signer, or for all signers of its domain.
func (p Certificates) may(ctx context.Context, u *auth.User, verb, signer string) bool {
	domain, _, _ := strings.Cut(signer, "/")
	for _, name := range []string{signer, domain + "/*"} {
		a := auth.Attributes{
			User: u, Verb: verb, Group: "certificates.k8s.io", Version: "*", Resource: "signers", Name: name, IsResource: true,
		}
		if d, _, _ := p.Authorizer.Authorize(ctx, a); d == auth.Allow {
			return true
		}
	}
	return false
}
