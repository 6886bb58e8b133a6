package controller_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"fairlead.dev/controller"
	"fairlead.dev/trace"

	"github.com/prometheus/client_golang/prometheus"
)

// TestConflictIsNoFailure checks that the trace and the metrics distinguish a conflict that is retried, a failure,
// and a terminating namespace.
func TestConflictIsNoFailure(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		pods := schema.GroupResource{Resource: "pods"}
		going := apierrors.NewForbidden(pods, "a", errors.New("namespace is being terminated"))
		going.ErrStatus.Details.Causes = []metav1.StatusCause{{Type: corev1.NamespaceTerminatingCause}}
		outcomes := []error{
			fmt.Errorf("writing: %w", apierrors.NewConflict(pods, "a", errors.New("modified"))),
			errors.New("broken"),
			controller.Terminal(apierrors.NewConflict(pods, "a", errors.New("for good"))),
			going,
		}
		log, metrics, reg := trace.New(trace.Options{}), controller.NewMetrics(), prometheus.NewRegistry()
		reg.MustRegister(metrics)
		calls := 0
		c := controller.New("test", func(context.Context, controller.Key) (controller.Result, error) {
			calls++
			if calls > len(outcomes) {
				return controller.Result{}, nil
			}
			return controller.Result{}, outcomes[calls-1]
		}, controller.Options{Workers: 1, Log: quiet(), Trace: log, Metrics: metrics})
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan error)
		go func() { done <- c.Run(ctx) }()
		c.Enqueue(web)
		time.Sleep(time.Hour) // in the bubble: all retries of the first two
		c.Enqueue(web)        // a key that ended with the namespace is not retried
		time.Sleep(time.Hour)
		cancel()
		<-done
		if calls != len(outcomes) {
			t.Errorf("%d reconciles, want %d", calls, len(outcomes))
		}
		works, _ := log.Reconciles(0)
		var got []string
		for _, w := range works {
			got = append(got, fmt.Sprint(w.Conflict, w.Err != ""))
		}
		if want := "[true true false true false true false false]"; fmt.Sprint(got) != want {
			t.Errorf("conflict and error of the works: %v, want %v", got, want)
		}
		families, err := reg.Gather()
		if err != nil {
			t.Fatal(err)
		}
		counts := map[string]float64{}
		for _, f := range families {
			for _, m := range f.GetMetric() {
				name := strings.TrimPrefix(f.GetName(), "controller_runtime_")
				for _, l := range m.GetLabel() {
					if l.GetName() == "result" {
						name += "/" + l.GetValue()
					}
				}
				counts[name] = m.GetCounter().GetValue()
			}
		}
		for name, want := range map[string]float64{
			"reconcile_total/conflict": 1, "reconcile_total/error": 2, "reconcile_total/success": 1,
			"reconcile_errors_total": 2, "terminal_reconcile_errors_total": 1,
		} {
			if counts[name] != want {
				t.Errorf("%s is %v, want %v", name, counts[name], want)
			}
		}
	})
}
