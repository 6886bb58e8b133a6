package token

import (
	"context"
	"fmt"
	"time"

	"github.com/go-jose/go-jose/v4/jwt"
	"github.com/google/uuid"
	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"fairlead.dev/internal/server/auth"
)

// A pod requests this lifetime if its manifest gives no lifetime. Such a token is valid for a year, so that old clients
// that never reread its file keep working, and carries a warning date.
const (
	podTokenSeconds  = 60*60 + 7
	longTokenSeconds = 365 * 24 * 60 * 60
)

var tokenRequest = schema.GroupVersionKind{Group: "authentication.k8s.io", Version: "v1", Kind: "TokenRequest"}

// Request implements a create of serviceaccounts/token: it validates the TokenRequest, which must have been
// defaulted, and returns it with a token for the account. In a dry run the token is omitted. warn gets the
// warnings for the client. credential is the value of the extra key CredentialID of the token's user.
func (a *Accounts) Request(ctx context.Context, l auth.Lookup, namespace, name string, in *authenticationv1.TokenRequest, dryRun bool, warn func(text string)) (out *authenticationv1.TokenRequest, credential string, err error) {
	req := in.DeepCopy()
	obj, err := l.Get(ctx, serviceAccounts, namespace, name)
	if err != nil {
		return nil, "", err
	}
	sa, ok := obj.(*corev1.ServiceAccount)
	if !ok {
		return nil, "", apierrors.NewInternalError(fmt.Errorf("service account has type %T", obj))
	}
	now := a.now()
	if err := a.prepare(req, sa, now); err != nil {
		return nil, "", err
	}
	if longest := int64(a.MaxExpiration / time.Second); longest > 0 && *req.Spec.ExpirationSeconds > longest {
		warn(fmt.Sprintf("requested expiration of %d seconds shortened to %d seconds", *req.Spec.ExpirationSeconds, longest))
		req.Spec.ExpirationSeconds = &longest
	}
	b := Binding{Namespace: namespace, ServiceAccount: Ref{sa.Name, string(sa.UID)}}
	if err := bind(ctx, l, sa, req.Spec.BoundObjectRef, &b); err != nil {
		return nil, "", err
	}
	seconds := *req.Spec.ExpirationSeconds
	if !a.NoExtension && b.Pod != nil && seconds == podTokenSeconds && len(intersect(req.Spec.Audiences, a.audiences)) == len(req.Spec.Audiences) {
		b.WarnAfter = jwt.NewNumericDate(now.Add(podTokenSeconds * time.Second))
		seconds = longTokenSeconds
		if most := int64(a.MaxExtended / time.Second); most > 0 {
			seconds = min(seconds, most)
		}
	}
	req.Status = authenticationv1.TokenRequestStatus{
		ExpirationTimestamp: metav1.NewTime(now.Add(time.Duration(*req.Spec.ExpirationSeconds) * time.Second)),
	}
	if dryRun {
		return req, "", nil
	}
	c := Claims{Kubernetes: b, Claims: jwt.Claims{
		Subject:   auth.ServiceAccountUser(namespace, sa.Name),
		Audience:  req.Spec.Audiences,
		IssuedAt:  jwt.NewNumericDate(now),
		NotBefore: jwt.NewNumericDate(now),
		Expiry:    jwt.NewNumericDate(now.Add(time.Duration(seconds) * time.Second)),
		ID:        uuid.NewString(),
	}}
	if req.Status.Token, err = a.issuer.Sign(ctx, c); err != nil {
		return nil, "", apierrors.NewInternalError(fmt.Errorf("failed to generate token: %w", err))
	}
	return req, credentialID(c.ID), nil
}

