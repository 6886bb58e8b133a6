package auth

import (
	"context"
	"strings"
)

// User is who a request is from. It is shared by the requests of one token, and must
// not be changed.
type User struct {
	// Name is unique among the users at one time; UID, if there is one, over time.
	Name, UID string
	Groups    []string
	// Extra is what the authenticator knows besides, under keys such as
	// authentication.kubernetes.io/credential-id.
	Extra map[string][]string
}

// Names that every Kubernetes API server gives the same meaning.
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

// InGroup says whether the user is in the group.
func (u *User) InGroup(group string) bool {
	for _, g := range u.Groups {
		if g == group {
			return true
		}
	}
	return false
}

// ServiceAccountUser is the name a service account has as a user.
func ServiceAccountUser(namespace, name string) string {
	return ServiceAccountPrefix + namespace + ":" + name
}

// SplitServiceAccount undoes ServiceAccountUser; ok is false for the name of
// any other user.
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

// ServiceAccountGroups are the groups every service account of a namespace is in.
func ServiceAccountGroups(namespace string) []string {
	return []string{ServiceAccountsGroup, ServiceAccountsGroup + ":" + namespace}
}

type userKey struct{}

// WithUser returns a context that carries the user. Only code of this process
// can make one, so what it says is believed.
func WithUser(ctx context.Context, u *User) context.Context {
	return context.WithValue(ctx, userKey{}, u)
}

// UserFrom returns the user WithUser put there.
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
