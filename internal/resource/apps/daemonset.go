package apps

import (
	"strconv"

	appsv1 "k8s.io/api/apps/v1"
	apiequality "k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"fairlead.dev/internal/resource"
	"fairlead.dev/internal/resource/check"
	"fairlead.dev/internal/resource/podspec"
)

var daemonSetTable = resource.TableOf(func(d *appsv1.DaemonSet) []any {
	names, images := resource.Containers(d.Spec.Template.Spec.Containers)
	s := &d.Status
	return []any{
		d.Name, int64(s.DesiredNumberScheduled), int64(s.CurrentNumberScheduled), int64(s.NumberReady),
		int64(s.UpdatedNumberScheduled), int64(s.NumberAvailable),
		labels.FormatLabels(d.Spec.Template.Spec.NodeSelector), resource.AgeOf(d),
		names, images, formatSelector(d.Spec.Selector),
	}
},
	resource.NameColumn,
	resource.Integer("Desired", "How many nodes should run the pod."),
	resource.Integer("Current", "How many of them do."),
	resource.Integer("Ready", "On how many of them the pod is ready."),
	resource.Integer("Up-to-date", "How many of them run the newest template."),
	resource.Integer("Available", "On how many of them the pod has been ready long enough."),
	resource.Text("Node Selector", "Labels of the nodes that run the pod."),
	resource.AgeColumn, resource.ContainersColumn, resource.ImagesColumn, selectorColumn,
)

func daemonSetStrategy() resource.Strategy {
	r := resource.SplitCounted(func(d *appsv1.DaemonSet) (*appsv1.DaemonSetSpec, *appsv1.DaemonSetStatus) { return &d.Spec, &d.Status })
	r.Default = defaultDaemonSet
	create, update := r.PrepareForCreate, r.PrepareForUpdate
	r.PrepareForCreate = func(d *appsv1.DaemonSet) {
		create(d)
		if templateGeneration(d) < 1 {
			setTemplateGeneration(d, 1)
		}
	}
	r.PrepareForUpdate = func(d, old *appsv1.DaemonSet) {
		update(d, old)
		n := templateGeneration(old)
		if !apiequality.Semantic.DeepEqual(d.Spec.Template, old.Spec.Template) {
			n++
		}
		setTemplateGeneration(d, n)
	}
	r.Validate = validateDaemonSet
	r.ValidateUpdate = func(d, old *appsv1.DaemonSet) field.ErrorList {
		var f check.Errors
		f.Same(check.At("spec", "selector"), d.Spec.Selector, old.Spec.Selector)
		f.Add(validateDaemonSet(d)...)
		return f.List()
	}
	r.ValidateStatusUpdate = validateDaemonSetStatus
	r.Warnings = func(d *appsv1.DaemonSet) []string {
		return podspec.TemplateWarnings(&d.Spec.Template, check.At("spec", "template"))
	}
	return r.Strategy()
}

// templateGeneration returns the template's generation, which is counted in an annotation: its field was removed,
// but clients still read it.
func templateGeneration(d *appsv1.DaemonSet) int64 {
	n, err := strconv.ParseInt(d.Annotations[appsv1.DeprecatedTemplateGeneration], 10, 64)
	if err != nil {
		return 0
	}
	return n
}

func setTemplateGeneration(d *appsv1.DaemonSet, n int64) {
	if d.Annotations == nil {
		d.Annotations = map[string]string{}
	}
	d.Annotations[appsv1.DeprecatedTemplateGeneration] = strconv.FormatInt(n, 10)
}

func defaultDaemonSet(d *appsv1.DaemonSet) {
	s := &d.Spec
	if _, ok := d.Annotations[appsv1.DeprecatedTemplateGeneration]; !ok {
		setTemplateGeneration(d, 0) // the writer is recorded as its field manager
	}
	podspec.DefaultTemplate(&s.Template)
	resource.SetDefault(&s.RevisionHistoryLimit, 10)
	if s.UpdateStrategy.Type == "" {
		s.UpdateStrategy.Type = appsv1.RollingUpdateDaemonSetStrategyType
	}
	if s.UpdateStrategy.Type != appsv1.RollingUpdateDaemonSetStrategyType {
		return
	}
	if s.UpdateStrategy.RollingUpdate == nil {
		s.UpdateStrategy.RollingUpdate = &appsv1.RollingUpdateDaemonSet{}
	}
	resource.SetDefault(&s.UpdateStrategy.RollingUpdate.MaxUnavailable, intstr.FromInt32(1))
	resource.SetDefault(&s.UpdateStrategy.RollingUpdate.MaxSurge, intstr.FromInt32(0))
}

