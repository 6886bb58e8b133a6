package watch

import (
	"encoding/json"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/watch"

	"fairlead.dev/internal/server/apistatus"
	"fairlead.dev/internal/server/metrics"
	"fairlead.dev/internal/server/represent"
	"fairlead.dev/internal/server/request"
	"fairlead.dev/internal/server/serializer"
	"fairlead.dev/storage"
	"fairlead.dev/watchcache"
)

// An encoder encodes the frames of one stream in the negotiated representation.
type encoder struct {
	cfg  *Config
	rep  *represent.Representation
	sent *metrics.WatchCounters
	// headed: a table's columns have been sent.
	headed bool
}

// appendEvent appends the frame of one event.
func (e *encoder) appendEvent(dst []byte, ev watchcache.Event) ([]byte, error) {
	at := len(dst)
	dst = e.open(dst, ev.Type, ev.Revision)
	dst, err := e.rep.AppendEventElement(dst, ev)
	if err != nil {
		e.cfg.Log.Error("watch event cannot be encoded", "key", ev.Object.Key(), "error", err)
		return dst[:at], err
	}
	dst = e.finish(dst, at, ev.Type)
	e.sent.Events.Inc()
	e.sent.Sizes.Observe(int64(len(dst) - at))
	return dst, nil
}

// appendBookmark appends a bookmark. initialEnd marks the one at the end of the initial state.
func (e *encoder) appendBookmark(dst []byte, rev storage.Revision, initialEnd bool) ([]byte, error) {
	obj, err := e.rep.Endpoint.NewObject()
	if err != nil {
		return dst, err
	}
	m, err := meta.Accessor(obj)
	if err != nil {
		return dst, err
	}
	m.SetResourceVersion(rev.String())
	if initialEnd {
		m.SetAnnotations(map[string]string{metav1.InitialEventsAnnotationKey: "true"})
	}
	element, err := e.rep.Encode(obj)
	if err != nil {
		return dst, err
	}
	at := len(dst)
	dst = e.open(dst, watch.Bookmark, rev)
	return e.finish(append(dst, element...), at, watch.Bookmark), nil
}

// appendFailure appends the ERROR event that tells the client why the watch ends.
func (e *encoder) appendFailure(dst []byte, err error) []byte {
	status := apistatus.Of(err)
	switch e.rep.Media {
	case serializer.CBOR:
		text, err := serializer.MarshalCBOR(status)
		if err != nil {
			return dst
		}
		return append(represent.AppendCBORFrameHead(dst, watch.Error), text...)
	case serializer.Protobuf:
		raw, err := status.Marshal()
		if err != nil {
			return dst
		}
		gvk := schema.GroupVersionKind{Version: "v1", Kind: "Status"}
		return represent.AppendProtoFrame(dst, watch.Error, serializer.AppendEnvelope(nil, gvk, raw))
	}
	text, err := json.Marshal(runtime.Object(status))
	if err != nil {
		return dst
	}
	dst = append(dst, `{"type":"ERROR","object":`...)
	return append(append(dst, text...), "}\n"...)
}

// open begins a frame, up to the element.
func (e *encoder) open(b []byte, t watch.EventType, rev storage.Revision) []byte {
	switch e.rep.Media {
	case serializer.Protobuf:
		return b
	case serializer.CBOR:
		return represent.AppendCBORFrameHead(b, t)
	}
	b = append(append(append(b, `{"type":"`...), t...), `","object":`...)
	if e.rep.Shape == request.AsTable {
		b = e.rep.AppendTableHead(b, represent.ListMeta{ResourceVersion: rev.String()}, !e.headed)
		e.headed = true
	}
	return b
}

// finish ends the frame that begins at index at.
func (e *encoder) finish(b []byte, at int, t watch.EventType) []byte {
	switch {
	case e.rep.Media == serializer.Protobuf:
		return represent.WrapProtoFrame(b, at, t, e.rep.Kind())
	case e.rep.Media == serializer.CBOR:
		return e.rep.AddType(b, at+len(represent.AppendCBORFrameHead(nil, t)))
	case e.rep.Shape == request.AsTable:
		return append(b, "]}}\n"...)
	}
	return append(b, "}\n"...)
}
