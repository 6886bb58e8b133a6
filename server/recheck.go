package server

import (
	"context"
	"net/http"

	"fairlead.dev/internal/server/auth"
	"fairlead.dev/watchcache"
)

// With Config.TrustCaches a write of one object is judged by the caches as they are: the user, the right, and the objects that
// admission reads may be as old as the way of an event from the store to this server. The commit itself compares the versions of
// the objects that it writes. Before such a request is refused, the caches catch up with the store, and it is judged again.

// writesOne reports whether the request writes one object. A dry run does not: no commit compares the objects that it reads.
func (c *serving) writesOne() bool {
	switch c.Info.Verb {
	case "create", "update", "patch", "delete":
		return c.Info.IsResource && !c.Query.Has("dryRun")
	}
	return false
}

// recheckUser asks a again about a request that it does not know, if the caches were behind.
func recheckUser(a Authenticator) Authenticator {
	return auth.AuthenticatorFunc(func(r *http.Request) (*auth.User, bool, error) {
		user, ok, err := a.Authenticate(r)
		if !ok && watchcache.Recheck(r.Context()) {
			return a.Authenticate(r)
		}
		return user, ok, err
	})
}

// recheckDecision asks a again about a request that it does not allow, if the caches were behind.
func recheckDecision(a Authorizer) Authorizer {
	return auth.AuthorizerFunc(func(ctx context.Context, attributes auth.Attributes) (auth.Decision, string, error) {
		d, reason, err := a.Authorize(ctx, attributes)
		if d != auth.Allow && watchcache.Recheck(ctx) {
			return a.Authorize(ctx, attributes)
		}
		return d, reason, err
	})
}
