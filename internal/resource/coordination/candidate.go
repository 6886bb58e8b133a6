package coordination

import (
	"strings"

	coordinationv1 "k8s.io/api/coordination/v1"
	coordinationv1beta1 "k8s.io/api/coordination/v1beta1"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/apimachinery/pkg/util/version"

	"fairlead.dev/internal/resource"
	"fairlead.dev/internal/resource/check"
)

var candidateTable = resource.TableOf(func(c *coordinationv1beta1.LeaseCandidate) []any {
	return []any{c.Name, c.Spec.LeaseName, c.Spec.BinaryVersion, c.Spec.EmulationVersion, resource.AgeOf(c)}
},
	resource.NameColumn,
	resource.Text("LeaseName", "The lease that the candidate is for."),
	resource.Text("BinaryVersion", "The candidate's version."),
	resource.Text("EmulationVersion", "The version that the candidate emulates."),
	resource.AgeColumn,
)

func candidateName(name string, _ bool) []string { return validation.IsConfigMapKey(name) }

var candidateStrategy = resource.Rules[*coordinationv1beta1.LeaseCandidate]{
	PrepareForCreate: func(*coordinationv1beta1.LeaseCandidate) {},
	PrepareForUpdate: func(_, _ *coordinationv1beta1.LeaseCandidate) {},
	Validate:         validateCandidate,
	ValidateUpdate: func(c, old *coordinationv1beta1.LeaseCandidate) field.ErrorList {
		var f check.Errors
		f.Add(validateCandidate(c)...)
		f.Same(check.At("spec", "leaseName"), c.Spec.LeaseName, old.Spec.LeaseName)
		return f.List()
	},
	AllowCreateOnUpdate:    true,
	RequireResourceVersion: true,
}.Strategy()

func validateCandidate(c *coordinationv1beta1.LeaseCandidate) field.ErrorList {
	var f check.Errors
	p, s := check.At("spec"), &c.Spec
	if s.LeaseName == "" {
		f.Required(p.Child("leaseName"), "")
	}
	emulated := semantic(&f, p.Child("emulationVersion"), s.EmulationVersion)
	binary := semantic(&f, p.Child("binaryVersion"), s.BinaryVersion)
	switch {
	case s.BinaryVersion == "":
		f.Required(p.Child("binaryVersion"), "")
	case s.EmulationVersion != "" && binary.LessThan(emulated):
		f.Invalid(p.Child("binaryVersion"), s.BinaryVersion, "must be greater than or equal to `emulationVersion`")
	}
	if s.Strategy == "" {
		f.Required(p.Child("strategy"), "")
		return f.List()
	}
	if s.Strategy == coordinationv1.OldestEmulationVersion && emulated.EqualTo(zero) {
		f.Required(p.Child("emulationVersion"), "must be specified when `strategy` is 'OldestEmulationVersion'")
	}
	strategy(&f, p.Child("strategy", "strategy"), s.Strategy)
	return f.List()
}

// zero stands for a version that is missing or malformed.
var zero = version.MustParseSemantic("0.0.0")

// semantic parses a semantic version. Malformed text is an error, unless it is empty.
func semantic(f *check.Errors, p *check.Path, text string) *version.Version {
	if text == "" {
		return zero
	}
	v, err := version.ParseSemantic(text)
	if err != nil || strings.HasPrefix(text, "v") {
		f.Invalid(p, text, "must be a valid semantic version")
		return zero
	}
	return v
}
