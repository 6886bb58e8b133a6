package h2

import (
	"bufio"
	"context"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"net/http"
	"sync"
	"time"

	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"
)

const (
	// firstWindow is what both sides may send before anything is said.
	firstWindow = 65535
	maxWindow   = 1<<31 - 1
	// bodyWindow is how much of a request's body may be unread.
	bodyWindow = 256 << 10
	// maxRead is the longest frame that is read.
	maxRead = 64 << 10
	// outLimit is the size of what waits to be written from which handlers wait.
	outLimit = 64 << 10
	// maxAnswers bounds the frames to be written that the peer has caused.
	maxAnswers = 10_000
	// greeting is how long a client may take for its first frames, and farewell
	// for its last ones.
	greeting = 10 * time.Second
	farewell = time.Second
)

var (
	// errGone is why streams end whose connection has.
	errGone = errors.New("h2: the client has disconnected")
	// ErrStuck is why a Source is closed whose peer does not read.
	ErrStuck = errors.New("h2: the client does not read")
)

// conn is a connection; see the package comment for who does what.
type conn struct {
	server  *Server
	handler http.Handler
	nc      net.Conn
	tls     *tls.ConnectionState
	base    context.Context
	remote  string
	framer  *http2.Framer // reads for the reader; writes into mu.out, under mu
	most    int           // streams, and handlers

	mu struct {
		sync.Mutex
		streams map[uint32]*stream
		// last is the highest stream that the client has opened.
		last uint32
		// fed are those whose bytes are in what is being written.
		fed []Flushed
		// dismissed are the streams that were reset last.
		dismissed struct {
			ids  [16]uint32
			next int
		}
		// err is why the connection has ended.
		err error
		// leaving: GOAWAY has been sent, and streams above until are not served.
		leaving bool
		until   uint32

		// out are the frames to be written, in order, nil if there are none;
		// answers of them were caused by the peer. writing: somebody has the
		// role. released is signalled when it is given up. epoch counts the
		// buffers that have gone from out to the role.
		out      *buffer
		tail     *buffer // the role's: what goes before out
		epoch    uint64
		answers  int
		writing  bool
		released sync.Cond
		since    time.Time // when the write under way began; zero if none is

		hpack    *hpack.Encoder
		block    headerBlock
		window   int64 // what may be sent on the connection
		granted  int64 // out of window, to the stream being fed
		initial  int64 // the window of new streams
		maxFrame int

		queue, ready, stalled list

		// handlers that run, and streams that wait for a place.
		handlers int
		waiting  []*stream
		spare    spare

		credit credit // what the client may send on the connection
		unsaid int    // settings of ours that are not acknowledged

		tick tick
	}

	// hook is for the http.Server's ConnState alone.
	hook struct {
		sync.Mutex
		last http.ConnState
	}
}

func newConn(s *Server, ctx context.Context, nc net.Conn, state *tls.ConnectionState, h http.Handler) *conn {
	c := &conn{
		server: s, handler: h, nc: nc, tls: state, base: ctx,
		remote: nc.RemoteAddr().String(), most: s.maxStreams(),
	}
	c.framer = http2.NewFramer((*outgoing)(c), bufio.NewReaderSize(nc, 2<<10))
	c.framer.SetReuseFrames()
	c.framer.SetMaxReadFrameSize(maxRead)
	c.framer.ReadMetaHeaders = hpack.NewDecoder(4096, nil)
	c.framer.MaxHeaderListSize = s.maxHeaderList()
	m := &c.mu
	m.released.L = &m.Mutex
	m.streams = map[uint32]*stream{}
	m.hpack = hpack.NewEncoder(&m.block)
	m.window, m.initial, m.maxFrame = firstWindow, firstWindow, 16<<10
	c.greet()
	return c
}

// outgoing is the framer's way into mu.out, with mu held.
type outgoing conn

