package testenv

import (
	"context"
	"encoding/json"
	"fmt"
	"path"
	"reflect"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// subject is an object that a test waits for.
type subject struct {
	// resource is "plural.group".
	resource, namespace, name string
	// collection is the path of the objects beside it.
	collection string
}

func (s subject) String() string {
	if s.namespace != "" {
		return s.resource + " " + s.namespace + "/" + s.name
	}
	return s.resource + " " + s.name
}

// goType is the kind of an object as its Go type suggests it: k8s.io/api/apps/v1.Deployment is of a group "apps", the
// version "v1" and the kind Deployment.
type goType struct{ pkg, group, version, kind string }

func goTypeOf(obj any) goType {
	typ := reflect.Indirect(reflect.ValueOf(obj)).Type()
	return goType{typ.PkgPath(), path.Base(path.Dir(typ.PkgPath())), path.Base(typ.PkgPath()), typ.Name()}
}

// likeness says how much a group resembles that of a Go type.
func (g goType) likeness(group string) (n int) {
	label, rest, _ := strings.Cut(group, ".")
	if upstream := rest == "" || strings.HasSuffix(group, ".k8s.io"); upstream == strings.HasPrefix(g.pkg, "k8s.io/") {
		n += 2
	}
	if label == g.group || group == "" && g.group == "core" {
		n++
	}
	return n
}

// apiResource is a kind in a document of discovery.
type apiResource struct {
	Name, Kind string
	Namespaced bool
}

// served is a kind, with the version that serves it.
type served struct {
	group, version string
	apiResource
}

// subjectOf finds an object's place in the API, by its apiVersion and kind, or else by its Go type.
func (e *Env) subjectOf(ctx context.Context, obj metav1.Object) (s subject, err error) {
	if obj.GetName() == "" {
		return s, fmt.Errorf("the %T has no name", obj)
	}
	data, err := json.Marshal(obj)
	if err != nil {
		return s, err
	}
	var meta metav1.TypeMeta
	if err := json.Unmarshal(data, &meta); err != nil {
		return s, err
	}
	var found served
	if meta.Kind != "" {
		gv := meta.GroupVersionKind()
		found, err = e.kindIn(ctx, gv.Group, gv.Version, gv.Kind)
	} else {
		found, err = e.kindOf(ctx, goTypeOf(obj))
	}
	if err != nil {
		return s, err
	}
	s = subject{resource: found.Name, name: obj.GetName(), collection: groupPath(found.group, found.version)}
	if found.group != "" {
		s.resource += "." + found.group
	}
	if found.Namespaced {
		if s.namespace = obj.GetNamespace(); s.namespace == "" {
			return s, fmt.Errorf("the %s %q has no namespace", found.Kind, s.name)
		}
		s.collection += "/namespaces/" + s.namespace
	}
	s.collection += "/" + found.Name
	return s, nil
}

func groupPath(group, version string) string {
	if group == "" {
		return "/api/" + version
	}
	return "/apis/" + group + "/" + version
}

// kindIn finds a kind in a version of a group.
func (e *Env) kindIn(ctx context.Context, group, version, kind string) (served, error) {
	var list struct{ Resources []apiResource }
	if err := e.api.get(ctx, groupPath(group, version), &list); err != nil {
		return served{}, fmt.Errorf("%s of %s: %w", kind, groupPath(group, version), err)
	}
	for _, r := range list.Resources {
		if r.Kind == kind && !strings.Contains(r.Name, "/") {
			return served{group, version, r}, nil
		}
	}
	return served{}, fmt.Errorf("the server has no kind %s in %s", kind, groupPath(group, version))
}

// kindOf finds the kind of a Go type: of those with its name and version, the one whose group resembles the type's.
func (e *Env) kindOf(ctx context.Context, g goType) (best served, err error) {
	var all struct {
		Groups []struct {
			Name     string
			Versions []struct{ Version string }
		}
	}
	if err := e.api.get(ctx, "/apis", &all); err != nil {
		return best, err
	}
	names := []string{""}
	for _, group := range all.Groups {
		for _, v := range group.Versions {
			if v.Version == g.version {
				names = append(names, group.Name)
			}
		}
	}
	most, several := -1, false
	for _, group := range names {
		n := g.likeness(group)
		if n < most || group == "" && g.version != "v1" {
			continue
		}
		found, err := e.kindIn(ctx, group, g.version, g.kind)
		if err != nil {
			continue
		}
		best, several, most = found, n == most, n
	}
	if most < 0 || several {
		return best, fmt.Errorf("the kind of a %s.%s is not certain: set its apiVersion and kind", g.pkg, g.kind)
	}
	return best, nil
}
