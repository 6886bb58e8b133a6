package server

import (
	"errors"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"fairlead.dev/internal/server/auth"
)

// authenticate finds the user of the request, and the one that it impersonates.
func (c *call) authenticate() error {
	user, ok, err := c.s.cfg.Authenticator.Authenticate(c.req)
	if err != nil {
		c.s.log.Debug("authentication failed", "path", c.req.URL.Path, "error", err)
	}
	if err != nil || !ok {
		return apierrors.NewUnauthorized("Unauthorized")
	}
	c.user = user
	c.user, err = auth.Impersonate(c.ctx, c.req, c.attributes(c.info.Verb, c.info.Name), c.s.cfg.Authorizer)
	var denied *auth.Denied
	if errors.As(err, &denied) {
		return auth.Forbidden(denied.Attributes, denied.Reason)
	}
	return err
}

// attributes describes the verb and the object in the path for authorization.
func (c *call) attributes(verb, name string) auth.Attributes {
	a := auth.Attributes{
		User: c.user, Verb: verb, Path: c.info.Path, IsResource: c.info.IsResource,
		Group: c.info.Group, Version: c.info.Version, Resource: c.info.Resource,
		Subresource: c.info.Subresource, Namespace: c.info.Namespace, Name: name,
	}
	if c.query != nil && c.info.IsResource && !c.info.LegacyWatch {
		switch verb {
		case "list", "watch", "deletecollection":
			a.Fields = c.query.Get("fieldSelector")
		}
	}
	return a
}

// authorize asks whether the user may do the verb to the object in the path.
func (c *call) authorize(verb, name string) error {
	a := c.attributes(verb, name)
	ok, reason, err := c.s.cfg.Authorizer.Authorize(c.ctx, a)
	if ok {
		return nil
	}
	if err != nil {
		c.s.log.Warn("authorization failed", "user", c.user.Name, "path", c.info.Path, "error", err)
		return apierrors.NewInternalError(err)
	}
	return auth.Forbidden(a, reason)
}

func userName(u *auth.User) string {
	if u == nil {
		return ""
	}
	return u.Name
}
