package endpoint

import (
	"context"
	"fmt"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"
)

// Converter converts an endpoint's objects between versions for the field managers of
// apimachinery. Context bounds calls of a conversion webhook.
type Converter struct {
	Context  context.Context
	Endpoint *Endpoint
}

// New makes an empty object of a version of the endpoint's kind.
func (c Converter) New(gvk schema.GroupVersionKind) (runtime.Object, error) {
	return c.Endpoint.newVersion(gvk)
}

// ConvertToVersion implements runtime.ObjectConvertor.
func (c Converter) ConvertToVersion(in runtime.Object, target runtime.GroupVersioner) (runtime.Object, error) {
	return c.Endpoint.convertVersion(c.Context, in, target)
}

// Default has no effect: defaults are filled in behind the merge.
func (Converter) Default(runtime.Object) {}

// Convert fails: only whole objects are converted.
func (Converter) Convert(in, out, context any) error {
	return fmt.Errorf("conversion of %T into %T is not provided for", in, out)
}

// ConvertFieldLabel leaves field labels as they are.
func (Converter) ConvertFieldLabel(_ schema.GroupVersionKind, label, value string) (string, string, error) {
	return label, value, nil
}

// resetFilters returns, for each of the versions, a filter of the fields that a write through
// the subresource cannot set; see resource.Resource.Reset.
func (ep *Endpoint) resetFilters(subresource string, versions []string) map[fieldpath.APIVersion]fieldpath.Filter {
	reset := ep.Reset(subresource)
	if reset == nil {
		return nil
	}
	set := fieldpath.NewSet()
	for _, path := range reset {
		steps := make([]any, len(path))
		for i, s := range path {
			steps[i] = s
		}
		set.Insert(fieldpath.MakePathOrDie(steps...))
	}
	filters := map[fieldpath.APIVersion]fieldpath.Filter{}
	for _, name := range versions {
		filters[fieldpath.APIVersion(ep.Resource.GVK(name).GroupVersion().String())] = fieldpath.NewExcludeSetFilter(set)
	}
	return filters
}
