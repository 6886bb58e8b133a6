package apps

import (
	"encoding/json"
	"fmt"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"fairlead.dev/internal/resource"
	"fairlead.dev/internal/resource/check"
)

var revisionTable = resource.TableOf(func(r *appsv1.ControllerRevision) []any {
	owner := resource.None
	if ref := metav1.GetControllerOf(r); ref != nil {
		owner = ref.Name
		if gv, err := schema.ParseGroupVersion(ref.APIVersion); err == nil && ref.Kind != "" {
			owner = strings.ToLower(gv.WithKind(ref.Kind).GroupKind().String()) + "/" + ref.Name
		}
	}
	return []any{r.Name, owner, r.Revision, resource.AgeOf(r)}
},
	resource.NameColumn,
	resource.Text("Controller", "The object whose revision this is."),
	resource.Text("Revision", "The revision's number."),
	resource.AgeColumn,
)

var revisionStrategy = resource.Rules[*appsv1.ControllerRevision]{
	Validate: func(r *appsv1.ControllerRevision) field.ErrorList {
		var f check.Errors
		f.NotNegative(check.At("revision"), r.Revision)
		p := check.At("data")
		var v any
		if r.Data.Raw == nil {
			f.Required(p, "data is mandatory")
		} else if err := json.Unmarshal(r.Data.Raw, &v); err != nil {
			f.Invalid(p, "<value omitted>", fmt.Sprintf("error parsing data: %v", err))
		} else if v == nil {
			f.Required(p, "data is mandatory")
		} else if _, ok := v.(map[string]any); !ok {
			f.Required(p, "data must be a valid JSON object")
		}
		return f.List()
	},
	ValidateUpdate: func(r, old *appsv1.ControllerRevision) field.ErrorList {
		var f check.Errors
		f.NotNegative(check.At("revision"), r.Revision)
		f.Same(check.At("data"), r.Data, old.Data)
		return f.List()
	},
}.Strategy()
