package server

import (
	"compress/gzip"
	"net/http"
	"sync"
)

var gzips = sync.Pool{New: func() any {
	z, _ := gzip.NewWriterLevel(nil, gzip.BestSpeed)
	return z
}}

// gzipBody compresses a body on its way.
type gzipBody struct{ *gzip.Writer }

// zipping bounds how many lists are compressed at once: each takes some hundred
// kilobytes. Those that come when there are so many are sent as they are.
var zipping = gate{limit: 32}

// worthGzip says whether a list is worth compressing, from the stored size of the
// first of its objects.
func worthGzip(w walk) bool {
	size := 0
	for o := range w.items() {
		if size += len(o.Value()); size >= gzipFrom {
			return true
		}
	}
	return false
}

// startGzip begins a compressed answer.
func startGzip(w http.ResponseWriter, code int) gzipBody {
	h := w.Header()
	h.Set("Content-Encoding", "gzip")
	h.Add("Vary", "Accept-Encoding")
	h.Del("Content-Length")
	w.WriteHeader(code)
	z := gzips.Get().(*gzip.Writer)
	z.Reset(w)
	return gzipBody{z}
}

// done ends the body.
func (z gzipBody) done() error {
	err := z.Close()
	z.Reset(nil)
	gzips.Put(z.Writer)
	return err
}
