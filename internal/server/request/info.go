package request

import (
	"net/http"
	"net/url"
	"strings"

	"k8s.io/apimachinery/pkg/api/validate/content"
	"k8s.io/apimachinery/pkg/fields"
)

// Info is Kubernetes' RequestInfo: the verb and the object or path of a request, as read from its
// method and path.
type Info struct {
	// IsResource: the path names an API resource. Otherwise only Verb, which is the HTTP
	// method in lower case, and Path are set.
	IsResource bool
	Path, Verb string
	// Prefix is "api" or "apis".
	Prefix, Group, Version           string
	Namespace, Resource, Subresource string
	Name                             string
	// OfNamespace: the path names a Namespace object, whose name is in both Name and
	// Namespace.
	OfNamespace bool
	// Parts are those of the path, from the resource on.
	Parts []string
	// LegacyWatch marks a path of the old form /api/v1/watch/...
	LegacyWatch bool
}

// ParseInfo reads a request's path as kube-apiserver does. It fails, with ok false, only for
// the prefixes watch and proxy with nothing behind them.
func ParseInfo(req *http.Request, query url.Values) (in Info, ok bool) {
	in = Info{Path: req.URL.Path, Verb: strings.ToLower(req.Method)}
	parts := SplitPath(req.URL.Path)
	if len(parts) < 3 || parts[0] != "api" && parts[0] != "apis" {
		return in, true
	}
	in.Prefix, parts = parts[0], parts[1:]
	if in.Prefix == "apis" {
		if len(parts) < 3 {
			return in, true
		}
		in.Group, parts = parts[0], parts[1:]
	}
	in.IsResource = true
	in.Version, parts = parts[0], parts[1:]

	if parts[0] == "watch" || parts[0] == "proxy" {
		if len(parts) < 2 {
			return in, false
		}
		in.Verb, parts = parts[0], parts[1:]
		in.LegacyWatch = in.Verb == "watch"
	} else {
		in.Verb = verbOf(req.Method)
	}
	if parts[0] == "namespaces" && len(parts) > 1 {
		in.Namespace = parts[1]
		// /namespaces/x/status is a subresource of the namespace, anything
		// else below it is a resource in it.
		if len(parts) > 2 && parts[2] != "status" && parts[2] != "finalize" {
			parts = parts[2:]
		}
	}
	in.Parts, in.Resource = parts, parts[0]
	in.OfNamespace = in.Group == "" && in.Resource == "namespaces"
	if len(parts) > 1 {
		in.Name = parts[1]
	}
	if len(parts) > 2 && in.Verb != "proxy" {
		in.Subresource = parts[2]
	}
	in.refine(query)
	return in, true
}

// refine tells list and watch from get, and deletecollection from delete.
func (in *Info) refine(query url.Values) {
	if in.Name != "" {
		return
	}
	switch in.Verb {
	case "delete":
		in.Verb = "deletecollection"
	case "get":
		in.Verb = "list"
		if len(query) == 0 {
			return
		}
		if IsTrue(query["watch"]) {
			in.Verb = "watch"
		}
		if text := query.Get("fieldSelector"); text != "" {
			sel, err := fields.ParseSelector(text)
			if err != nil {
				return
			}
			name, ok := sel.RequiresExactMatch("metadata.name")
			if ok && len(content.IsPathSegmentName(name)) == 0 {
				in.Name = name
			}
		}
	}
}

// IsTrue reads a boolean parameter as kube-apiserver does: present means true unless the value
// is false or 0.
func IsTrue(values []string) bool {
	if len(values) == 0 {
		return false
	}
	v := strings.ToLower(values[0])
	return v != "false" && v != "0"
}

func verbOf(method string) string {
	switch method {
	case http.MethodGet, http.MethodHead:
		return "get"
	case http.MethodPost:
		return "create"
	case http.MethodPut:
		return "update"
	case http.MethodPatch:
		return "patch"
	case http.MethodDelete:
		return "delete"
	}
	return ""
}

// SplitPath returns the parts of a path between slashes.
func SplitPath(path string) []string {
	path = strings.Trim(path, "/")
	if path == "" {
		return nil
	}
	return strings.Split(path, "/")
}

// ReadOnly reports whether the verb changes nothing, as kube-apiserver's limits tell requests apart.
func (in *Info) ReadOnly() bool { return in.Verb == "get" || in.Verb == "list" || in.Verb == "watch" }

// LongRunning reports whether the response may go on without end. Such a request has no
// deadline and is not counted among those in flight.
func (in *Info) LongRunning() bool {
	if !in.IsResource {
		return strings.HasPrefix(in.Path, "/debug/")
	}
	if in.Verb == "watch" || in.Verb == "proxy" {
		return true
	}
	switch in.Subresource {
	case "attach", "exec", "log", "portforward", "proxy":
		return true
	}
	return false
}

// Writes reports whether the verb changes objects.
func (in *Info) Writes() bool {
	switch in.Verb {
	case "create", "update", "patch", "delete", "deletecollection":
		return true
	}
	return false
}
