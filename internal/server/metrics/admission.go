package metrics

import (
	"context"
	"slices"
	"strconv"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"fairlead.dev/internal/server/admission"
)

// AdmissionSteps records the duration of each step of admission, under upstream's name.
// admission.Timer records that of each plugin.
type AdmissionSteps struct {
	took *prometheus.HistogramVec
	// kept are the resolved collectors, by operation, step and outcome.
	kept [len(operations)][2][2]atomic.Pointer[prometheus.Observer]
}

var operations = [...]admission.Verb{admission.Create, admission.Update, admission.Delete, admission.Connect}

func newSteps() *AdmissionSteps {
	return &AdmissionSteps{took: histogramVec("apiserver_admission_step_admission_duration_seconds",
		"How long admission took, in seconds, by operation and step.", []float64{0.005, 0.025, 0.1, 0.5, 1, 2.5}, "operation", "rejected", "type")}
}

func (s *AdmissionSteps) observe(verb admission.Verb, validate bool, began time.Time, err error) {
	n := slices.Index(operations[:], verb)
	kept := &s.kept[max(n, 0)][index(validate)][index(err != nil)]
	o := kept.Load()
	if o == nil {
		kind := [...]string{"admit", "validate"}[index(validate)]
		found := s.took.WithLabelValues(string(operations[max(n, 0)]), strconv.FormatBool(err != nil), kind)
		o = &found
		kept.Store(o)
	}
	(*o).Observe(time.Since(began).Seconds())
}

func index(b bool) int {
	if b {
		return 1
	}
	return 0
}

// TimedChain is an admission chain that records its durations.
type TimedChain struct {
	admission.Chain
	AdmissionSteps *AdmissionSteps
	Timer          *admission.Timer
}

// Admit calls the mutating plugins.
func (c TimedChain) Admit(ctx context.Context, r *admission.Request) error {
	if err := ctx.Err(); err != nil { // the steps before may have taken long
		return err
	}
	began := time.Now()
	r.Timer = c.Timer
	err := c.Chain.Admit(ctx, r)
	c.AdmissionSteps.observe(r.Verb, false, began, err)
	return err
}

// Validate calls the validating plugins.
func (c TimedChain) Validate(ctx context.Context, r *admission.Request) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	began := time.Now()
	r.Timer = c.Timer
	err := c.Chain.Validate(ctx, r)
	c.AdmissionSteps.observe(r.Verb, true, began, err)
	return err
}

// All calls all plugins, for objects that are not stored by themselves.
func (c TimedChain) All(ctx context.Context, r *admission.Request) error {
	if err := c.Admit(ctx, r); err != nil {
		return err
	}
	if err := c.Complete(ctx, r); err != nil {
		return err
	}
	return c.Validate(ctx, r)
}
