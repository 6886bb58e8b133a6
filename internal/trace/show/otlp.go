package show

import (
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"hash/fnv"
	"slices"
	"strconv"
	"time"
)

// The parts of an ExportTraceServiceRequest that are used here, in OTLP's JSON form
// (https://opentelemetry.io/docs/specs/otlp/#json-protobuf-encoding).
type (
	otlpRequest struct {
		ResourceSpans []otlpResource `json:"resourceSpans"`
	}
	otlpResource struct {
		Resource   otlpAttributes `json:"resource"`
		ScopeSpans []otlpScope    `json:"scopeSpans"`
	}
	otlpAttributes struct {
		Attributes []otlpAttribute `json:"attributes"`
	}
	otlpScope struct {
		Scope map[string]string `json:"scope"`
		Spans []otlpSpan        `json:"spans"`
	}
	otlpSpan struct {
		TraceID    string          `json:"traceId"`
		SpanID     string          `json:"spanId"`
		ParentID   string          `json:"parentSpanId,omitempty"`
		Name       string          `json:"name"`
		Kind       int             `json:"kind"`
		Start      string          `json:"startTimeUnixNano"`
		End        string          `json:"endTimeUnixNano"`
		Attributes []otlpAttribute `json:"attributes,omitempty"`
		Events     []otlpEvent     `json:"events,omitempty"`
		Links      []otlpLink      `json:"links,omitempty"`
		Status     *otlpStatus     `json:"status,omitempty"`
	}
	otlpEvent struct {
		Time string `json:"timeUnixNano"`
		Name string `json:"name"`
	}
	otlpLink struct {
		TraceID string `json:"traceId"`
		SpanID  string `json:"spanId"`
	}
	otlpStatus struct {
		Code    int    `json:"code"`
		Message string `json:"message,omitempty"`
	}
	otlpAttribute struct {
		Key   string    `json:"key"`
		Value otlpValue `json:"value"`
	}
	otlpValue struct {
		String string `json:"stringValue,omitempty"`
		Int    string `json:"intValue,omitempty"`
	}
)

const (
	kindInternal, kindServer, kindProducer, kindConsumer = 1, 2, 4, 5
	statusError                                          = 2
)

// Exporter makes OTLP requests from events, each an ExportTraceServiceRequest in JSON. It
// remembers the traces of the last rememberedEvents events, so that their effects join the
// same trace in a later request. The zero value is ready. It is for one goroutine.
//
// An event is a span, from its first to its last known hop, with the hops as its span
// events; a delivery, an arrival and a reconcile are its child spans; an event that a
// reconcile wrote is a child of the reconcile. All events of one tree are one trace.
type Exporter struct {
	traces map[int64]string
	told   []int64 // the keys of traces, oldest first
}

const rememberedEvents = 1 << 15

// Request makes the request for events, which are in the order of their revisions.
func (x *Exporter) Request(events []Event) ([]byte, error) {
	var spans []otlpSpan
	for _, e := range events {
		x.remember(e)
		spans = append(spans, x.spansOf(e)...)
	}
	return json.Marshal(otlpRequest{[]otlpResource{{
		Resource:   otlpAttributes{[]otlpAttribute{text("service.name", "fairlead")}},
		ScopeSpans: []otlpScope{{Scope: map[string]string{"name": "fairlead.dev/trace"}, Spans: spans}},
	}}})
}

// remember finds the trace of an event: that of its cause; or that of its request, unless the
// request is a reconcile of ours; or else a new one.
func (x *Exporter) remember(e Event) {
	id := e.Trace
	if len(e.Causes) > 0 || e.Reconcile != 0 {
		id = ""
	}
	if len(e.Causes) > 0 {
		id = x.traces[e.Causes[0]]
	}
	if id == "" {
		h := fnv.New128a()
		fmt.Fprint(h, "fairlead event ", e.Revision, " ", e.Began.UnixNano())
		id = hex.EncodeToString(h.Sum(nil))
	}
	if x.traces == nil {
		x.traces = map[int64]string{}
	}
	if _, again := x.traces[e.Revision]; !again {
		x.told = append(x.told, e.Revision)
	}
	x.traces[e.Revision] = id
	if len(x.told) > rememberedEvents {
		delete(x.traces, x.told[0])
		x.told = x.told[1:]
	}
}

