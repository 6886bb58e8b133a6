package h2

import "errors"

var (
	// errGone ends the streams of a connection that has ended.
	errGone = errors.New("h2: the client has disconnected")
	// ErrStuck closes a Source whose client does not read.
	ErrStuck     = errors.New("h2: the client does not read")
	errClosed    = errors.New("h2: the stream is closed")
	errMalformed = errors.New("h2: malformed request")
)
