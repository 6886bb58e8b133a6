package server

import (
	"errors"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"fairlead.dev/internal/connections"
	"fairlead.dev/internal/server/audit"
	"fairlead.dev/internal/server/auth"
)

// authenticate finds the user of the request, and the one that it impersonates.
func (c *serving) authenticate() error {
	user, err := c.identify()
	if err != nil {
		c.Log.Debug("authentication failed", "path", c.HTTP.URL.Path, "error", err)
	}
	if user == nil {
		if err := c.auditFailed(audit.Attempted(c.HTTP)); err != nil {
			return err
		}
		return apierrors.NewUnauthorized("Unauthorized")
	}
	c.User = user
	c.beginSpan()
	if err := c.openAudit(); err != nil {
		return err
	}
	u, constraint, err := auth.Impersonate(c.Context, c.HTTP, c.Attributes(c.Info.Verb, c.Info.Name), c.Authorizer)
	var denied *auth.Denied
	if errors.As(err, &denied) {
		return auth.Forbidden(denied.Attributes, denied.Reason)
	}
	if err != nil {
		return err
	}
	if u != user {
		c.Audit.Impersonated(u, constraint)
	}
	c.User = u
	return nil
}

// identify returns the user that the request's credentials name; nil if there are no credentials, or invalid ones, which is an error.
func (c *serving) identify() (*auth.User, error) {
	if c.HTTP.TLS != nil && len(c.HTTP.TLS.PeerCertificates) > 0 {
		c.Access.Certificate(c.HTTP.TLS.PeerCertificates[0].NotAfter)
	}
	start, r := time.Now(), c.HTTP
	if r.Header["Authorization"] != nil || r.Header["Sec-Websocket-Protocol"] != nil { // a token, which may be one to warn about
		r = r.WithContext(auth.WithWarn(c.Context, func(text string) { c.Warn(text) }))
	}
	user, ok, err := c.s.cfg.Authenticator.Authenticate(r)
	if err != nil || !ok {
		c.Access.Authenticated("", err, start)
		return nil, err
	}
	c.Access.Authenticated(user.Name, nil, start)
	if user.Name != auth.AnonymousUser {
		connections.Authenticated(c.HTTP.Context())
	}
	return user, nil
}
