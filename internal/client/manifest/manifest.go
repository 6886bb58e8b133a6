// Package manifest applies manifests in YAML to an API server, by server-side apply.
package manifest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	template "github.com/DataDog/datadog-agent/pkg/template/text"
	"io"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/yaml"
	"k8s.io/utils/ptr"

	"fairlead.dev/client"
)

// Manager is the field manager of what Apply writes.
const Manager = "fairlead"

// Object is an object of a manifest.
type Object = unstructured.Unstructured

// Parse returns the objects of a YAML text with one or more documents.
func Parse(text []byte) (all []*Object, err error) {
	for d := yaml.NewYAMLOrJSONDecoder(bytes.NewReader(text), 4096); ; {
		var o Object
		if err := d.Decode(&o.Object); errors.Is(err, io.EOF) {
			return all, nil
		} else if err != nil {
			return nil, err
		}
		if len(o.Object) > 0 {
			all = append(all, &o)
		}
	}
}

// Render returns the objects of a text/template in YAML.
func Render(text string, values any) ([]*Object, error) {
	t, err := template.New("").Option("missingkey=error").Parse(text)
	if err != nil {
		return nil, err
	}
	var out bytes.Buffer
	if err := t.Execute(&out, values); err != nil {
		return nil, err
	}
	return Parse(out.Bytes())
}

// Apply applies the objects in their order, and takes over fields that others have set to different values. It stops at the
// first error, which names the object.
func Apply(ctx context.Context, c *client.Client, objects []*Object) error {
	return each(ctx, c, objects, func(api client.Resource[*Object], o *Object) error {
		_, err := api.Patch(ctx, o.GetName(), client.ApplyPatch(o), metav1.PatchOptions{FieldManager: Manager, Force: ptr.To(true)})
		return err
	})
}

// Create creates the objects that do not exist, in their order, and leaves the others as they are. It stops at the first
// error, which names the object.
func Create(ctx context.Context, c *client.Client, objects []*Object) error {
	return each(ctx, c, objects, func(api client.Resource[*Object], o *Object) error {
		_, err := api.Create(ctx, o, metav1.CreateOptions{FieldManager: Manager})
		if apierrors.IsAlreadyExists(err) {
			return nil
		}
		return err
	})
}

func each(ctx context.Context, c *client.Client, objects []*Object, do func(client.Resource[*Object], *Object) error) error {
	for _, o := range objects {
		mapping, err := c.Mapping(ctx, o.GroupVersionKind())
		if err == nil {
			api := client.Dynamic(c, mapping.GVR, mapping.Namespaced)
			if mapping.Namespaced {
				api = api.Namespace(o.GetNamespace())
			}
			err = do(api, o)
		}
		if err != nil {
			return fmt.Errorf("%s %s: %w", o.GetKind(), o.GetName(), err)
		}
	}
	return nil
}
