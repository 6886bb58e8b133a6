package core

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/utils/ptr"

	"fairlead.dev/internal/resource"
	"fairlead.dev/internal/resource/check"
	"fairlead.dev/internal/resource/podspec"
)

var podTemplateTable = resource.TableOf(func(t *corev1.PodTemplate) []any {
	names, images := resource.Containers(t.Template.Spec.Containers)
	return []any{t.Name, names, images, labels.FormatLabels(t.Template.Labels)}
},
	resource.NameColumn,
	resource.Text("Containers", "Names of the containers in the template."),
	resource.Text("Images", "Images of the containers in the template."),
	resource.Text("Pod Labels", "Labels that pods of the template have."),
)

func podTemplateStrategy() resource.Strategy {
	r := resource.SpecOnly(func(t *corev1.PodTemplate) *corev1.PodTemplateSpec { return &t.Template })
	r.Default = func(t *corev1.PodTemplate) { podspec.DefaultTemplate(&t.Template) }
	r.Validate = func(t *corev1.PodTemplate) field.ErrorList {
		return podspec.ValidateTemplate(&t.Template, check.At("template"))
	}
	r.ValidateUpdate = func(t, _ *corev1.PodTemplate) field.ErrorList {
		return podspec.ValidateTemplate(&t.Template, check.At("template"))
	}
	return r.Strategy()
}

var replicationControllerTable = resource.TableOf(func(c *corev1.ReplicationController) []any {
	var containers []corev1.Container
	if c.Spec.Template != nil {
		containers = c.Spec.Template.Spec.Containers
	}
	names, images := resource.Containers(containers)
	return []any{
		c.Name, int64(ptr.Deref(c.Spec.Replicas, 0)), int64(c.Status.Replicas), int64(c.Status.ReadyReplicas), resource.AgeOf(c),
		names, images, labels.FormatLabels(c.Spec.Selector),
	}
},
	resource.NameColumn,
	resource.Integer("Desired", "How many pods there should be."),
	resource.Integer("Current", "How many pods there are."),
	resource.Integer("Ready", "How many pods are ready."),
	resource.AgeColumn,
	resource.ContainersColumn,
	resource.ImagesColumn,
	resource.WideOnly(resource.Text("Selector", "Labels of the pods that are counted.")),
)

func replicationControllerStrategy() resource.Strategy {
	r := resource.SplitCounted(func(c *corev1.ReplicationController) (*corev1.ReplicationControllerSpec, *corev1.ReplicationControllerStatus) {
		return &c.Spec, &c.Status
	})
	r.Default = defaultReplicationController
	r.Validate = validateReplicationController
	r.ValidateUpdate = func(c, _ *corev1.ReplicationController) field.ErrorList { return validateReplicationController(c) }
	r.ValidateStatusUpdate = validateReplicationControllerStatus
	r.Warnings = func(c *corev1.ReplicationController) []string {
		var out []string
		if msgs := validation.IsDNS1123Label(c.Name); len(msgs) > 0 {
			out = append(out, fmt.Sprintf("metadata.name: this is used in Pod names and hostnames, which can result in surprising behavior; a DNS label is recommended: %v", msgs))
		}
		if c.Spec.Template != nil {
			out = append(out, podspec.TemplateWarnings(c.Spec.Template, check.At("spec", "template"))...)
		}
		return out
	}
	r.Scale = &resource.ScaleAccess{
		Replicas:       func(o runtime.Object) int32 { return ptr.Deref(o.(*corev1.ReplicationController).Spec.Replicas, 0) },
		StatusReplicas: func(o runtime.Object) int32 { return o.(*corev1.ReplicationController).Status.Replicas },
		SetReplicas:    func(o runtime.Object, n int32) { o.(*corev1.ReplicationController).Spec.Replicas = &n },
		Selector: func(o runtime.Object) (string, error) {
			return labels.Set(o.(*corev1.ReplicationController).Spec.Selector).String(), nil
		},
	}
	r.OrphanByDefault = true
	return r.Strategy()
}

func defaultReplicationController(c *corev1.ReplicationController) {
	resource.SetDefault(&c.Spec.Replicas, 1)
	t := c.Spec.Template
	if t == nil {
		return
	}
	podspec.DefaultTemplate(t)
	if t.Labels != nil {
		if len(c.Spec.Selector) == 0 {
			c.Spec.Selector = t.Labels
		}
		if len(c.Labels) == 0 {
			c.Labels = t.Labels
		}
	}
}

func validateReplicationController(c *corev1.ReplicationController) field.ErrorList {
	var f check.Errors
	p, s := check.At("spec"), &c.Spec
	f.NotNegative(p.Child("minReadySeconds"), int64(s.MinReadySeconds))
	if len(s.Selector) == 0 {
		f.Required(p.Child("selector"), "")
	}
	if s.Replicas == nil {
		f.Required(p.Child("replicas"), "")
	} else {
		f.NotNegative(p.Child("replicas"), int64(*s.Replicas))
	}
	p = p.Child("template")
	if s.Template == nil {
		f.Required(p, "")
		return f.List()
	}
	if len(s.Selector) > 0 && !labels.SelectorFromSet(s.Selector).Matches(labels.Set(s.Template.Labels)) {
		f.Invalid(p.Child("metadata", "labels"), s.Template.Labels, "`selector` does not match template `labels`")
	}
	f.Add(podspec.ValidateTemplate(s.Template, p)...)
	if s.Template.Spec.RestartPolicy != corev1.RestartPolicyAlways {
		f.Add(field.NotSupported(p.Child("spec", "restartPolicy").Field(), s.Template.Spec.RestartPolicy, []corev1.RestartPolicy{corev1.RestartPolicyAlways}))
	}
	if s.Template.Spec.ActiveDeadlineSeconds != nil {
		f.Forbidden(p.Child("spec", "activeDeadlineSeconds"), "activeDeadlineSeconds in ReplicationController is not Supported")
	}
	return f.List()
}

func validateReplicationControllerStatus(c, _ *corev1.ReplicationController) field.ErrorList {
	var f check.Errors
	p, s := check.At("status"), &c.Status
	f.NotNegative(p.Child("replicas"), int64(s.Replicas))
	f.NotNegative(p.Child("fullyLabeledReplicas"), int64(s.FullyLabeledReplicas))
	f.NotNegative(p.Child("readyReplicas"), int64(s.ReadyReplicas))
	f.NotNegative(p.Child("availableReplicas"), int64(s.AvailableReplicas))
	f.NotNegative(p.Child("observedGeneration"), s.ObservedGeneration)
	atMost := func(name string, n, limit int32, why string) {
		if n > limit {
			f.Invalid(p.Child(name), n, why)
		}
	}
	const aboveAll = "cannot be greater than status.replicas"
	atMost("fullyLabeledReplicas", s.FullyLabeledReplicas, s.Replicas, aboveAll)
	atMost("readyReplicas", s.ReadyReplicas, s.Replicas, aboveAll)
	atMost("availableReplicas", s.AvailableReplicas, s.Replicas, aboveAll)
	atMost("availableReplicas", s.AvailableReplicas, s.ReadyReplicas, "cannot be greater than readyReplicas")
	return f.List()
}
