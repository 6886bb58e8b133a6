package fairness

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"
)

// table writes rows as kube-apiserver's dumps do: fields end with a comma, and columns are aligned.
type table struct{ *tabwriter.Writer }

func newTable(w io.Writer, head ...string) table {
	t := table{tabwriter.NewWriter(w, 8, 0, 1, ' ', 0)}
	t.row(head...)
	return t
}

func (t table) row(fields ...string) { fmt.Fprintln(t, strings.Join(fields, ",\t")) }

// each calls f for the levels by name, with their locks held.
func (d *Dispatcher) each(f func(*levelState)) {
	levels := d.plan.Load().levels
	for _, name := range slices.Sorted(maps.Keys(levels)) {
		l := levels[name]
		l.mu.Lock()
		f(&l.mu.levelState)
		l.mu.Unlock()
	}
}

// DumpLevels writes a row for each priority level.
func (d *Dispatcher) DumpLevels(w io.Writer) error {
	t := newTable(w, "PriorityLevelName", "ActiveQueues", "IsIdle", "IsQuiescing", "WaitingRequests", "ExecutingRequests",
		"DispatchedRequests", "RejectedRequests", "TimedoutRequests", "CancelledRequests")
	d.each(func(l *levelState) {
		// No request is counted as timed out, by kube-apiserver either: one that has waited too long is cancelled.
		t.row(l.name, strconv.Itoa(len(l.busy)), strconv.FormatBool(l.idle()), strconv.FormatBool(l.quiescing), strconv.Itoa(l.waiting), strconv.Itoa(l.executing),
			strconv.Itoa(l.dispatched), strconv.Itoa(l.rejected), "0", strconv.Itoa(l.cancelled))
	})
	return t.Flush()
}

// DumpQueues writes a row for each queue.
func (d *Dispatcher) DumpQueues(w io.Writer) error {
	t := newTable(w, "PriorityLevelName", "Index", "PendingRequests", "ExecutingRequests", "SeatsInUse", "NextDispatchR",
		"InitialSeatsSum", "MaxSeatsSum", "TotalWorkSum")
	d.each(func(l *levelState) {
		for i, q := range l.queues {
			if q == nil {
				q = &queue{index: i}
			}
			t.row(l.name, strconv.Itoa(q.index), strconv.Itoa(q.waiting), strconv.Itoa(q.executing), strconv.Itoa(q.seats), seatSeconds(q.start),
				strconv.Itoa(q.initialSeats), strconv.Itoa(q.widths), seatSeconds(q.work))
		}
	})
	return t.Flush()
}

func seatSeconds(v float64) string { return fmt.Sprintf("%.8fss", v) }

// DumpRequests writes a row for each request that waits or runs, with its user and path if details are wanted.
func (d *Dispatcher) DumpRequests(w io.Writer, details bool) error {
	head := []string{"PriorityLevelName", "FlowSchemaName", "QueueIndex", "RequestIndexInQueue", "FlowDistingsher", "ArriveTime",
		"InitialSeats", "FinalSeats", "AdditionalLatency", "StartTime"}
	if details {
		head = append(head, "UserName", "Verb", "APIPath", "Namespace", "Name", "APIVersion", "Resource", "SubResource")
	}
	t := newTable(w, head...)
	d.each(func(l *levelState) {
		names := map[*series]string{}
		for name, s := range l.series {
			names[s] = name
		}
		row := func(at, within int, s *Seat) {
			fields := []string{l.name, names[s.series], strconv.Itoa(at), strconv.Itoa(within), s.flow, s.arrival.UTC().Format(time.RFC3339Nano),
				strconv.Itoa(s.width.Initial), strconv.Itoa(s.width.Final), s.width.Linger.String(), s.started.UTC().Format(time.RFC3339Nano)}
			if details {
				in := s.info
				fields = append(fields, s.user.Name, in.Verb, in.Path, in.Namespace, in.Name,
					strings.TrimPrefix(in.Group+"/"+in.Version, "/"), in.Resource, in.Subresource)
			}
			t.row(fields...)
		}
		for _, q := range l.queues {
			if q == nil {
				continue
			}
			i := 0
			for s := q.first; s != nil; s = s.next {
				row(q.index, i, s)
				i++
			}
		}
		for s := l.running; s != nil; s = s.next {
			at := -1
			if s.queue != nil {
				at = s.queue.index
			}
			row(at, -1, s)
		}
	})
	return t.Flush()
}
