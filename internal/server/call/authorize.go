package call

import (
	"fmt"
	"net/http"
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
			a.Fields, a.Labels = c.Query.Get("fieldSelector"), c.Query.Get("labelSelector")
		}
	}
	return a
}

// Authorize returns an error unless the user may do the verb to the object in the path.
func (c *Call) Authorize(verb, name string) error {
	refusal, failure := c.decide(verb, name)
	if failure != nil {
		return apierrors.NewInternalError(failure)
	}
	return refusal
}

// AuthorizeRequest authorizes the request itself. If the authorizer fails, it answers in plain text, as kube-apiserver does
// before it knows the kind of a request, and answered is true.
func (c *Call) AuthorizeRequest() (answered bool, err error) {
	refusal, failure := c.decide(c.Info.Verb, c.Info.Name)
	if failure != nil {
		text := fmt.Sprintf("Internal Server Error: %q: %v", withoutMarkup.Replace(c.HTTP.RequestURI), failure)
		http.Error(c.Writer, text, http.StatusInternalServerError)
		return true, nil
	}
	return false, refusal
}

// withoutMarkup keeps a browser from reading a path as HTML.
var withoutMarkup = strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;")

// decide asks the authorizer. refusal is nil if it allows the request, and failure is its error if it does not know.
func (c *Call) decide(verb, name string) (refusal, failure error) {
	a := c.Attributes(verb, name)
	start := time.Now()
	d, reason, err := c.Authorizer.Authorize(c.Context, a)
	c.Access.Authorized(d, err, start)
	c.Audit.Decided(d == auth.Allow, reason, err)
	switch {
	case d == auth.Allow:
		return nil, nil
	case c.Context.Err() != nil:
		return c.Context.Err(), nil
	case err != nil:
		c.Log.Warn("authorization failed", "user", c.User.Name, "path", c.Info.Path, "error", err)
		return nil, err
	}
	return auth.Forbidden(a, reason), nil
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
