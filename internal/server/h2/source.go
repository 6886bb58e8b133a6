package h2

import "time"

// Source is the rest of a response whose handler has returned: a stream of bytes that the connection asks for data
// when its bell rings.
type Source interface {
	// Next appends the data to send now to dst, about limit bytes or one piece beyond, and reports whether it has
	// more right away. With an error such as io.EOF, the appended data is the last of the response; with
	// http.ErrAbortHandler the response is cut off instead.
	Next(dst []byte, limit int) (_ []byte, more bool, err error)
	// Close is called after the last call of Next. err is nil if Next ended the response itself, ErrStuck if the
	// client did not read, and otherwise the reason why the stream has ended.
	Close(err error)
}

// Flushed may be implemented by a Source. It is called when all data returned by Next so far has been written. The
// connection's lock is held: it must not block, nor call the connection.
type Flushed interface{ Flushed(at time.Time) }
