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
