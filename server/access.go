package server

import (
	"errors"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"fairlead.dev/internal/server/audit"
	"fairlead.dev/internal/server/auth"
)

// authenticate finds the user of the request, and the one that it impersonates.
func (c *serving) authenticate() error {
	user, ok, err := c.s.cfg.Authenticator.Authenticate(c.HTTP)
	if err != nil {
		c.Log.Debug("authentication failed", "path", c.HTTP.URL.Path, "error", err)
	}
	if err != nil || !ok {
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