func validateDaemonSet(d *appsv1.DaemonSet) field.ErrorList {
	var f check.Errors
	p, s := check.At("spec"), &d.Spec
	f.Selector(p.Child("selector"), s.Selector)
	if parsed, err := metav1.LabelSelectorAsSelector(s.Selector); err == nil && !parsed.Matches(labels.Set(s.Template.Labels)) {
		f.Invalid(p.Child("template", "metadata", "labels"), s.Template.Labels, "`selector` does not match template `labels`")
	}
	if s.Selector != nil && len(s.Selector.MatchLabels)+len(s.Selector.MatchExpressions) == 0 {
		f.Invalid(p.Child("selector"), s.Selector, "empty selector is invalid for daemonset")
	}
	f.Add(podspec.ValidateTemplate(&s.Template, p.Child("template"))...)
	requireRestartAlways(&f, p.Child("template"), &s.Template, "DaemonSet")
	f.NotNegative(p.Child("minReadySeconds"), int64(s.MinReadySeconds))
	daemonUpdate(&f, p.Child("updateStrategy"), &s.UpdateStrategy)
	notNegative(&f, p.Child("revisionHistoryLimit"), s.RevisionHistoryLimit)
	return f.List()
}

func daemonUpdate(f *check.Errors, p *check.Path, s *appsv1.DaemonSetUpdateStrategy) {
	at := p.Child("rollingUpdate")
	switch s.Type {
	case appsv1.OnDeleteDaemonSetStrategyType:
	case appsv1.RollingUpdateDaemonSetStrategyType:
		r := s.RollingUpdate
		if r == nil || r.MaxUnavailable == nil || r.MaxSurge == nil {
			f.Required(at, "")
			return
		}
		f.CountOrPercent(at.Child("maxUnavailable"), *r.MaxUnavailable)
		f.CountOrPercent(at.Child("maxSurge"), *r.MaxSurge)
		f.NotOver100(at.Child("maxUnavailable"), *r.MaxUnavailable)
		f.NotOver100(at.Child("maxSurge"), *r.MaxSurge)
		switch down, up := countOf(r.MaxUnavailable) != 0, countOf(r.MaxSurge) != 0; {
		case down && up:
			f.Invalid(at.Child("maxSurge"), *r.MaxSurge, "may not be set when maxUnavailable is non-zero")
		case !down && !up:
			f.Required(at.Child("maxUnavailable"), "cannot be 0 when maxSurge is 0")
		}
	default:
		f.Add(field.NotSupported(p.Field(), s, []appsv1.DaemonSetUpdateStrategyType{appsv1.RollingUpdateDaemonSetStrategyType, appsv1.OnDeleteDaemonSetStrategyType}))
	}
}

func validateDaemonSetStatus(d, old *appsv1.DaemonSet) field.ErrorList {
	var f check.Errors
	p, s := check.At("status"), &d.Status
	countsNotNegative(&f, p,
		count{"currentNumberScheduled", s.CurrentNumberScheduled}, count{"numberMisscheduled", s.NumberMisscheduled},
		count{"desiredNumberScheduled", s.DesiredNumberScheduled}, count{"numberReady", s.NumberReady})
	f.NotNegative(p.Child("observedGeneration"), s.ObservedGeneration)
	countsNotNegative(&f, p,
		count{"updatedNumberScheduled", s.UpdatedNumberScheduled}, count{"numberAvailable", s.NumberAvailable},
		count{"numberUnavailable", s.NumberUnavailable})
	notNegative(&f, p.Child("collisionCount"), s.CollisionCount)
	notDecremented(&f, p, s.CollisionCount, old.Status.CollisionCount)
	return f.List()
}
