package call

import (
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"fairlead.dev/internal/server/auth"
)

// Attributes describes a verb on the object in the path for authorization.
func (c *Call) Attributes(verb, name string) auth.Attributes {
	a := auth.Attributes{
		User: c.User, Verb: verb, Path: c.Info.Path, IsResource: c.Info.IsResource,
		Group: c.Info.Group, Version: c.Info.Version, Resource: c.Info.Resource,
		Subresource: c.Info.Subresource, Namespace: c.Info.Namespace, Name: name,
	}
	if c.Query != nil && c.Info.IsResource && !c.Info.LegacyWatch {
		switch verb {
		case "list", "watch", "deletecollection":
			a.Fields = c.Query.Get("fieldSelector")
		}
	}
	return a
}

// Authorize returns an error unless the user may do the verb to the object in the path.
func (c *Call) Authorize(verb, name string) error {
	a := c.Attributes(verb, name)
	start := time.Now()
	ok, reason, err := c.Authorizer.Authorize(c.Context, a)
	c.Access.Authorized(ok, err, start)
	c.Audit.Decided(ok, reason, err)
	if ok {
		return nil
	}
	if c.Context.Err() != nil {
		return c.Context.Err()
	}
	if err != nil {
		c.Log.Warn("authorization failed", "user", c.User.Name, "path", c.Info.Path, "error", err)
		return apierrors.NewInternalError(err)
	}
	return auth.Forbidden(a, reason)
}

// UserName returns the user's name, "" before authentication.
func (c *Call) UserName() string {
	if c.User == nil {
		return ""
	}
	return c.User.Name
}

// Agent returns the client's program from the user agent, without its platform.
func (c *Call) Agent() string {
	agent := c.HTTP.Header["User-Agent"]
	if len(agent) == 0 {
		return ""
	}
	program, _, _ := strings.Cut(agent[0], " ")
	return program
}