// told drops attributes without a value.
func told(all ...otlpAttribute) []otlpAttribute {
	return slices.DeleteFunc(all, func(a otlpAttribute) bool { return a.Value == otlpValue{} })
}

func (x *Exporter) spansOf(e Event) []otlpSpan {
	id := x.traces[e.Revision]
	at := func(d time.Duration) string { return strconv.FormatInt(e.Began.Add(d).UnixNano(), 10) }
	root := otlpSpan{
		TraceID: id, SpanID: eventSpan(e.Revision), Name: Title(e.Life), Kind: kindServer, Start: at(0), End: at(e.Duration()),
		Attributes: told(
			number("fairlead.revision", e.Revision), text("fairlead.event", e.Type), text("k8s.resource", e.Resource),
			text("k8s.namespace.name", e.Namespace), text("k8s.object.name", e.Name),
			text("enduser.id", e.User), text("user_agent.original", e.Agent), text("fairlead.verb", e.Verb),
			text("fairlead.subresource", e.Subresource), number("fairlead.topics", int64(e.Topics)),
		),
	}
	for _, h := range e.Hops {
		root.Events = append(root.Events, otlpEvent{at(h.At), h.Hop})
	}
	for i, cause := range e.Causes {
		if i == 0 {
			if _, ok := x.traces[cause]; ok {
				if root.ParentID = eventSpan(cause); e.Reconcile != 0 {
					root.ParentID = workSpan(cause, e.Reconcile)
				}
			}
			continue
		}
		if of, ok := x.traces[cause]; ok {
			root.Links = append(root.Links, otlpLink{of, eventSpan(cause)})
		}
	}
	spans := []otlpSpan{root}
	child := func(span, name string, kind int, from, to time.Duration, more ...otlpAttribute) *otlpSpan {
		spans = append(spans, otlpSpan{
			TraceID: id, SpanID: span, ParentID: root.SpanID, Name: name, Kind: kind, Start: at(from), End: at(max(from, to)), Attributes: told(more...),
		})
		return &spans[len(spans)-1]
	}
	for i, d := range e.Deliveries {
		child(partSpan(e.Revision, "delivery", i), "watch "+d.Resource, kindProducer, d.Framed, d.Flushed,
			number("fairlead.stream", int64(d.ID)), text("enduser.id", d.User), text("user_agent.original", d.Agent))
	}
	for i, a := range e.Arrivals {
		child(partSpan(e.Revision, "arrival", i), "informer "+a.Resource, kindConsumer, a.Read, a.Stored)
	}
	for _, w := range e.Reconciles {
		if len(e.Reconciles) > 0 && w.Number != 0 {
			s := child(workSpan(e.Revision, w.Number), "reconcile "+w.Controller, kindInternal, w.Begun, w.Ended, text("fairlead.key", w.Key), number("fairlead.failures", int64(w.Failures)))
			if w.Queued != 0 {
				s.Events = append(s.Events, otlpEvent{at(w.Queued), "queued"})
			}
			switch {
			case w.Conflict:
				s.Attributes = append(s.Attributes, text("fairlead.conflict", w.Err))
			case w.Err != "":
				s.Status = &otlpStatus{statusError, w.Err}
			}
		}
	}
	return spans
}

func eventSpan(rev int64) string { return partSpan(rev, "event", 0) }

func workSpan(rev int64, work uint64) string { return partSpan(rev, "work", int(work)) }

func partSpan(rev int64, part string, n int) string {
	h := fnv.New64a()
	fmt.Fprint(h, rev, part, n)
	return hex.EncodeToString(binary.BigEndian.AppendUint64(nil, h.Sum64()))
}

func text(key, value string) otlpAttribute { return otlpAttribute{key, otlpValue{String: value}} }

func number(key string, value int64) otlpAttribute {
	return otlpAttribute{key, otlpValue{Int: strconv.FormatInt(value, 10)}}
}
