// Package upstream gives users and the attributes of requests the types of k8s.io/apiserver, for the parts of it that are
// used as libraries: the webhooks of authentication and authorization, and the audit log.
package upstream

import (
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apiserver/pkg/authentication/user"
	"k8s.io/apiserver/pkg/authorization/authorizer"

	"fairlead.dev/internal/server/auth"
)

// User returns a user in upstream's type. Both share the groups and the extra values.
func User(u *auth.User) user.Info {
	return &user.DefaultInfo{Name: u.Name, UID: u.UID, Groups: u.Groups, Extra: u.Extra}
}

// Decision returns a decision in upstream's type.
func Decision(d auth.Decision) authorizer.Decision {
	switch d {
	case auth.Allow:
		return authorizer.DecisionAllow
	case auth.Deny:
		return authorizer.DecisionDeny
	}
	return authorizer.DecisionNoOpinion
}

// FromDecision returns a decision of upstream's.
func FromDecision(d authorizer.Decision) auth.Decision {
	switch d {
	case authorizer.DecisionAllow:
		return auth.Allow
	case authorizer.DecisionDeny:
		return auth.Deny
	}
	return auth.NoOpinion
}

// Attributes returns the attributes in upstream's type. Selectors that cannot be parsed are in
// FieldSelectorParsingErr and LabelSelectorParsingErr.
func Attributes(a auth.Attributes) authorizer.AttributesRecord {
	r := authorizer.AttributesRecord{
		Verb: a.Verb, Namespace: a.Namespace, APIGroup: a.Group, APIVersion: a.Version, Resource: a.Resource,
		Subresource: a.Subresource, Name: a.Name, ResourceRequest: a.IsResource, Path: a.Path,
	}
	if a.User != nil {
		r.User = User(a.User)
	}
	if a.Fields != "" {
		selector, err := fields.ParseSelector(a.Fields)
		if err != nil {
			r.FieldSelectorParsingErr = err
		} else {
			r.FieldSelectorRequirements = selector.Requirements()
		}
	}
	if a.Labels != "" {
		selector, err := labels.Parse(a.Labels)
		if err != nil {
			r.LabelSelectorParsingErr = err
		} else {
			r.LabelSelectorRequirements, _ = selector.Requirements()
		}
	}
	return r
}
