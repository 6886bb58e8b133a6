package memnet

import (
	"context"
	"net"
	"sync"
)

// Listener is a listener whose connections are pipes in memory. Make it with Listen.
type Listener struct {
	addr    net.Addr
	waiting chan net.Conn
	closed  chan struct{}
	close   func()
}

// Listen returns a listener with an address, which only names it.
func Listen(addr net.Addr) *Listener {
	l := &Listener{addr: addr, waiting: make(chan net.Conn), closed: make(chan struct{})}
	l.close = sync.OnceFunc(func() { close(l.closed) })
	return l
}

// Dial connects to the listener. The accepting side sees the address at as its own, and from as that of the client. It
// returns net.ErrClosed, wrapped, once the listener is closed.
func (l *Listener) Dial(ctx context.Context, at, from net.Addr) (net.Conn, error) {
	ours, theirs := net.Pipe()
	select {
	case l.waiting <- end{Conn: theirs, local: at, remote: from}:
		return end{Conn: ours, local: from, remote: at}, nil
	case <-l.closed:
		return nil, &net.OpError{Op: "dial", Net: at.Network(), Addr: at, Err: net.ErrClosed}
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// Accept returns the next connection, or net.ErrClosed.
func (l *Listener) Accept() (net.Conn, error) {
	select {
	case c := <-l.waiting:
		return c, nil
	case <-l.closed:
		return nil, net.ErrClosed
	}
}

// Close refuses connections from now on. Those that were accepted stay open.
func (l *Listener) Close() error {
	l.close()
	return nil
}

// Addr returns the address that Listen was given.
func (l *Listener) Addr() net.Addr { return l.addr }

// end is one end of a pipe, with the addresses of both.
type end struct {
	net.Conn
	local, remote net.Addr
}

func (e end) LocalAddr() net.Addr  { return e.local }
func (e end) RemoteAddr() net.Addr { return e.remote }
