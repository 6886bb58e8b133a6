package client

import (
	"cmp"
	"context"
	"time"

	corev1 "k8s.io/api/core/v1"
	eventsv1 "k8s.io/api/events/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Act records that the component performed action on regarding, for a reason, with related
// (may be nil) as the other object. It is written as an Event of events.k8s.io/v1, where
// Event writes one of core/v1. A repeat does not make a new Event, but raises the series of
// the first one, which is written when it begins, each half hour, and six minutes after its
// last repeat. eventType is as for Event; the note is formatted as by fmt. It never blocks.
func (r *Recorder) Act(regarding, related Object, eventType, reason, action, noteFmt string, args ...any) {
	about, ok := r.reference(regarding)
	if !ok {
		r.dropped.Add(1)
		return
	}
	now := metav1.NowMicro()
	ev := &eventsv1.Event{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: cmp.Or(regarding.GetNamespace(), metav1.NamespaceDefault),
			Name:      r.name(regarding, now.Time),
		},
		EventTime: now, Type: eventType, Reason: reason, Action: action, Note: format(noteFmt, args),
		Regarding: about, ReportingController: r.source.Component, ReportingInstance: cmp.Or(r.source.Host, r.source.Component),
	}
	if related != nil {
		if with, ok := r.reference(related); ok {
			ev.Related = &with
		}
	}
	r.enqueue(toldAction{ev})
}

const (
	seriesEnd     = 6 * time.Minute // a series silent for so long is over
	seriesRefresh = 30 * time.Minute
	seriesTick    = time.Minute
	mostSeries    = 4096
)

// seriesKey identifies equal actions.
type seriesKey struct {
	controller, instance, typ, reason, action string
	regarding, related                        corev1.ObjectReference
}

// series is an action and its repeats. It belongs to the recorder's goroutine.
type series struct {
	ev      *eventsv1.Event // with Series once there are repeats
	written time.Time       // last, as it then was
	count   int32           // then
}

// toldAction is an Event of events.k8s.io/v1 in the queue.
type toldAction struct{ ev *eventsv1.Event }

func (a toldAction) write(ctx context.Context, r *recording) {
	ev := a.ev
	k := seriesKey{controller: ev.ReportingController, instance: ev.ReportingInstance, typ: ev.Type, reason: ev.Reason,
		action: ev.Action, regarding: ev.Regarding}
	k.regarding.ResourceVersion = ""
	if ev.Related != nil {
		k.related = *ev.Related
		k.related.ResourceVersion = ""
	}
	s := r.series[k]
	if s == nil {
		if len(r.series) >= mostSeries {
			r.endSeries(ctx, ev.EventTime.Time, true)
		}
		s = &series{ev: ev}
		r.series[k] = s
		r.put(ctx, s)
		return
	}
	if s.ev.Series == nil {
		s.ev.Series = &eventsv1.EventSeries{Count: 1}
	}
	s.ev.Series.Count++
	s.ev.Series.LastObservedTime = ev.EventTime
	if s.ev.Series.Count == 2 {
		r.put(ctx, s)
	}
}

// put writes a series as it is.
func (r *recording) put(ctx context.Context, s *series) {
	events := For[*eventsv1.Event](r.c).MetadataOnly().Namespace(s.ev.Namespace)
	var err error
	if s.ev.Series != nil {
		err = r.send(ctx, func(ctx context.Context) error {
			_, err := events.Patch(ctx, s.ev.Name, MergePatch(map[string]any{"series": s.ev.Series}))
			return err
		})
		if err == nil {
			s.wrote()
			return
		}
	}
	if s.ev.Series == nil || isNotFound(err) { // the old one has expired
		err = r.create(ctx, &s.ev.ObjectMeta, func(ctx context.Context) error {
			_, err := events.Create(ctx, s.ev)
			return err
		})
	}
	if err != nil {
		r.dropped.Add(1)
		return
	}
	s.wrote()
}

func (s *series) wrote() {
	s.written = time.Now()
	if s.ev.Series != nil {
		s.count = s.ev.Series.Count
	}
}

// endSeries writes the last count of the series that are over, or of all, and forgets
// them; and refreshes those that go on, so that they do not expire.
func (r *recording) endSeries(ctx context.Context, now time.Time, all bool) {
	for k, s := range r.series {
		last, repeated := s.ev.EventTime.Time, s.ev.Series != nil
		if repeated {
			last = s.ev.Series.LastObservedTime.Time
		}
		over := all || now.Sub(last) >= seriesEnd
		if repeated && (over && s.ev.Series.Count > s.count || !over && now.Sub(s.written) >= seriesRefresh) {
			r.put(ctx, s)
		}
		if over {
			delete(r.series, k)
		}
	}
}
