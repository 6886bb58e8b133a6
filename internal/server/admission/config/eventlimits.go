package config

import (
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// The types of EventLimit: what has a bucket of its own.
const (
	LimitServer          = "Server"
	LimitNamespace       = "Namespace"
	LimitUser            = "User"
	LimitSourceAndObject = "SourceAndObject"
)

var limitTypes = []string{LimitNamespace, LimitServer, LimitSourceAndObject, LimitUser}

// EventLimit limits the writes of events: Burst at once, and QPS in each second after them.
type EventLimit struct {
	Type  string `json:"type"`
	QPS   int32  `json:"qps"`
	Burst int32  `json:"burst"`
	// CacheSize is how many buckets are kept, those of the latest use; 0 stands for 4096.
	CacheSize int32 `json:"cacheSize,omitempty"`
}

// eventLimits is Configuration of eventratelimit.admission.k8s.io/v1alpha1.
type eventLimits struct {
	metav1.TypeMeta `json:",inline"`
	Limits          []EventLimit `json:"limits"`
}

// DeepCopyObject implements runtime.Object.
func (c *eventLimits) DeepCopyObject() runtime.Object {
	return &eventLimits{c.TypeMeta, slices.Clone(c.Limits)}
}

var eventLimitCodecs = codecsOf(false, func(s *runtime.Scheme) error {
	s.AddKnownTypeWithName(schema.GroupVersionKind{Group: "eventratelimit.admission.k8s.io", Version: "v1alpha1", Kind: "Configuration"}, &eventLimits{})
	return nil
})

func (c *Config) readEventLimits(data []byte) error {
	var l eventLimits
	if data != nil {
		if err := runtime.DecodeInto(eventLimitCodecs.UniversalDeserializer(), data, &l); err != nil {
			return err
		}
	}
	c.EventLimits = l.Limits
	return checkEventLimits(l.Limits).ToAggregate()
}

func checkEventLimits(limits []EventLimit) (errs field.ErrorList) {
	all := field.NewPath("limits")
	if len(limits) == 0 {
		errs = append(errs, field.Invalid(all, limits, "must not be empty"))
	}
	for i, l := range limits {
		at := all.Index(i)
		if !slices.Contains(limitTypes, l.Type) {
			errs = append(errs, field.NotSupported(at.Child("type"), l.Type, limitTypes))
		}
		if l.Burst <= 0 {
			errs = append(errs, field.Invalid(at.Child("burst"), l.Burst, "must be positive"))
		}
		if l.QPS <= 0 {
			errs = append(errs, field.Invalid(at.Child("qps"), l.QPS, "must be positive"))
		}
		if l.Type != LimitServer && l.CacheSize < 0 {
			errs = append(errs, field.Invalid(at.Child("cacheSize"), l.CacheSize, "must not be negative"))
		}
	}
	return errs
}
