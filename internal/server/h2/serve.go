package h2

import (
	"bufio"
	"context"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"net/http"
	"time"

	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"
)

func newConn(s *settings, ctx context.Context, nc net.Conn, state *tls.ConnectionState, h http.Handler) *conn {
	c := &conn{
		server: s, handler: h, nc: nc, tls: state, base: ctx,
		remote: nc.RemoteAddr().String(), maxStreams: s.maxStreams(),
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
	m.window, m.initial, m.maxFrame = initialWindow, initialWindow, 16<<10
	c.sendSettings()
	return c
}

// serve runs the reader until the connection ends.
func (c *conn) serve() {
	defer context.AfterFunc(c.base, func() { c.nc.Close() })()
	err := c.read()
	var code http2.ConnectionError
	if errors.As(err, &code) {
		c.server.logf("h2: connection error from %s: %v", c.remote, err)
		c.mu.Lock()
		c.framer.WriteGoAway(c.mu.lastStream, http2.ErrCode(code), nil)
		c.mu.goingAway = true
		c.endStreams(errGone)
		c.write()
		c.mu.Unlock()
		c.linger()
	}
	c.end(errGone)
}

// read reads frames until the connection ends. It returns an http2.ConnectionError if the peer violated the
// protocol and must be sent GOAWAY.
func (c *conn) read() error {
	c.mu.Lock()
	c.wake()
	c.mu.Unlock()
	c.nc.SetReadDeadline(time.Now().Add(prefaceTimeout))
	preface := make([]byte, len(http2.ClientPreface))
	if _, err := io.ReadFull(c.nc, preface); err != nil {
		return err
	}
	if string(preface) != http2.ClientPreface {
		return errors.New("h2: the client does not speak HTTP/2")
	}
	c.reportState()
	f, err := c.framer.ReadFrame()
	if err != nil {
		return connectionError(err)
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
			return connectionError(err)
		}
	}
}

// connectionError turns an error of the framer into a connection error where RFC 9113 asks for one.
func connectionError(err error) error {
	if errors.Is(err, http2.ErrFrameTooLarge) {
		return http2.ConnectionError(http2.ErrCodeFrameSize)
	}
	return err
}

// sendSettings sends the server's SETTINGS, which must be the first frame.
func (c *conn) sendSettings() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.framer.WriteSettings(
		http2.Setting{ID: http2.SettingMaxFrameSize, Val: maxRead},
		http2.Setting{ID: http2.SettingMaxConcurrentStreams, Val: uint32(c.maxStreams)},
		http2.Setting{ID: http2.SettingMaxHeaderListSize, Val: c.server.maxHeaderList()},
		http2.Setting{ID: http2.SettingInitialWindowSize, Val: bodyWindow},
	)
	c.mu.unackedSettings++
	// Large enough for only the streams' windows to limit uploads.
	full := min(int64(c.maxStreams)*bodyWindow, maxWindow)
	c.framer.WriteWindowUpdate(0, uint32(full-initialWindow))
	c.mu.receive = receiveWindow{available: full, size: full}
	c.becomeIdle()
}

// linger reads until the peer closes, so that closing the connection does not discard data that the peer has not
// read yet.
func (c *conn) linger() {
	c.nc.SetReadDeadline(time.Now().Add(lingerTimeout))
	io.Copy(io.Discard, c.nc)
}

// end closes the connection and everything on it.
func (c *conn) end(err error) {
	c.nc.Close() // fails a write in progress
	c.mu.Lock()
	defer c.mu.Unlock()
	c.mu.err = err
	c.mu.timer.stop()
	c.mu.spare.stopAll()
	c.endStreams(err)
	for c.mu.writing {
		c.mu.released.Wait()
	}
	// No one else writes after the error, so this goroutine takes the role to close the sources.
	c.mu.writing = true
	for st := c.mu.ready.pop(); st != nil; st = c.mu.ready.pop() {
		c.closeSource(st, st.err)
	}
	c.mu.writing = false
}
