package auth

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	authenticationv1 "k8s.io/api/authentication/v1"
	"k8s.io/apimachinery/pkg/api/validation"
	utilvalidation "k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// mode is a mode of impersonation. A constrained mode (KEP-5284) requires the verb impersonate-on:MODE:VERB for the
// request itself, and impersonate:MODE for each part of the impersonated user; the classic mode, which has no name,
// requires impersonate for each part.
type mode struct {
	name string
	// applies reports whether the mode fits the wanted user; nil fits all.
	applies func(wanted, requestor *User) bool
}

// modes lists the modes in the order in which they are tried, the narrowest first. If all refuse, the client gets
// the refusal of the first that applies.
var modes = []mode{
	{associatedNode, func(wanted, requestor *User) bool {
		node, ok := nodeOf(wanted)
		_, _, account := SplitServiceAccount(requestor.Name)
		return ok && onlyNamed(wanted) && account && slices.Equal(requestor.Extra[NodeName], []string{node})
	}},
	{"arbitrary-node", func(wanted, _ *User) bool {
		_, ok := nodeOf(wanted)
		return ok && onlyNamed(wanted)
	}},
	{"serviceaccount", func(wanted, _ *User) bool {
		_, _, ok := SplitServiceAccount(wanted.Name)
		return ok && onlyNamed(wanted)
	}},
	{"user-info", func(wanted, _ *User) bool {
		_, node := nodeOf(wanted)
		_, _, account := SplitServiceAccount(wanted.Name)
		return !node && !account
	}},
	{"", nil},
}

// constraint returns the verb that a constrained mode requires for each part of the user, "" for the classic mode.
func (m mode) constraint() string {
	if m.name == "" {
		return ""
	}
	return "impersonate:" + m.name
}

// associatedNode is the mode of a service account that impersonates the node on which its pod runs.
const associatedNode = "associated-node"

// nodeOf returns the name of the node whose kubelet the user is.
func nodeOf(u *User) (name string, ok bool) {
	name, ok = strings.CutPrefix(u.Name, NodeUserPrefix)
	return name, ok && len(validation.NameIsDNSSubdomain(name, false)) == 0
}

// onlyNamed reports whether the headers give only a user's name.
func onlyNamed(u *User) bool { return u.UID == "" && len(u.Groups) == 0 && len(u.Extra) == 0 }

// attempt is one mode being tried.
type attempt struct {
	mode
	ctx       context.Context
	a         Authorizer
	requestor *User
}

// try returns the user as which the request is served, if the mode allows it.
func (m mode) try(ctx context.Context, wanted *User, asked Attributes, a Authorizer) (*User, *Denied) {
	t := attempt{m, ctx, a, asked.User}
	if m.name != "" {
		if m.name == associatedNode {
			t.requestor = withoutNode(asked.User)
		}
		asked.User, asked.Verb = t.requestor, "impersonate-on:"+m.name+":"+asked.Verb
		if d := t.ask(asked); d != nil {
			return nil, d
		}
	}
	u := *wanted
	var d *Denied
	if u.Groups, d = t.name(wanted); d == nil && wanted.UID != "" {
		d = t.ask(t.part("uids", wanted.UID))
	}
	if d == nil {
		d = t.groups(wanted.Groups)
	}
	if d == nil {
		d = t.extra(wanted.Extra)
	}
	if d != nil {
		return nil, d
	}
	if u.Name != AnonymousUser {
		return Authenticated(&u), nil
	}
	if !u.InGroup(AllUnauthenticated) {
		u.Groups = append(slices.Clip(u.Groups), AllUnauthenticated)
	}
	return &u, nil
}

// withoutNode returns the service account as it is authorized in the mode of its own node. The decision is the same
// on all nodes, so the node's name is left out.
func withoutNode(u *User) *User {
	keys := slices.Sorted(maps.Keys(u.Extra))
	return &User{Name: u.Name, UID: u.UID, Groups: u.Groups, Extra: map[string][]string{"authentication.kubernetes.io/associated-node-keys": keys}}
}

