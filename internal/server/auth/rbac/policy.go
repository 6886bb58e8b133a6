package rbac

import (
	"fmt"
	"strings"

	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	utilerrors "k8s.io/apimachinery/pkg/util/errors"

	"fairlead.dev/internal/server/auth"
)

// Objects are all roles and bindings.
type Objects struct {
	Roles               []*rbacv1.Role
	RoleBindings        []*rbacv1.RoleBinding
	ClusterRoles        []*rbacv1.ClusterRole
	ClusterRoleBindings []*rbacv1.ClusterRoleBinding
	// shared, if not nil, has the Policy of these objects once there is one; the lists are then empty.
	shared *Shared
}

// Policy is an index of Objects.
type Policy struct {
	roles        map[key]*rbacv1.Role
	clusterRoles map[string][]rbacv1.PolicyRule
	bySubject    map[subject]*grants
}

type key struct{ namespace, name string }

// subject is a user (group false) or a group.
type subject struct {
	name  string
	group bool
}

type grants struct {
	cluster    []*grant
	namespaces map[string][]*grant
}

// grant is the permissions that one binding gives to one subject.
type grant struct {
	rules  []rbacv1.PolicyRule
	err    error  // the role does not exist
	reason string // for allowed requests
}

// NewPolicy indexes the objects, which must not be modified afterwards.
func NewPolicy(o Objects) *Policy {
	p := &Policy{
		roles:        make(map[key]*rbacv1.Role, len(o.Roles)),
		clusterRoles: make(map[string][]rbacv1.PolicyRule, len(o.ClusterRoles)),
		bySubject:    map[subject]*grants{},
	}
	for _, r := range o.Roles {
		p.roles[key{r.Namespace, r.Name}] = r
	}
	for _, r := range o.ClusterRoles {
		p.clusterRoles[r.Name] = Aggregate(r, o.ClusterRoles)
	}
	for _, b := range o.ClusterRoleBindings {
		p.bind("", fmt.Sprintf("ClusterRoleBinding %q", b.Name), b.RoleRef, b.Subjects)
	}
	for _, b := range o.RoleBindings {
		p.bind(b.Namespace, fmt.Sprintf("RoleBinding %q", b.Name+"/"+b.Namespace), b.RoleRef, b.Subjects)
	}
	return p
}

func (p *Policy) bind(namespace, binding string, role rbacv1.RoleRef, subjects []rbacv1.Subject) {
	rules, err := p.Rules(role, namespace)
	for _, s := range subjects {
		var k subject
		switch s.Kind {
		case rbacv1.UserKind:
			k.name = s.Name
		case rbacv1.GroupKind:
			k = subject{s.Name, true}
		case rbacv1.ServiceAccountKind:
			if s.Namespace == "" {
				s.Namespace = namespace
			}
			if s.Namespace == "" {
				continue
			}
			k.name = auth.ServiceAccountUser(s.Namespace, s.Name)
		default:
			continue
		}
		g := p.bySubject[k]
		if g == nil {
			g = &grants{namespaces: map[string][]*grant{}}
			p.bySubject[k] = g
		}
		to := &grant{rules: rules, err: err, reason: reason(binding, role, s)}
		if namespace == "" {
			g.cluster = append(g.cluster, to)
		} else {
			g.namespaces[namespace] = append(g.namespaces[namespace], to)
		}
	}
}

// Rules returns the rules of the role that a binding in the namespace refers to. It returns a NotFound error if the
// role does not exist.
func (p *Policy) Rules(ref rbacv1.RoleRef, namespace string) ([]rbacv1.PolicyRule, error) {
	switch ref.Kind {
	case "ClusterRole":
		if rules, ok := p.clusterRoles[ref.Name]; ok {
			return rules, nil
		}
		return nil, apierrors.NewNotFound(schema.GroupResource{Group: rbacv1.GroupName, Resource: "clusterrole"}, ref.Name)
	case "Role":
		if r, ok := p.roles[key{namespace, ref.Name}]; ok {
			return r.Rules, nil
		}
		return nil, apierrors.NewNotFound(schema.GroupResource{Group: rbacv1.GroupName, Resource: "role"}, ref.Name)
	}
	return nil, fmt.Errorf("unsupported role reference kind: %q", ref.Kind)
}

// visit calls f for each grant of the user that applies in the namespace, until f returns false.
func (p *Policy) visit(u *auth.User, namespace string, f func(*grant) bool) {
	if u == nil {
		return
	}
	one := func(s subject) bool {
		g := p.bySubject[s]
		if g == nil {
			return true
		}
		for _, x := range g.cluster {
			if !f(x) {
				return false
			}
		}
		if namespace != "" {
			for _, x := range g.namespaces[namespace] {
				if !f(x) {
					return false
				}
			}
		}
		return true
	}
	if !one(subject{name: u.Name}) {
		return
	}
	for _, g := range u.Groups {
		if !one(subject{g, true}) {
			return
		}
	}
}

// Authorize authorizes by this Policy.
func (p *Policy) Authorize(a auth.Attributes) (bool, string) {
	var by *grant
	var errs []error
	p.visit(a.User, a.Namespace, func(g *grant) bool {
		if g.err != nil {
			errs = append(errs, g.err)
		}
		for i := range g.rules {
			if allows(&g.rules[i], &a) {
				by = g
				return false
			}
		}
		return true
	})
	switch {
	case by != nil:
		return true, by.reason
	case len(errs) > 0:
		return false, fmt.Sprintf("RBAC: %v", utilerrors.NewAggregate(errs))
	}
	return false, ""
}

func reason(binding string, role rbacv1.RoleRef, to rbacv1.Subject) string {
	name := to.Name
	if to.Kind == rbacv1.ServiceAccountKind {
		name += "/" + to.Namespace
	}
	return fmt.Sprintf("RBAC: allowed by %s of %s %q to %s %q", binding, role.Kind, role.Name, to.Kind, name)
}

// RulesFor returns all rules of the user in the namespace, including cluster-wide ones. The error lists bindings
// whose role is missing.
func (p *Policy) RulesFor(u *auth.User, namespace string) ([]rbacv1.PolicyRule, error) {
	var rules []rbacv1.PolicyRule
	var errs []error
	p.visit(u, namespace, func(g *grant) bool {
		rules = append(rules, g.rules...)
		if g.err != nil {
			errs = append(errs, g.err)
		}
		return true
	})
	return rules, utilerrors.NewAggregate(errs)
}

// Describe formats a rule as kubectl and the API server's messages do.
func Describe(r rbacv1.PolicyRule) string {
	var parts []string
	for _, f := range []struct {
		name string
		list []string
	}{
		{"APIGroups", r.APIGroups}, {"Resources", r.Resources}, {"NonResourceURLs", r.NonResourceURLs},
		{"ResourceNames", r.ResourceNames}, {"Verbs", r.Verbs},
	} {
		if len(f.list) > 0 {
			parts = append(parts, fmt.Sprintf("%s:%q", f.name, f.list))
		}
	}
	return "{" + strings.Join(parts, ", ") + "}"
}
