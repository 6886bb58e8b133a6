package h2

import (
	"context"
	"crypto/tls"
	"net"
	"net/http"
	"sync"
	"time"

	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"
)

const (
	// initialWindow is the flow-control window of both sides before any SETTINGS or WINDOW_UPDATE.
	initialWindow = 65535
	maxWindow     = 1<<31 - 1
	// bodyWindow is how many bytes of a request's body may be unread.
	bodyWindow = 256 << 10
	// maxRead is the maximum size of a frame from the client.
	maxRead = 64 << 10
	// outLimit is the number of bytes waiting to be written from which handlers block.
	outLimit = 64 << 10
	// maxControlFrames bounds the frames waiting to be written that the peer has caused (acknowledgements, resets).
	maxControlFrames = 10_000
	// prefaceTimeout is how long a client may take to send its preface and SETTINGS, and lingerTimeout how long to
	// read the last frames.
	prefaceTimeout = 10 * time.Second
	lingerTimeout  = time.Second
)

// conn is a connection. The package comment describes its goroutines and their data.
type conn struct {
	server     *settings
	handler    http.Handler
	nc         net.Conn
	tls        *tls.ConnectionState
	base       context.Context
	remote     string
	framer     *http2.Framer // reads for the reader goroutine; writes into mu.out, under mu
	maxStreams int           // streams, and handlers, at once

	mu struct {
		sync.Mutex
		streams map[uint32]*stream
		// lastStream is the highest stream ID that the client has used.
		lastStream uint32
		// unflushed lists the sources whose bytes are in the buffer being written.
		unflushed []Flushed
		// recentResets are the streams that were reset last.
		recentResets struct {
			ids  [16]uint32
			next int
		}
		// err is the error that ended the connection.
		err error
		// goingAway: GOAWAY has been sent, and streams above lastAccepted are ignored.
		goingAway    bool
		lastAccepted uint32

		// out holds the frames to be written, in order, or nil. controlFrames counts those that the
		// peer has caused. writing is set while a goroutine has the writer role, and released is
		// signalled when it gives the role up. epoch counts the buffers that the role has taken from out.
		out           *buffer
		tail          *buffer // belongs to the role: bytes to write before those in out
		epoch         uint64
		controlFrames int
		writing       bool
		released      sync.Cond
		writeStart    time.Time // when the current write began, or zero

		hpack    *hpack.Encoder
		block    headerBlock
		window   int64 // bytes that may be sent on the connection
		granted  int64 // lent from window to the source being asked
		initial  int64 // the send window of new streams
		maxFrame int

		queue, ready, stalled list

		// running handlers, and streams that wait for one to return.
		handlers int
		waiting  []*stream
		spare    spare

		receive         receiveWindow // for DATA on the connection
		unackedSettings int           // SETTINGS frames the client has not acknowledged

		timer deadlineTimer
	}

	// hook serializes calls of the http.Server's ConnState.
	hook struct {
		sync.Mutex
		last http.ConnState
	}
}

// outgoing is the framer's writer into mu.out. It needs mu held.
type outgoing conn

func (o *outgoing) Write(p []byte) (int, error) {
	b := (*conn)(o).buffer()
	b.b = append(b.b, p...)
	return len(p), nil
}

// buffer returns mu.out for appending.
func (c *conn) buffer() *buffer {
	if c.mu.out == nil {
		c.mu.out = buffers.Get().(*buffer)
	}
	return c.mu.out
}

// wake starts a goroutine that writes the frames in out and the data of ready sources, unless one is writing.
func (c *conn) wake() {
	if !c.mu.writing && c.mu.err == nil && c.more() {
		c.mu.writing = true
		go c.run()
	}
}

func (c *conn) more() bool { return c.mu.out != nil || c.mu.tail != nil || c.mu.ready.first != nil }
