package admissionregistration

import (
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"fairlead.dev/internal/resource"
)

// staticSuffix ends the names of configurations that a server reads from files: KEP 5793.
const staticSuffix = ".static.k8s.io"

const staticName = `names ending with "` + staticSuffix + `" are reserved for static manifest-based configurations and cannot be managed via the API`

// refuseStatic makes a resource refuse new objects with the names of static configurations.
func refuseStatic(r *resource.Resource) {
	validate := r.Strategy.Validate
	r.Strategy.Validate = func(obj runtime.Object) field.ErrorList {
		errs := validate(obj)
		if name := obj.(resource.Object).GetName(); strings.HasSuffix(name, staticSuffix) {
			errs = append(errs, field.Invalid(field.NewPath("metadata", "name"), name, staticName))
		}
		return errs
	}
}

// WarnOfStatic makes a resource accept new objects with the names of static configurations with a warning, as with the
// feature gate ManifestBasedAdmissionControlConfig turned off.
func WarnOfStatic(r *resource.Resource) {
	s := &r.Strategy
	validate, warnings, updates := s.Validate, s.Warnings, s.UpdateWarnings
	s.Validate = func(obj runtime.Object) field.ErrorList {
		return slices.DeleteFunc(validate(obj), func(e *field.Error) bool { return e.Detail == staticName })
	}
	if updates == nil {
		updates = func(obj, _ runtime.Object) []string {
			if warnings == nil {
				return nil
			}
			return warnings(obj)
		}
	}
	s.UpdateWarnings = updates
	s.Warnings = func(obj runtime.Object) (texts []string) {
		if warnings != nil {
			texts = warnings(obj)
		}
		if strings.HasSuffix(obj.(resource.Object).GetName(), staticSuffix) {
			texts = append(texts, "metadata.name: "+staticName)
		}
		return texts
	}
}
