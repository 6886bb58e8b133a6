package review

import (
	"context"

	authenticationv1 "k8s.io/api/authentication/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	utilerrors "k8s.io/apimachinery/pkg/util/errors"

	"fairlead.dev/internal/server/auth"
	"fairlead.dev/internal/server/auth/token"
)

func (d Deps) tokenReview(ctx context.Context, _ *auth.User, _ string, r *authenticationv1.TokenReview) error {
	if r.Spec.Token == "" {
		return apierrors.NewBadRequest("token is required for TokenReview in authentication")
	}
	r.Status = authenticationv1.TokenReviewStatus{}
	if d.Tokens == nil {
		return nil
	}
	id, err := d.Tokens.Verify(ctx, r.Spec.Token, r.Spec.Audiences)
	if id == nil { // kube-apiserver also asks for a token of its own clients, which is invalid
		r.Status.Error = utilerrors.NewAggregate([]error{token.ErrInvalid, err}).Error()
	} else {
		r.Status.Authenticated = true
		r.Status.User = info(id.User)
		r.Status.Audiences = id.Audiences
	}
	return nil
}

func (d Deps) selfSubjectReview(_ context.Context, u *auth.User, _ string, r *authenticationv1.SelfSubjectReview) error {
	r.CreationTimestamp = metav1.Now()
	r.Status.UserInfo = info(u)
	return nil
}

func info(u *auth.User) authenticationv1.UserInfo {
	i := authenticationv1.UserInfo{Username: u.Name, UID: u.UID, Groups: u.Groups}
	for k, v := range u.Extra {
		if i.Extra == nil {
			i.Extra = map[string]authenticationv1.ExtraValue{}
		}
		i.Extra[k] = v
	}
	return i
}
