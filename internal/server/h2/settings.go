package h2

import (
	"cmp"
	"log"
	"net/http"
	"time"
)

// Options are settings beyond those of http.Server.
type Options struct {
	// WriteTimeout is how long a peer may leave sent data unread; 0 means 30 seconds.
	WriteTimeout time.Duration
}

// settings are those of one http.Server that its connections use.
type settings struct {
	hs *http.Server
	// timeout is Options.WriteTimeout.
	timeout time.Duration
}

func (s *settings) logf(format string, args ...any) {
	if l := s.hs.ErrorLog; l != nil {
		l.Printf(format, args...)
		return
	}
	log.Printf(format, args...)
}

// maxStreams is the number of streams a client may have open at once.
func (s *settings) maxStreams() int {
	if c := s.hs.HTTP2; c != nil && c.MaxConcurrentStreams > 0 {
		return c.MaxConcurrentStreams
	}
	return 100
}

// maxHeaderList is the maximum size of a request's headers, as RFC 9113 counts it: 32 bytes are added to each
// field.
func (s *settings) maxHeaderList() uint32 {
	const fields, overhead = 10, 32
	return uint32(cmp.Or(max(s.hs.MaxHeaderBytes, 0), http.DefaultMaxHeaderBytes) + fields*overhead)
}
