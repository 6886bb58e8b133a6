package server

import (
	"net/http"
	"net/url"
	"strings"

	"k8s.io/apimachinery/pkg/api/validate/content"
	"k8s.io/apimachinery/pkg/fields"
)

// info is what a request asks for, as read from its path.
type info struct {
	// isResource says that the path names an API resource; otherwise only verb
	// (the HTTP method in lower case) and path count.
	isResource bool
	path, verb string
	// prefix is "api" or "apis".
	prefix, group, version           string
	namespace, resource, subresource string
	name                             string
	// ofNamespace: the path is that of a Namespace, whose name is also namespace.
	ofNamespace bool
	// parts of the path from the resource on.
	parts []string
	// legacyWatch marks the old form /api/v1/watch/...
	legacyWatch bool
}

// parseInfo reads a request's path in the way of kube-apiserver. It fails, with
// ok false, only for a special prefix with nothing behind it.
func parseInfo(req *http.Request, query url.Values) (in info, ok bool) {
	in = info{path: req.URL.Path, verb: strings.ToLower(req.Method)}
	parts := splitPath(req.URL.Path)
	if len(parts) < 3 || parts[0] != "api" && parts[0] != "apis" {
		return in, true
	}
	in.prefix, parts = parts[0], parts[1:]
	if in.prefix == "apis" {
		if len(parts) < 3 {
			return in, true
		}
		in.group, parts = parts[0], parts[1:]
	}
	in.isResource = true
	in.version, parts = parts[0], parts[1:]

	if parts[0] == "watch" || parts[0] == "proxy" {
		if len(parts) < 2 {
			return in, false
		}
		in.verb, parts = parts[0], parts[1:]
		in.legacyWatch = in.verb == "watch"
	} else {
		in.verb = verbOf(req.Method)
	}
	if parts[0] == "namespaces" && len(parts) > 1 {
		in.namespace = parts[1]
		// /namespaces/x/status is a subresource of the namespace, anything
		// else below it is a resource in it.
		if len(parts) > 2 && parts[2] != "status" && parts[2] != "finalize" {
			parts = parts[2:]
		}
	}
	in.parts, in.resource = parts, parts[0]
	in.ofNamespace = in.group == "" && in.resource == "namespaces"
	if len(parts) > 1 {
		in.name = parts[1]
	}
	if len(parts) > 2 && in.verb != "proxy" {
		in.subresource = parts[2]
	}
	in.refine(query)
	return in, true
}

// refine tells list and watch from get, and deletecollection from delete.
func (in *info) refine(query url.Values) {
	if in.name != "" {
		return
	}
	switch in.verb {
	case "delete":
		in.verb = "deletecollection"
	case "get":
		in.verb = "list"
		if len(query) == 0 {
			return
		}
		if isTrue(query["watch"]) {
			in.verb = "watch"
		}
		if text := query.Get("fieldSelector"); text != "" {
			sel, err := fields.ParseSelector(text)
			if err != nil {
				return
			}
			name, ok := sel.RequiresExactMatch("metadata.name")
			if ok && len(content.IsPathSegmentName(name)) == 0 {
				in.name = name
			}
		}
	}
}

// isTrue reads a boolean parameter as kube-apiserver does: present means true
// unless it says false or 0.
func isTrue(values []string) bool {
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

func splitPath(path string) []string {
	path = strings.Trim(path, "/")
	if path == "" {
		return nil
	}
	return strings.Split(path, "/")
}
