package workqueue_test

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"

	"fairlead.dev/workqueue"
)

func TestMetrics(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := workqueue.NewMetrics()
		r := prometheus.NewPedanticRegistry()
		r.MustRegister(m)
		q := workqueue.New(workqueue.Options[string]{Name: "web", Metrics: m})
		workqueue.New(workqueue.Options[int]{Name: "idle", Metrics: m})
		for _, k := range []string{"a", "a", "b", "c"} {
			q.Add(k)
		}
		time.Sleep(2 * time.Second)
		get(t, q, "a")
		get(t, q, "b")
		q.Add("a") // counts, and shows in the depth when a is done
		q.Retry("b")
		time.Sleep(3 * time.Second)
		q.Done("b")
		if err := testutil.GatherAndCompare(r, strings.NewReader(`
# HELP workqueue_adds_total How often a key was made ready
# TYPE workqueue_adds_total counter
workqueue_adds_total{name="idle"} 0
workqueue_adds_total{name="web"} 5
# HELP workqueue_depth How many keys are ready and wait for a worker
# TYPE workqueue_depth gauge
workqueue_depth{name="idle"} 0
workqueue_depth{name="web"} 2
# HELP workqueue_longest_running_processor_seconds How long the worker that has been at its key longest has been so
# TYPE workqueue_longest_running_processor_seconds gauge
workqueue_longest_running_processor_seconds{name="idle"} 0
workqueue_longest_running_processor_seconds{name="web"} 3
# HELP workqueue_retries_total How often a key was added again because it failed
# TYPE workqueue_retries_total counter
workqueue_retries_total{name="idle"} 0
workqueue_retries_total{name="web"} 1
# HELP workqueue_unfinished_work_seconds How long the keys being worked on have been so, added up; it grows by the second for every worker that is stuck
# TYPE workqueue_unfinished_work_seconds gauge
workqueue_unfinished_work_seconds{name="idle"} 0
workqueue_unfinished_work_seconds{name="web"} 3
`), "workqueue_adds_total", "workqueue_depth", "workqueue_longest_running_processor_seconds", "workqueue_retries_total", "workqueue_unfinished_work_seconds"); err != nil {
			t.Error(err)
		}
		families, err := r.Gather()
		if err != nil {
			t.Fatal(err)
		}
		sums := map[string][2]float64{}
		for _, f := range families {
			for _, x := range f.GetMetric() {
				if h := x.GetHistogram(); h != nil && x.GetLabel()[0].GetValue() == "web" {
					sums[f.GetName()] = [2]float64{float64(h.GetSampleCount()), h.GetSampleSum()}
				}
			}
		}
		if got := sums["workqueue_queue_duration_seconds"]; got != [2]float64{2, 4} {
			t.Errorf("queue durations: %v, want two of 2s", got)
		}
		if got := sums["workqueue_work_duration_seconds"]; got != [2]float64{1, 3} {
			t.Errorf("work durations: %v, want one of 3s", got)
		}
	})
}

// TestStats: working times are measured with Times, and zero without.
func TestStats(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for _, times := range []bool{false, true} {
			q := workqueue.New(workqueue.Options[string]{Times: times})
			time.Sleep(time.Second)
			q.Add("a")
			q.Add("b")
			get(t, q, "a")
			time.Sleep(time.Second)
			get(t, q, "b")
			time.Sleep(time.Second)
			q.AddAfter("c", time.Minute)
			want := workqueue.Stats{Adds: 2, Working: 2, Delayed: 1, Next: time.Minute}
			if times {
				want.Unfinished, want.Longest = 3*time.Second, 2*time.Second
			}
			if got := q.Stats(); got != want {
				t.Errorf("times %v: %+v, want %+v", times, got, want)
			}
		}
	})
}
