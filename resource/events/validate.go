package events

import (
	"reflect"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"fairlead.dev/resource"
	"fairlead.dev/resource/check"
	"fairlead.dev/resource/core"
)

// strategy is stricter than that of the core group: what comes in by this
// group's door is of the newer form, and only its series goes on.
var strategy = resource.Rules[*corev1.Event]{
	Validate: func(e *corev1.Event) field.ErrorList {
		var f check.Faults
		if e.EventTime.IsZero() {
			f.Required(field.NewPath("eventTime"), "")
		}
		f.Add(core.ValidateEvent(e, "reportingController")...)
		series(&f, e)
		if e.Type != corev1.EventTypeNormal && e.Type != corev1.EventTypeWarning {
			f.Invalid(field.NewPath("type"), "", "has invalid value: "+e.Type)
		}
		unset := func(name string, set bool) {
			if set {
				f.Invalid(field.NewPath(name), "", "needs to be unset")
			}
		}
		unset("firstTimestamp", !e.FirstTimestamp.IsZero())
		unset("lastTimestamp", !e.LastTimestamp.IsZero())
		unset("count", e.Count != 0)
		unset("source", e.Source != corev1.EventSource{})
		return f.List()
	},
	ValidateUpdate: func(e, old *corev1.Event) field.ErrorList {
		var f check.Faults
		f.Add(core.ValidateEvent(e, "reportingController")...)
		if !reflect.DeepEqual(e.Series, old.Series) {
			series(&f, e)
		}
		f.Same(field.NewPath("involvedObject"), e.InvolvedObject, old.InvolvedObject)
		f.Same(field.NewPath("reason"), e.Reason, old.Reason)
		f.Same(field.NewPath("message"), e.Message, old.Message)
		f.Same(field.NewPath("source"), e.Source, old.Source)
		f.Same(field.NewPath("firstTimestamp"), e.FirstTimestamp, old.FirstTimestamp)
		f.Same(field.NewPath("lastTimestamp"), e.LastTimestamp, old.LastTimestamp)
		f.Same(field.NewPath("count"), e.Count, old.Count)
		f.Same(field.NewPath("type"), e.Type, old.Type)
		if !e.EventTime.Truncate(time.Microsecond).Equal(old.EventTime.Truncate(time.Microsecond)) {
			f.Same(field.NewPath("eventTime"), e.EventTime, old.EventTime)
		}
		f.Same(field.NewPath("action"), e.Action, old.Action)
		f.Same(field.NewPath("related"), e.Related, old.Related)
		f.Same(field.NewPath("reportingController"), e.ReportingController, old.ReportingController)
		f.Same(field.NewPath("reportingInstance"), e.ReportingInstance, old.ReportingInstance)
		return f.List()
	},
	AllowCreateOnUpdate: true,
}.Strategy()

func series(f *check.Faults, e *corev1.Event) {
	if e.Series == nil {
		return
	}
	if e.Series.Count < 2 {
		f.Invalid(field.NewPath("series.count"), "", "should be at least 2")
	}
	if e.Series.LastObservedTime.IsZero() {
		f.Required(field.NewPath("series.lastObservedTime"), "")
	}
}
