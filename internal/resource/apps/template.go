package apps

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"fairlead.dev/internal/resource"
	"fairlead.dev/internal/resource/check"
	"fairlead.dev/internal/resource/podspec"
)

// selector reports the faults of a workload's selector, and returns it parsed.
func selector(f *check.Errors, p *check.Path, s *metav1.LabelSelector, kind string) (labels.Selector, bool) {
	if s == nil {
		f.Required(p, "")
	} else {
		f.Selector(p, s)
		if len(s.MatchLabels)+len(s.MatchExpressions) == 0 {
			f.Invalid(p, s, "empty selector is invalid for "+kind)
		}
	}
	parsed, err := metav1.LabelSelectorAsSelector(s)
	if err != nil {
		why := "invalid label selector"
		if kind == "statefulset" {
			why = ""
		}
		f.Invalid(p, s, why)
		return nil, false
	}
	return parsed, true
}

// requireMatch requires the pods of the template to be those that are selected.
func requireMatch(f *check.Errors, p *check.Path, s labels.Selector, t *corev1.PodTemplateSpec) {
	if !s.Empty() && !s.Matches(labels.Set(t.Labels)) {
		f.Invalid(p.Child("metadata", "labels"), t.Labels, "`selector` does not match template `labels`")
	}
}

// requireRestartAlways requires a template whose pods run until they are deleted.
func requireRestartAlways(f *check.Errors, p *check.Path, t *corev1.PodTemplateSpec, kind string) {
	if t.Spec.RestartPolicy != corev1.RestartPolicyAlways {
		f.Add(field.NotSupported(p.Child("spec", "restartPolicy").Field(), t.Spec.RestartPolicy, []corev1.RestartPolicy{corev1.RestartPolicyAlways}))
	}
	if t.Spec.ActiveDeadlineSeconds != nil {
		f.Forbidden(p.Child("spec", "activeDeadlineSeconds"), "activeDeadlineSeconds in "+kind+" is not Supported")
	}
}

// validateReplicated reports the errors common to deployments and replica sets.
func validateReplicated(f *check.Errors, p *check.Path, s *metav1.LabelSelector, t *corev1.PodTemplateSpec) {
	parsed, ok := selector(f, p.Child("selector"), s, "deployment")
	if !ok {
		return
	}
	p = p.Child("template")
	requireMatch(f, p, parsed, t)
	f.Add(podspec.ValidateTemplate(t, p)...)
	requireRestartAlways(f, p, t, "ReplicaSet")
}

func notNegative(f *check.Errors, p *check.Path, n *int32) {
	if n != nil {
		f.NotNegative(p, int64(*n))
	}
}

// countOf is the number of v, or of its percents.
func countOf(v *intstr.IntOrString) int {
	if v == nil {
		return 0
	}
	if n, ok := check.Percent(*v); ok {
		return n
	}
	return v.IntValue()
}

// requireAtMost requires counts of some pods to stay within the count of all.
func requireAtMost(f *check.Errors, p *check.Path, limit int32, why string, counts ...count) {
	for _, c := range counts {
		if c.n > limit {
			f.Invalid(p.Child(c.name), c.n, why)
		}
	}
}

type count struct {
	name string
	n    int32
}

func countsNotNegative(f *check.Errors, p *check.Path, counts ...count) {
	for _, c := range counts {
		f.NotNegative(p.Child(c.name), int64(c.n))
	}
}

// notDecremented requires the count of name collisions to go up only.
func notDecremented(f *check.Errors, p *check.Path, now, old *int32) {
	if old == nil || now != nil && *now >= *old {
		return
	}
	value := int32(0)
	if now != nil {
		value = *now
	}
	f.Invalid(p.Child("collisionCount"), value, "cannot be decremented")
}

// scale is access to the number of pods of a kind of type T.
func scale[T runtime.Object](replicas func(T) **int32, status func(T) int32, s func(T) *metav1.LabelSelector) *resource.ScaleAccess {
	return &resource.ScaleAccess{
		Replicas: func(o runtime.Object) int32 {
			if n := *replicas(o.(T)); n != nil {
				return *n
			}
			return 0
		},
		SetReplicas:    func(o runtime.Object, n int32) { *replicas(o.(T)) = &n },
		StatusReplicas: func(o runtime.Object) int32 { return status(o.(T)) },
		Selector: func(o runtime.Object) (string, error) {
			parsed, err := metav1.LabelSelectorAsSelector(s(o.(T)))
			if err != nil {
				return "", err
			}
			return parsed.String(), nil
		},
	}
}

func formatSelector(s *metav1.LabelSelector) string { return metav1.FormatLabelSelector(s) }

var selectorColumn = resource.WideOnly(resource.Text("Selector", "Labels of the pods that are counted."))
