package badnet

import (
	"io"
	"net"
	"sync"
	"sync/atomic"
	"time"
)

// link is a client's connection and the corresponding one to the server.
type link struct {
	client, server net.Conn
	once           sync.Once
	gone           chan struct{} // closed by end
	frozen         atomic.Bool
}

// end resets both sides: unsent bytes are lost.
func (l *link) end() {
	l.once.Do(func() {
		close(l.gone)
		reset(l.client)
		reset(l.server)
	})
}

// free closes a link whose two directions have ended; unsent bytes are still delivered.
func (l *link) free() {
	l.once.Do(func() {
		close(l.gone)
		_ = l.client.Close()
		_ = l.server.Close()
	})
}

func reset(c net.Conn) {
	if t, ok := c.(*net.TCPConn); ok {
		_ = t.SetLinger(0) // makes Close discard unsent bytes and send RST
	}
	_ = c.Close()
}

// finish closes the write side of c; bytes sent before still arrive.
func finish(c net.Conn) {
	if t, ok := c.(*net.TCPConn); ok {
		_ = t.CloseWrite()
	}
}

// pass copies from one side to the other, under the conditions.
func (p *Proxy) pass(l *link, to, from net.Conn, reply bool) {
	buf := make([]byte, 32<<10)
	var passed int64
	for {
		n, err := from.Read(buf)
		c, ok := p.hold(l, n, reply)
		if !ok {
			return
		}
		b, cut := buf[:n], false
		if reply && c.CutAfter > 0 && passed+int64(n) >= c.CutAfter {
			b, cut = b[:max(0, c.CutAfter-passed)], true
		}
		if _, werr := to.Write(b); werr != nil {
			l.end()
			return
		}
		passed += int64(len(b))
		switch {
		case cut:
			finish(to)
			_ = from.Close()
			return
		case err == io.EOF:
			finish(to)
			return
		case err != nil:
			l.end()
			return
		}
	}
}

// hold waits until n bytes may pass, and returns the conditions under which they do. It returns false if the link
// has ended.
func (p *Proxy) hold(l *link, n int, reply bool) (Conditions, bool) {
	c, changed := p.conditions()
	wait := c.Latency
	if c.Rate > 0 {
		wait += time.Duration(n) * time.Second / time.Duration(c.Rate)
	}
	if wait > 0 {
		t := time.NewTimer(wait)
		defer t.Stop()
		select {
		case <-t.C:
		case <-changed:
		case <-l.gone:
			return c, false
		}
	}
	for {
		c, changed = p.conditions()
		if !c.Silent && !(c.Mute && reply) && !(c.Deaf && !reply) && !l.frozen.Load() {
			return c, true
		}
		select {
		case <-changed:
		case <-l.gone:
			return c, false
		}
	}
}
