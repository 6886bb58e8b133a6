package review

import (
	"context"
	"fmt"

	authorizationv1 "k8s.io/api/authorization/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"fairlead.dev/internal/resource/quoted"
	"fairlead.dev/internal/server/auth"
)

func (d Deps) subjectAccessReview(ctx context.Context, _ *auth.User, _ string, r *authorizationv1.SubjectAccessReview) error {
	errs := checkSubject(r.Spec)
	errs = append(errs, checkMeta(r.ObjectMeta, "must be empty")...)
	if len(errs) > 0 {
		return invalid(errs)
	}
	r.Status = d.decide(ctx, subject(r.Spec), r.Spec.ResourceAttributes, r.Spec.NonResourceAttributes)
	return nil
}

func (d Deps) localSubjectAccessReview(ctx context.Context, _ *auth.User, namespace string, r *authorizationv1.LocalSubjectAccessReview) error {
	errs := checkSubject(r.Spec)
	m := r.ObjectMeta
	m.Namespace = ""
	errs = append(errs, checkMeta(m, "must be empty except for namespace")...)
	if r.Namespace == "" {
		r.Namespace = namespace
	}
	if a := r.Spec.ResourceAttributes; a != nil && a.Namespace != r.Namespace {
		errs = append(errs, field.Invalid(field.NewPath("spec.resourceAttributes.namespace"), a.Namespace, "must match metadata.namespace"))
	}
	if a := r.Spec.NonResourceAttributes; a != nil {
		errs = append(errs, field.Invalid(field.NewPath("spec.nonResourceAttributes"), a, "disallowed on this kind of request"))
	}
	if len(errs) > 0 {
		return invalid(errs)
	}
	if a := r.Spec.ResourceAttributes; a.Namespace != namespace {
		return apierrors.NewBadRequest(fmt.Sprintf("spec.resourceAttributes.namespace must match namespace: %v", namespace))
	}
	r.Status = d.decide(ctx, subject(r.Spec), r.Spec.ResourceAttributes, nil)
	return nil
}

func (d Deps) selfSubjectAccessReview(ctx context.Context, u *auth.User, _ string, r *authorizationv1.SelfSubjectAccessReview) error {
	errs := checkAttributes(r.Spec.ResourceAttributes, r.Spec.NonResourceAttributes)
	errs = append(errs, checkMeta(r.ObjectMeta, "must be empty")...)
	if len(errs) > 0 {
		return invalid(errs)
	}
	r.Status = d.decide(ctx, u, r.Spec.ResourceAttributes, r.Spec.NonResourceAttributes)
	return nil
}

// invalid returns an Invalid error without a kind, because a review is not a stored object.
func invalid(errs field.ErrorList) error {
	return apierrors.NewInvalid(schema.GroupKind{Group: authorizationv1.GroupName}, "", quoted.Faults(errs))
}

func checkMeta(m metav1.ObjectMeta, message string) field.ErrorList {
	m.ManagedFields = nil
	if equality.Semantic.DeepEqual(m, metav1.ObjectMeta{}) {
		return nil
	}
	return field.ErrorList{field.Invalid(field.NewPath("metadata"), m, message)}
}

func checkSubject(s authorizationv1.SubjectAccessReviewSpec) field.ErrorList {
	errs := checkAttributes(s.ResourceAttributes, s.NonResourceAttributes)
	if s.User == "" && len(s.Groups) == 0 {
		errs = append(errs, field.Invalid(field.NewPath("spec", "user"), s.User, "at least one of user or group must be specified"))
	}
	return errs
}

func checkAttributes(resource *authorizationv1.ResourceAttributes, other *authorizationv1.NonResourceAttributes) field.ErrorList {
	if (resource == nil) != (other == nil) {
		return nil
	}
	return field.ErrorList{field.Invalid(field.NewPath("spec"), other, "exactly one of nonResourceAttributes or resourceAttributes must be specified")}
}

func subject(s authorizationv1.SubjectAccessReviewSpec) *auth.User {
	u := &auth.User{Name: s.User, UID: s.UID, Groups: s.Groups}
	for k, v := range s.Extra {
		if u.Extra == nil {
			u.Extra = map[string][]string{}
		}
		u.Extra[k] = v
	}
	return u
}

// decide asks the authorizer.
func (d Deps) decide(ctx context.Context, u *auth.User, resource *authorizationv1.ResourceAttributes, other *authorizationv1.NonResourceAttributes) authorizationv1.SubjectAccessReviewStatus {
	a := auth.Attributes{User: u}
	if resource != nil {
		a.IsResource = true
		a.Verb, a.Group, a.Version = resource.Verb, resource.Group, resource.Version
		a.Resource, a.Subresource = resource.Resource, resource.Subresource
		a.Namespace, a.Name = resource.Namespace, resource.Name
		if resource.FieldSelector != nil {
			a.Fields = fieldSelector(*resource.FieldSelector)
		}
		if resource.LabelSelector != nil {
			a.Labels = labelSelector(*resource.LabelSelector)
		}
	} else {
		a.Verb, a.Path = other.Verb, other.Path
	}
	decision, reason, err := d.Authorizer.Authorize(ctx, a)
	status := authorizationv1.SubjectAccessReviewStatus{Allowed: decision == auth.Allow, Denied: decision == auth.Deny, Reason: reason}
	if err != nil {
		status.EvaluationError = err.Error()
	}
	return status
}

// fieldSelector returns the field selector in the form of the query parameter. A requirement without such a form is
// omitted, which selects more and so grants less.
func fieldSelector(a authorizationv1.FieldSelectorAttributes) string {
	if a.RawSelector != "" {
		return a.RawSelector
	}
	var terms []fields.Selector
	for _, r := range a.Requirements {
		switch {
		case len(r.Values) != 1:
		case r.Operator == metav1.FieldSelectorOpIn:
			terms = append(terms, fields.OneTermEqualSelector(r.Key, r.Values[0]))
		case r.Operator == metav1.FieldSelectorOpNotIn:
			terms = append(terms, fields.OneTermNotEqualSelector(r.Key, r.Values[0]))
		}
	}
	return fields.AndSelectors(terms...).String()
}

// labelSelector returns the label selector in the form of the query parameter. A requirement that is not valid is omitted,
// which selects more and so grants less.
func labelSelector(a authorizationv1.LabelSelectorAttributes) string {
	if a.RawSelector != "" {
		return a.RawSelector
	}
	all := labels.NewSelector()
	for _, r := range a.Requirements {
		one, err := metav1.LabelSelectorAsSelector(&metav1.LabelSelector{MatchExpressions: []metav1.LabelSelectorRequirement{r}})
		if err != nil {
			continue
		}
		terms, _ := one.Requirements()
		all = all.Add(terms...)
	}
	return all.String()
}