func (t *attempt) ask(at Attributes) *Denied {
	d, reason, err := t.a.Authorize(t.ctx, at)
	switch {
	case d == Allow:
		return nil
	case err != nil && reason != "":
		reason = fmt.Sprintf("%v: %s", err, reason)
	case err != nil:
		reason = err.Error()
	}
	return &Denied{at, reason}
}

// part returns the attributes for impersonating one part of a user.
func (t *attempt) part(resource, name string) Attributes {
	at := Attributes{User: t.requestor, Verb: "impersonate", Group: authenticationv1.GroupName, Version: "v1", Resource: resource, Name: name, IsResource: true}
	if t.mode.name != "" {
		at.Verb += ":" + t.mode.name
	}
	return at
}

// classic is a part with the group it had in the core API before there were modes.
func (t *attempt) classic(resource, name string) Attributes {
	at := t.part(resource, name)
	if t.mode.name == "" {
		at.Group = ""
	}
	return at
}

// name authorizes the user's name and returns the user's groups, which are determined by the name for nodes and
// service accounts.
func (t *attempt) name(u *User) (groups []string, _ *Denied) {
	at, groups := t.classic("users", u.Name), u.Groups
	if node, ok := nodeOf(u); ok && t.mode.name != "" {
		at.Resource, at.Name, groups = "nodes", node, []string{NodesGroup}
		if t.mode.name == associatedNode {
			at.Name = "*"
		}
	}
	if namespace, account, ok := SplitServiceAccount(u.Name); ok {
		at.Resource, at.Namespace, at.Name = "serviceaccounts", namespace, account
		if len(groups) == 0 {
			groups = ServiceAccountGroups(namespace)
		}
	}
	return groups, t.ask(at)
}

// many is the number of groups or extra values from which on they are first authorized as a whole.
const many = 4

func (t *attempt) groups(list []string) *Denied {
	at := t.classic("groups", "")
	if t.mode.name != "" {
		switch {
		case slices.Contains(list, ""):
			return &Denied{at, "impersonating the empty string group is not allowed"}
		case slices.Contains(list, MastersGroup):
			at.Name = MastersGroup
			return &Denied{at, "impersonating the system:masters group is not allowed"}
		case len(list) >= many:
			at.Name = "*"
			if t.ask(at) == nil {
				return nil
			}
		}
	}
	for _, at.Name = range list {
		if d := t.ask(at); d != nil {
			return d
		}
	}
	return nil
}

func (t *attempt) extra(all map[string][]string) *Denied {
	at, count := t.part("userextras", ""), 0
	for _, values := range all {
		count += len(values)
	}
	if t.mode.name != "" {
		if err := checkExtra(all); err != nil {
			return &Denied{at, err.Error()}
		}
		if count >= many {
			whole := at
			whole.Subresource, whole.Name = "*", "*"
			if t.ask(whole) == nil {
				return nil
			}
		}
	}
	for _, at.Subresource = range slices.Sorted(maps.Keys(all)) {
		for _, at.Name = range all[at.Subresource] {
			if d := t.ask(at); d != nil {
				return d
			}
		}
	}
	return nil
}

// checkExtra returns an error for extra keys that constrained modes do not allow.
func checkExtra(all map[string][]string) error {
	for _, key := range slices.Sorted(maps.Keys(all)) {
		values := all[key]
		if key == "" {
			return errors.New("impersonating the empty string key in extra is not allowed")
		}
		if err := utilvalidation.IsDomainPrefixedPath(field.NewPath("extra", "key"), key).ToAggregate(); err != nil {
			return fmt.Errorf("impersonating an invalid key in extra is not allowed: %w", err)
		}
		switch {
		case key != strings.ToLower(key):
			return fmt.Errorf("impersonating a non-lowercase key in extra is not allowed: %q", key)
		case len(values) == 0:
			return errors.New("impersonating empty values in extra is not allowed")
		case slices.Contains(values, ""):
			return errors.New("impersonating the empty string value in extra is not allowed")
		}
	}
	return nil
}
