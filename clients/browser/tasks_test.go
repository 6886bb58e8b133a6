package browser

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/tracing"
	"github.com/chromedp/chromedp"
)

// longTask is the time on the main thread from which a task delays frames noticeably.
const longTask = 50 * time.Millisecond

// task is a task of the page's main thread, with its time on the clock and on the processor. Other processes of a
// busy machine make only the former longer.
type task struct {
	at, clock, cpu time.Duration
	work           string // the longest function call or step of rendering in it
}

// tasks are the tasks of the page's main thread while f runs, the longest on the processor first.
func (b *fixture) tasks(t *testing.T, f func()) []task {
	t.Helper()
	stop := b.recordTasks(t)
	f()
	return stop()
}

// recordTasks records tasks until stop is called.
func (b *fixture) recordTasks(t *testing.T) (stop func() []task) {
	t.Helper()
	var mu sync.Mutex
	var events []traceEvent
	complete := make(chan struct{})
	ctx, cancel := context.WithCancel(b.ctx)
	chromedp.ListenTarget(ctx, func(ev any) {
		switch ev := ev.(type) {
		case *tracing.EventDataCollected:
			mu.Lock()
			defer mu.Unlock()
			for _, raw := range ev.Value {
				var e traceEvent
				if json.Unmarshal(raw, &e) == nil {
					events = append(events, e)
				}
			}
		case *tracing.EventTracingComplete:
			close(complete)
		}
	})
	b.do(t, tracing.Start().WithTransferMode(tracing.TransferModeReportEvents).WithTraceConfig(&tracing.TraceConfig{
		IncludedCategories: []string{"devtools.timeline", "disabled-by-default-devtools.timeline", "toplevel", "__metadata"}, ExcludedCategories: []string{"*"},
	}))
	return func() []task {
		defer cancel()
		b.do(t, tracing.End())
		select {
		case <-complete:
		case <-time.After(time.Minute):
			t.Fatal("the recording of tasks does not end")
		}
		mu.Lock()
		defer mu.Unlock()
		return mainTasks(events)
	}
}

// traceEvent is an event in Chromium's trace format; times are in microseconds.
type traceEvent struct {
	Name     string  `json:"name"`
	Phase    string  `json:"ph"`
	PID      int     `json:"pid"`
	TID      int     `json:"tid"`
	At       float64 `json:"ts"`
	Duration float64 `json:"dur"`
	CPU      float64 `json:"tdur"`
	Args     struct {
		Name string `json:"name"`
		Data struct {
			FunctionName string `json:"functionName"`
			URL          string `json:"url"`
		} `json:"data"`
	} `json:"args"`
}

func micro(us float64) time.Duration { return time.Duration(us * 1000) }

// mainTasks are the tasks of the main threads of renderers.
func mainTasks(events []traceEvent) []task {
	main := map[[2]int]bool{}
	for _, e := range events {
		if e.Name == "thread_name" && e.Args.Name == "CrRendererMain" {
			main[[2]int{e.PID, e.TID}] = true
		}
	}
	var tasks []task
	for _, e := range events {
		if e.Phase == "X" && main[[2]int{e.PID, e.TID}] && e.Name == "RunTask" {
			tasks = append(tasks, task{at: micro(e.At), clock: micro(e.Duration), cpu: micro(e.CPU)})
		}
	}
	slices.SortFunc(tasks, func(x, y task) int { return int(y.cpu - x.cpu) })
	for i := range tasks[:min(len(tasks), 20)] {
		k := &tasks[i]
		longest := 0.0
		for _, e := range events {
			if e.Phase == "X" && main[[2]int{e.PID, e.TID}] && !strings.HasSuffix(e.Name, "RunTask") && e.CPU > longest && micro(e.At) >= k.at && micro(e.At) < k.at+k.clock && e.Name != "EventDispatch" {
				longest, k.work = e.CPU, strings.Trim(e.Name+" "+e.Args.Data.FunctionName, " ")
			}
		}
	}
	return tasks
}

// summary describes the longest tasks.
func summary(tasks []task) string {
	if len(tasks) == 0 {
		return "no task was recorded"
	}
	long := 0
	for _, k := range tasks {
		if k.cpu > longTask {
			long++
		}
	}
	var most []string
	for _, k := range tasks[:min(len(tasks), 6)] {
		most = append(most, fmt.Sprintf("%.0f ms of %.0f (%s)", k.cpu.Seconds()*1000, k.clock.Seconds()*1000, k.work))
	}
	return fmt.Sprintf("%d tasks, %d above %v of processor time; the longest, of their time by the clock: %s", len(tasks), long, longTask, strings.Join(most, ", "))
}
