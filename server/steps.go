package server

import (
	"context"
	"slices"
	"strconv"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"fairlead.dev/internal/server/admission"
)

// steps shows what each step of admission took, under upstream's name; what each plugin
// took is the Timer's.
type steps struct {
	took *prometheus.HistogramVec
	// kept are resolved, by operation, step and outcome.
	kept [len(operations)][2][2]atomic.Pointer[prometheus.Observer]
}

var operations = [...]admission.Verb{admission.Create, admission.Update, admission.Delete, admission.Connect}

func newSteps() *steps {
	return &steps{took: histogram("apiserver_admission_step_admission_duration_seconds",
		"How long admission took, in seconds, by operation and step.", []float64{0.005, 0.025, 0.1, 0.5, 1, 2.5}, "operation", "rejected", "type")}
}

func (s *steps) observe(verb admission.Verb, validate bool, began time.Time, err error) {
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

// chain is the server's admission, which it times.
type chain struct {
	admission.Chain
	steps *steps
	timer *admission.Timer
}

func (c *call) chain() chain { return chain{c.s.cfg.Admission, c.s.metrics.steps, c.s.plugins} }

// Admit asks the mutators.
func (c chain) Admit(ctx context.Context, r *admission.Request) error {
	if err := ctx.Err(); err != nil { // what came before may have taken long
		return err
	}
	began := time.Now()
	r.Timer = c.timer
	err := c.Chain.Admit(ctx, r)
	c.steps.observe(r.Verb, false, began, err)
	return err
}

// Validate asks the validators.
func (c chain) Validate(ctx context.Context, r *admission.Request) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	began := time.Now()
	r.Timer = c.timer
	err := c.Chain.Validate(ctx, r)
	c.steps.observe(r.Verb, true, began, err)
	return err
}

// All asks all, for what is not stored by itself.
func (c chain) All(ctx context.Context, r *admission.Request) error {
	if err := c.Admit(ctx, r); err != nil {
		return err
	}
	if err := c.Complete(ctx, r); err != nil {
		return err
	}
	return c.Validate(ctx, r)
}
