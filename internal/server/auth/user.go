package auth

import (
	"context"
	"strings"
)

// User is the user of a request. It is shared by the requests of one token, and must not be modified.
type User struct {
	// Name is unique among the users at one time; UID, if set, over time.
	Name, UID string
	Groups    []string
	// Extra holds further facts from the authenticator, under keys such as
	// authentication.kubernetes.io/credential-id.
	Extra map[string][]string
}

// User and group names with a fixed meaning in Kubernetes.
const (
	AnonymousUser        = "system:anonymous"
	AllAuthenticated     = "system:authenticated"
	AllUnauthenticated   = "system:unauthenticated"
	MastersGroup         = "system:masters"
	NodesGroup           = "system:nodes"
	NodeUserPrefix       = "system:node:"
	ServiceAccountPrefix = "system:serviceaccount:"
	ServiceAccountsGroup = "system:serviceaccounts"
	MonitoringGroup      = "system:monitoring"
)

// InGroup reports whether the user is in the group.
func (u *User) InGroup(group string) bool {
	for _, g := range u.Groups {
		if g == group {
			return true
		}
	}
	return false
}

// ServiceAccountUser returns the user name of a service account.
func ServiceAccountUser(namespace, name string) string {
	return ServiceAccountPrefix + namespace + ":" + name
}

// SplitServiceAccount is the inverse of ServiceAccountUser. ok is false for other users.
func SplitServiceAccount(user string) (namespace, name string, ok bool) {
	rest, ok := strings.CutPrefix(user, ServiceAccountPrefix)
	if !ok {
		return "", "", false
	}
	namespace, name, ok = strings.Cut(rest, ":")
	if !ok || namespace == "" || name == "" || strings.Contains(name, ":") {
		return "", "", false
	}
	return namespace, name, true
}

// ServiceAccountGroups returns the groups of every service account of a namespace.
func ServiceAccountGroups(namespace string) []string {
	return []string{ServiceAccountsGroup, ServiceAccountsGroup + ":" + namespace}
}

type userKey struct{}

// WithUser returns a context that carries the user. Only code of this process can create one, so its user is
// trusted.
func WithUser(ctx context.Context, u *User) context.Context {
	return context.WithValue(ctx, userKey{}, u)
}

// UserFrom returns the user set by WithUser.
func UserFrom(ctx context.Context) (*User, bool) {
	u, ok := ctx.Value(userKey{}).(*User)
	return u, ok && u != nil
}

// Keys of User.Extra.
const (
	CredentialID = "authentication.kubernetes.io/credential-id"
	PodName      = "authentication.kubernetes.io/pod-name"
	PodUID       = "authentication.kubernetes.io/pod-uid"
	NodeName     = "authentication.kubernetes.io/node-name"
	NodeUID      = "authentication.kubernetes.io/node-uid"
)
