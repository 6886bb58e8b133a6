package write

import (
	autoscalingv1 "k8s.io/api/autoscaling/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/managedfields"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"

	"fairlead.dev/internal/resource"
	"fairlead.dev/internal/server/endpoint"
	"fairlead.dev/internal/server/openapi"
	"fairlead.dev/internal/server/patch"
)

var replicasPath = fieldpath.MakePathOrDie("spec", "replicas")

// applyScale merges a configuration of a Scale. The object's record of owners
// is seen as that of a Scale, which is the owners of its replicas.
func (c *Operation) applyScale(access *resource.ScaleAccess, p patch.Patch, opts *metav1.PatchOptions) error {
	config, err := decodeConfig(p)
	if err != nil {
		return err
	}
	fm, err := c.w.merges.scale()
	if err != nil {
		return err
	}
	update := &metav1.UpdateOptions{DryRun: opts.DryRun, FieldManager: opts.FieldManager, FieldValidation: opts.FieldValidation}
	return c.rescale(access, Change{opts: update, recorded: true}, func(now *autoscalingv1.Scale, obj resource.Object) (*autoscalingv1.Scale, error) {
		gv := c.Endpoint.ServedGVK.GroupVersion()
		path := replicasPath
		if access.Path != nil {
			path = fieldpath.Path{}
			for i := range access.Path {
				path = append(path, fieldpath.PathElement{FieldName: &access.Path[i]})
			}
		}
		h := managedfields.NewScaleHandler(obj.GetManagedFields(), gv, managedfields.ResourcePathMappings{gv.String(): path})
		if now.ManagedFields, err = h.ToSubresource(); err != nil {
			return nil, err
		}
		asking, err := config.fresh()
		if err != nil {
			return nil, err
		}
		out, err := fm.Apply(now, asking, opts.FieldManager, ptr.Deref(opts.Force, false))
		if err != nil {
			return nil, err
		}
		asked := out.(*autoscalingv1.Scale)
		entries, err := h.ToParent(asked.ManagedFields)
		if err != nil {
			return nil, err
		}
		obj.SetManagedFields(entries)
		return asked, c.reportDuplicates(config.duplicates, opts.FieldValidation)
	})
}

// scale merges configurations of scales.
func (m *merges) scale() (*managedfields.FieldManager, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.mu.scale != nil {
		return m.mu.scale, nil
	}
	r := &resource.Resource{Group: scaleKind.Group, Kind: scaleKind.Kind, Plural: "scales", Versions: []resource.Version{{
		Name: scaleKind.Version, New: func() runtime.Object { return &autoscalingv1.Scale{} },
	}}}
	models, err := openapi.Models([]*resource.Resource{r}, resource.Scheme())
	if err != nil {
		return nil, err
	}
	types, err := managedfields.NewTypeConverter(models, false)
	if err != nil {
		return nil, err
	}
	conv := scaleConverter{}
	m.mu.scale, err = managedfields.NewDefaultFieldManager(types, conv, conv, resource.Scheme(), scaleKind, scaleKind.GroupVersion(), "scale", nil)
	return m.mu.scale, err
}

// scaleConverter knows one version.
type scaleConverter struct{ endpoint.Converter }

func (scaleConverter) ConvertToVersion(in runtime.Object, _ runtime.GroupVersioner) (runtime.Object, error) {
	u, ok := in.(*unstructured.Unstructured)
	if !ok {
		return in, nil
	}
	if gvk := u.GroupVersionKind(); gvk != scaleKind {
		return nil, runtime.NewNotRegisteredErrForKind("fairlead", schema.GroupVersionKind(gvk))
	}
	s := &autoscalingv1.Scale{}
	return s, runtime.DefaultUnstructuredConverter.FromUnstructured(u.Object, s)
}
