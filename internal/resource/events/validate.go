package events

import (
	"reflect"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"fairlead.dev/internal/resource"
	"fairlead.dev/internal/resource/check"
	"fairlead.dev/internal/resource/core"
)

// strategy is stricter than that of the core group: events written in this group are of the newer form, and updates
// may only change the series.
var strategy = resource.Rules[*corev1.Event]{
	Expires: true,
	Validate: func(e *corev1.Event) field.ErrorList {
		var f check.Errors
		if e.EventTime.IsZero() {
			f.Required(check.At("eventTime"), "")
		}
		f.Add(core.ValidateEvent(e, "reportingController")...)
		series(&f, e)
		if e.Type != corev1.EventTypeNormal && e.Type != corev1.EventTypeWarning {
			f.Invalid(check.At("type"), "", "has invalid value: "+e.Type)
		}
		unset := func(name string, set bool) {
			if set {
				f.Invalid(check.At(name), "", "needs to be unset")
			}
		}
		unset("firstTimestamp", !e.FirstTimestamp.IsZero())
		unset("lastTimestamp", !e.LastTimestamp.IsZero())
		unset("count", e.Count != 0)
		unset("source", e.Source != corev1.EventSource{})
		return f.List()
	},
	ValidateUpdate: func(e, old *corev1.Event) field.ErrorList {
		var f check.Errors
		f.Add(core.ValidateEvent(e, "reportingController")...)
		if !reflect.DeepEqual(e.Series, old.Series) {
			series(&f, e)
		}
		f.Same(check.At("involvedObject"), e.InvolvedObject, old.InvolvedObject)
		f.Same(check.At("reason"), e.Reason, old.Reason)
		f.Same(check.At("message"), e.Message, old.Message)
		f.Same(check.At("source"), e.Source, old.Source)
		f.Same(check.At("firstTimestamp"), e.FirstTimestamp, old.FirstTimestamp)
		f.Same(check.At("lastTimestamp"), e.LastTimestamp, old.LastTimestamp)
		f.Same(check.At("count"), e.Count, old.Count)
		f.Same(check.At("type"), e.Type, old.Type)
		if !e.EventTime.Truncate(time.Microsecond).Equal(old.EventTime.Truncate(time.Microsecond)) {
			f.Same(check.At("eventTime"), e.EventTime, old.EventTime)
		}
		f.Same(check.At("action"), e.Action, old.Action)
		f.Same(check.At("related"), e.Related, old.Related)
		f.Same(check.At("reportingController"), e.ReportingController, old.ReportingController)
		f.Same(check.At("reportingInstance"), e.ReportingInstance, old.ReportingInstance)
		return f.List()
	},
	AllowCreateOnUpdate: true,
}.Strategy()

func series(f *check.Errors, e *corev1.Event) {
	if e.Series == nil {
		return
	}
	if e.Series.Count < 2 {
		f.Invalid(check.At("series.count"), "", "should be at least 2")
	}
	if e.Series.LastObservedTime.IsZero() {
		f.Required(check.At("series.lastObservedTime"), "")
	}
}