func (o *outgoing) Write(p []byte) (int, error) {
	b := (*conn)(o).buffer()
	b.b = append(b.b, p...)
	return len(p), nil
}

// serve is the reader.
func (c *conn) serve() {
	defer context.AfterFunc(c.base, func() { c.nc.Close() })()
	err := c.read()
	var code http2.ConnectionError
	if errors.As(err, &code) {
		c.server.logf("h2: connection error from %s: %v", c.remote, err)
		c.mu.Lock()
		c.framer.WriteGoAway(c.mu.last, http2.ErrCode(code), nil)
		c.mu.leaving = true
		c.endStreams(errGone)
		c.write()
		c.mu.Unlock()
		c.linger()
	}
	c.end(errGone)
}

// read reads frames until the connection ends. An http2.ConnectionError is the
// peer's fault, which it is to be told.
func (c *conn) read() error {
	c.mu.Lock()
	c.wake()
	c.mu.Unlock()
	c.nc.SetReadDeadline(time.Now().Add(greeting))
	preface := make([]byte, len(http2.ClientPreface))
	if _, err := io.ReadFull(c.nc, preface); err != nil {
		return err
	}
	if string(preface) != http2.ClientPreface {
		return errors.New("h2: the client does not speak HTTP/2")
	}
	c.announce()
	f, err := c.framer.ReadFrame()
	if err != nil {
		return fault(err)
	}
	if s, ok := f.(*http2.SettingsFrame); !ok || s.IsAck() {
		return http2.ConnectionError(http2.ErrCodeProtocol)
	}
	c.nc.SetReadDeadline(time.Time{})
	for {
		if err := c.process(f); err != nil {
			return err
		}
		for {
			f, err = c.framer.ReadFrame()
			se, ok := err.(http2.StreamError) // as the framer returns it
			if !ok {
				break
			}
			if err := c.refuse(se); err != nil {
				return err
			}
		}
		if err != nil {
			return fault(err)
		}
	}
}

// fault makes of what the framer finds wrong a connection error.
func fault(err error) error {
	if errors.Is(err, http2.ErrFrameTooLarge) {
		return http2.ConnectionError(http2.ErrCodeFrameSize)
	}
	return err
}

// greet says what the client may do, before anything else is said.
func (c *conn) greet() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.framer.WriteSettings(
		http2.Setting{ID: http2.SettingMaxFrameSize, Val: maxRead},
		http2.Setting{ID: http2.SettingMaxConcurrentStreams, Val: uint32(c.most)},
		http2.Setting{ID: http2.SettingMaxHeaderListSize, Val: c.server.maxHeaderList()},
		http2.Setting{ID: http2.SettingInitialWindowSize, Val: bodyWindow},
	)
	c.mu.unsaid++
	// So much that only the windows of streams count.
	full := min(int64(c.most)*bodyWindow, maxWindow)
	c.framer.WriteWindowUpdate(0, uint32(full-firstWindow))
	c.mu.credit = credit{left: full, full: full}
	c.idle()
}

// linger lets the peer read what has been written, before a close takes it away.
func (c *conn) linger() {
	c.nc.SetReadDeadline(time.Now().Add(farewell))
	io.Copy(io.Discard, c.nc)
}

// end ends what is left.
func (c *conn) end(err error) {
	c.nc.Close() // a write under way fails
	c.mu.Lock()
	defer c.mu.Unlock()
	c.mu.err = err
	c.mu.tick.stop()
	c.mu.spare.dismiss()
	c.endStreams(err)
	for c.mu.writing {
		c.mu.released.Wait()
	}
	// Nobody writes any more; what remains of the role is to close sources.
	c.mu.writing = true
	for st := c.mu.ready.pop(); st != nil; st = c.mu.ready.pop() {
		c.closeSource(st, st.err)
	}
	c.mu.writing = false
}

func (c *conn) endStreams(err error) {
	for _, st := range c.mu.streams {
		c.close(st, err)
	}
}
