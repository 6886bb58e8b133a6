package server

import (
	"encoding/json"
	"net/http"
	"sync/atomic"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/watch"

	"fairlead.dev/storage"
	"fairlead.dev/watchcache"
)

// stream is the answer to one watch: frames, put together in a buffer that
// exists only while there is something to send.
type stream struct {
	c  *call
	f  *form
	rc *http.ResponseController
	// buf holds frames that are not written yet; nil while idle.
	buf *[]byte
	// headed says that a table's columns have been sent.
	headed bool
	// from is what is watched; nil if it could not be.
	from *watchcache.Watcher
	// live: the stream goes on, until end, with a bookmark at mark and every so
	// often from then on; 0 for none. clock rings for both, and unhook stops
	// the request's end from ringing.
	live      bool
	end, mark time.Time
	every     time.Duration
	clock     *time.Timer
	unhook    func() bool
	// ended: the server has let go of the stream.
	ended atomic.Bool
	// watchdog's view of a write in progress.
	guard writeGuard
	sent  *watchCounters
}

// add puts one event into the buffer, and writes it out when it is full.
func (st *stream) add(e watchcache.Event) error {
	b := st.buffer()
	at := len(b)
	b = st.open(b, e.Type, e.Revision)
	element := len(b)
	b, err := st.f.appendEventElement(b, e)
	if err != nil {
		st.c.s.log.Error("watch event cannot be encoded", "key", e.Object.Key(), "error", err)
		return err
	}
	*st.buf = st.finish(b, at, element, e.Type)
	st.sent.events.Inc()
	if len(*st.buf) >= chunkSize {
		return st.send(false)
	}
	return nil
}

// bookmark adds an event that tells how far the client has got.
func (st *stream) bookmark(rev storage.Revision, initialEnd bool) error {
	obj, err := st.f.ep.newStored()
	if err != nil {
		return err
	}
	m, err := meta.Accessor(obj)
	if err != nil {
		return err
	}
	m.SetResourceVersion(rev.String())
	if initialEnd {
		m.SetAnnotations(map[string]string{metav1.InitialEventsAnnotationKey: "true"})
	}
	element, err := st.f.encode(obj)
	if err != nil {
		return err
	}
	b := st.buffer()
	at := len(b)
	b = st.open(b, watch.Bookmark, rev)
	start := len(b)
	*st.buf = st.finish(append(b, element...), at, start, watch.Bookmark)
	return nil
}

// fail tells the client why the stream ends.
func (st *stream) fail(err error) {
	status := statusOf(err)
	b := st.buffer()
	if st.f.media == mediaProto {
		raw, err := status.Marshal()
		if err != nil {
			return
		}
		gvk := schema.GroupVersionKind{Version: "v1", Kind: "Status"}
		*st.buf = appendProtoFrame(b, watch.Error, appendEnvelope(nil, gvk, raw))
	} else {
		text, err := json.Marshal(runtime.Object(status))
		if err != nil {
			return
		}
		b = append(b, `{"type":"ERROR","object":`...)
		*st.buf = append(append(b, text...), "}\n"...)
	}
	st.send(true)
}

func (st *stream) buffer() []byte {
	if st.buf == nil {
		st.buf = chunkBuffers.Get().(*[]byte)
		*st.buf = (*st.buf)[:0]
	}
	return *st.buf
}

// open begins a frame, up to the element.
func (st *stream) open(b []byte, t watch.EventType, rev storage.Revision) []byte {
	if st.f.media == mediaProto {
		return b
	}
	b = append(append(append(b, `{"type":"`...), t...), `","object":`...)
	if st.f.shape == asTable {
		b = st.f.appendTableHead(b, listMeta{ResourceVersion: rev.String()}, !st.headed)
		st.headed = true
	}
	return b
}

// finish ends the frame that began at at and has its element from element on.
func (st *stream) finish(b []byte, at, element int, t watch.EventType) []byte {
	switch {
	case st.f.media == mediaProto:
		return wrapProtoFrame(b, at, t, st.f.kind())
	case st.f.shape == asTable:
		return append(b, "]}}\n"...)
	}
	return append(b, "}\n"...)
}

// send writes what the buffer holds; flush also pushes it to the client and
// gives the buffer back.
func (st *stream) send(flush bool) error {
	if st.buf == nil {
		return nil
	}
	st.guard.enter()
	defer st.guard.leave()
	if len(*st.buf) > 0 {
		if _, err := st.c.w.Write(*st.buf); err != nil {
			return err
		}
		*st.buf = (*st.buf)[:0]
	}
	if !flush {
		return nil
	}
	if cap(*st.buf) <= 4*chunkSize {
		chunkBuffers.Put(st.buf)
	}
	st.buf = nil
	return st.rc.Flush()
}