// prepare completes and validates the request itself.
func (a *Accounts) prepare(req *authenticationv1.TokenRequest, sa *corev1.ServiceAccount, now time.Time) error {
	var errs field.ErrorList
	metaPath, specPath := field.NewPath("metadata"), field.NewPath("spec")
	if req.Name != "" && req.Name != sa.Name {
		errs = append(errs, field.Invalid(metaPath.Child("name"), req.Name, "must match the service account name if specified"))
	}
	if req.Namespace != "" && req.Namespace != sa.Namespace {
		errs = append(errs, field.Invalid(metaPath.Child("namespace"), req.Namespace, "must match the service account namespace if specified"))
	}
	if len(errs) > 0 {
		return apierrors.NewInvalid(tokenRequest.GroupKind(), sa.Name, errs)
	}
	if req.UID != "" && req.UID != sa.UID {
		return apierrors.NewConflict(schema.GroupResource{Group: tokenRequest.Group, Resource: tokenRequest.Kind}, sa.Name,
			fmt.Errorf("the UID in the token request (%s) does not match the UID of the service account (%s)", req.UID, sa.UID))
	}
	req.Name, req.Namespace, req.UID = sa.Name, sa.Namespace, sa.UID
	req.CreationTimestamp = metav1.NewTime(now.Truncate(time.Second))
	if len(req.Spec.Audiences) == 0 {
		req.Spec.Audiences = a.audiences
	}
	switch s := *req.Spec.ExpirationSeconds; {
	case s < 10*60:
		errs = append(errs, field.Invalid(specPath.Child("expirationSeconds"), s, "may not specify a duration less than 10 minutes"))
	case s > 1<<32:
		errs = append(errs, field.Invalid(specPath.Child("expirationSeconds"), s, "may not specify a duration larger than 2^32 seconds"))
	}
	if len(errs) > 0 {
		return apierrors.NewInvalid(tokenRequest.GroupKind(), "", errs)
	}
	return nil
}

// bind adds the object that the reference names to b.
func bind(ctx context.Context, l auth.Lookup, sa *corev1.ServiceAccount, ref *authenticationv1.BoundObjectReference, b *Binding) error {
	if ref == nil {
		return nil
	}
	gvk := schema.FromAPIVersionAndKind(ref.APIVersion, ref.Kind)
	var gr schema.GroupResource
	namespace := sa.Namespace
	switch (schema.GroupKind{Group: gvk.Group, Kind: gvk.Kind}) {
	case schema.GroupKind{Kind: "Pod"}:
		gr = pods
	case schema.GroupKind{Kind: "Secret"}:
		gr = secrets
	case schema.GroupKind{Kind: "Node"}:
		gr, namespace = nodes, ""
	default:
		return apierrors.NewBadRequest(fmt.Sprintf("cannot bind token to object of type %s", gvk))
	}
	obj, err := l.Get(ctx, gr, namespace, ref.Name)
	if err != nil {
		return err
	}
	var uid string
	switch o := obj.(type) {
	case *corev1.Pod:
		if o.Spec.ServiceAccountName != sa.Name {
			return apierrors.NewBadRequest(fmt.Sprintf("cannot bind token for serviceaccount %q to pod running with different serviceaccount name.", sa.Name))
		}
		uid = string(o.UID)
		b.Pod = &Ref{o.Name, uid}
		if o.Spec.NodeName != "" {
			b.Node = &Ref{Name: o.Spec.NodeName}
			if n, err := l.Get(ctx, nodes, "", o.Spec.NodeName); err == nil {
				b.Node.UID = string(n.(metav1.Object).GetUID())
			}
		}
	case *corev1.Secret:
		uid = string(o.UID)
		b.Secret = &Ref{o.Name, uid}
	case *corev1.Node:
		uid = string(o.UID)
		b.Node = &Ref{o.Name, uid}
	}
	if ref.UID != "" && string(ref.UID) != uid {
		return apierrors.NewConflict(schema.GroupResource{Group: gvk.Group, Resource: gvk.Kind}, ref.Name,
			fmt.Errorf("the UID in the bound object reference (%s) does not match the UID in record. The object might have been deleted and then recreated", ref.UID))
	}
	return nil
}
