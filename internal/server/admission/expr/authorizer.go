package expr

import (
	"context"

	"github.com/google/cel-go/common/types/ref"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/selection"
	"k8s.io/apiserver/pkg/authentication/user"
	"k8s.io/apiserver/pkg/authorization/authorizer"
	"k8s.io/apiserver/pkg/cel/library"

	"fairlead.dev/internal/server/admission"
	"fairlead.dev/internal/server/auth"
	"fairlead.dev/internal/server/auth/upstream"
)

// Authorizer is the authorizer variable of expressions. It belongs to one request and caches decisions.
type Authorizer struct{ any, resource ref.Val }

// Target is the resource of authorizer.requestResource.
type Target struct {
	Resource                     schema.GroupVersionResource
	Subresource, Namespace, Name string
}

// GetResource implements library.Resource.
func (t Target) GetResource() schema.GroupVersionResource { return t.Resource }

// GetSubresource implements library.Resource.
func (t Target) GetSubresource() string { return t.Subresource }

// GetNamespace implements library.Resource.
func (t Target) GetNamespace() string { return t.Namespace }

// GetName implements library.Resource.
func (t Target) GetName() string { return t.Name }

// NewAuthorizer returns an Authorizer that asks a about the user u.
func NewAuthorizer(a auth.Authorizer, u *auth.User, t Target) *Authorizer {
	who := &user.DefaultInfo{Name: u.Name, UID: u.UID, Groups: u.Groups, Extra: u.Extra}
	b := &bridge{to: a, known: map[auth.Attributes]answer{}, as: u}
	return &Authorizer{library.NewAuthorizerVal(who, b), library.NewResourceAuthorizerVal(who, b, t)}
}

// bridge adapts an auth.Authorizer to CEL's.
type bridge struct {
	to    auth.Authorizer
	as    *auth.User
	known map[auth.Attributes]answer
}

type answer struct {
	decision authorizer.Decision
	reason   string
	err      error
}

// Authorize implements authorizer.UnconditionalAuthorizer. authorizer.serviceAccount() authorizes another user.
func (b *bridge) Authorize(ctx context.Context, a authorizer.Attributes) (authorizer.Decision, string, error) {
	at := auth.Attributes{
		Verb: a.GetVerb(), Group: a.GetAPIGroup(), Version: a.GetAPIVersion(), Resource: a.GetResource(), Subresource: a.GetSubresource(),
		Namespace: a.GetNamespace(), Name: a.GetName(), Path: a.GetPath(), IsResource: a.IsResourceRequest(),
	}
	if terms, err := a.GetFieldSelector(); err == nil {
		at.Fields = selectorOf(terms)
	}
	if terms, err := a.GetLabelSelector(); err == nil {
		at.Labels = labels.NewSelector().Add(terms...).String()
	}
	who := a.GetUser()
	if who.GetName() == b.as.Name {
		at.User = b.as
		if got, ok := b.known[at]; ok {
			return got.decision, got.reason, got.err
		}
	} else {
		at.User = &auth.User{Name: who.GetName(), UID: who.GetUID(), Groups: who.GetGroups(), Extra: who.GetExtra()}
	}
	d, reason, err := b.to.Authorize(ctx, at)
	got := answer{upstream.Decision(d), reason, err}
	b.known[at] = got
	return got.decision, got.reason, got.err
}

// selectorOf returns requirements in the form of the query parameter fieldSelector.
func selectorOf(terms fields.Requirements) string {
	var all []fields.Selector
	for _, t := range terms {
		if t.Operator == selection.NotEquals {
			all = append(all, fields.OneTermNotEqualSelector(t.Field, t.Value))
		} else {
			all = append(all, fields.OneTermEqualSelector(t.Field, t.Value))
		}
	}
	return fields.AndSelectors(all...).String()
}

// TargetOf returns the resource of a request.
func TargetOf(r *admission.Request) Target {
	return Target{r.GVR(), r.Subresource, r.Home(), r.Name}
}
