package core

import (
	"cmp"
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"fairlead.dev/internal/resource"
	"fairlead.dev/internal/resource/check"
)

// Event returns the row of events. The group events.k8s.io has the same objects.
func Event() *resource.Resource {
	return resource.NamespaceScoped[corev1.Event, corev1.EventList](corev1.SchemeGroupVersion, "events").
		WithShortNames("ev").
		WithSelectableFields(
			resource.FieldAt("involvedObject.kind", ""),
			resource.FieldAt("involvedObject.namespace", ""),
			resource.FieldAt("involvedObject.name", ""),
			resource.FieldAt("involvedObject.uid", ""),
			resource.FieldAt("involvedObject.apiVersion", ""),
			resource.FieldAt("involvedObject.resourceVersion", ""),
			resource.FieldAt("involvedObject.fieldPath", ""),
			resource.FieldAt("reason", ""),
			resource.FieldAt("reportingComponent", ""),
			resource.Field{Label: "source", Paths: [][]string{{"source", "component"}, {"reportingComponent"}}},
			resource.FieldAt("type", ""),
		).
		WithTable(eventTable).WithStrategy(eventStrategy)
}

var eventTable = resource.TableOf(eventRow,
	resource.Text("Last Seen", "When it last happened."),
	resource.Text("Type", "Normal or Warning."),
	resource.Text("Reason", "Why it happened, in one word."),
	resource.Text("Object", "What it happened to."),
	resource.WideOnly(resource.Text("Subobject", "The part of the object that it happened to.")),
	resource.WideOnly(resource.Text("Source", "Who reported it.")),
	resource.Text("Message", "What happened."),
	resource.WideOnly(resource.Text("First Seen", "When it first happened.")),
	resource.WideOnly(resource.Text("Count", "How often it happened.")),
	resource.WideOnly(resource.NameColumn),
)

func eventRow(e *corev1.Event) []any {
	first := resource.Since(e.FirstTimestamp)
	if e.FirstTimestamp.IsZero() {
		first = resource.SinceMicro(e.EventTime)
	}
	last := resource.Since(e.LastTimestamp)
	if e.LastTimestamp.IsZero() {
		last = first
	}
	count := e.Count
	if e.Series != nil {
		last, count = resource.SinceMicro(e.Series.LastObservedTime), e.Series.Count
	} else if count == 0 {
		count = 1
	}
	object := strings.ToLower(e.InvolvedObject.Kind)
	if e.InvolvedObject.Name != "" {
		object += "/" + e.InvolvedObject.Name
	}
	source := cmp.Or(e.Source.Component, e.ReportingController)
	if host := cmp.Or(e.Source.Host, e.ReportingInstance); host != "" {
		source += ", " + host
	}
	return []any{
		last, e.Type, e.Reason, object, e.InvolvedObject.FieldPath, source,
		strings.TrimSpace(e.Message), first, int64(count), e.Name,
	}
}

var eventStrategy = resource.Rules[*corev1.Event]{
	Validate:            func(e *corev1.Event) field.ErrorList { return ValidateEvent(e, "reportingComponent") },
	ValidateUpdate:      func(e, _ *corev1.Event) field.ErrorList { return ValidateEvent(e, "reportingComponent") },
	AllowCreateOnUpdate: true,
	Expires:             true,
	NoDependents:        true,
}.Strategy()

// ValidateEvent requires an event to be in the namespace of the object it is about. An event with an eventTime is
// of the newer form, and must be complete. reporter is the name of the reporter's field, which depends on the
// group.
func ValidateEvent(e *corev1.Event, reporter string) field.ErrorList {
	var f check.Errors
	about := e.InvolvedObject.Namespace
	elsewhere := func() {
		f.Invalid(check.At("involvedObject", "namespace"), about, "does not match event.namespace")
	}
	if e.EventTime.IsZero() {
		if about == "" && e.Namespace != metav1.NamespaceNone && e.Namespace != metav1.NamespaceDefault || about != "" && e.Namespace != about {
			elsewhere()
		}
		return f.List()
	}
	if about == "" && e.Namespace != metav1.NamespaceDefault && e.Namespace != metav1.NamespaceSystem {
		elsewhere()
	}
	newEvent(&f, e, reporter)
	return f.List()
}

func newEvent(f *check.Errors, e *corev1.Event, reporter string) {
	if e.ReportingController == "" {
		f.Required(check.At(reporter), "")
	}
	f.Qualified(check.At(reporter), e.ReportingController)
	bounded(f, "reportingInstance", e.ReportingInstance, 128)
	bounded(f, "action", e.Action, 128)
	bounded(f, "reason", e.Reason, 128)
	if len(e.Message) > 1024 {
		f.Invalid(check.At("message"), "", "can have at most 1024 characters")
	}
}

func bounded(f *check.Errors, name, value string, limit int) {
	if value == "" {
		f.Required(check.At(name), "")
	}
	if len(value) > limit {
		f.Invalid(check.At(name), "", fmt.Sprintf("can have at most %d characters", limit))
	}
}
