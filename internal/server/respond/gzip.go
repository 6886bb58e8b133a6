package respond

import (
	"compress/gzip"
	"net/http"
	"sync"

	"fairlead.dev/internal/server/inflight"
)

var gzips = sync.Pool{New: func() any {
	z, _ := gzip.NewWriterLevel(nil, gzip.BestSpeed)
	return z
}}

// gzipBody compresses a body as it is written.
type gzipBody struct{ *gzip.Writer }

// Zipping bounds the lists that are compressed at once, since each takes some hundred
// kilobytes. Further lists are sent uncompressed.
var Zipping = inflight.Gate{Limit: 32}

// StartGzip begins a compressed response. Done must be called at its end.
func StartGzip(w http.ResponseWriter, code int) gzipBody {
	h := w.Header()
	h.Set("Content-Encoding", "gzip")
	h.Add("Vary", "Accept-Encoding")
	h.Del("Content-Length")
	w.WriteHeader(code)
	z := gzips.Get().(*gzip.Writer)
	z.Reset(w)
	return gzipBody{z}
}

// Done ends the body.
func (z gzipBody) Done() error {
	err := z.Close()
	z.Reset(nil)
	gzips.Put(z.Writer)
	return err
}

// GzipFrom is the size in bytes from which responses are compressed for clients that accept
// it.
const GzipFrom = 128 << 10
