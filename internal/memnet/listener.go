package controlplane

import (
	"context"
	"net"
	"sync"
)

// pipes is a listener whose connections are pipes in memory.
type pipes struct {
	waiting chan net.Conn
	closed  chan struct{}
	close   func()
}

func newPipes() *pipes {
	p := &pipes{waiting: make(chan net.Conn), closed: make(chan struct{})}
	p.close = sync.OnceFunc(func() { close(p.closed) })
	return p
}

// Dial connects to the listener of an address; the accepting side sees that address.
func (p *pipes) Dial(ctx context.Context, address string) (net.Conn, error) {
	ours, theirs := net.Pipe()
	select {
	case p.waiting <- end{theirs, pipeAddr(address)}:
		return ours, nil
	case <-p.closed:
		return nil, &net.OpError{Op: "dial", Net: "pipe", Err: net.ErrClosed}
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

func (p *pipes) Accept() (net.Conn, error) {
	select {
	case c := <-p.waiting:
		return c, nil
	case <-p.closed:
		return nil, net.ErrClosed
	}
}

func (p *pipes) Close() error {
	p.close()
	return nil
}

func (p *pipes) Addr() net.Addr { return pipeAddr("pipe") }

// end is the accepting end of a pipe.
type end struct {
	net.Conn
	at pipeAddr
}

func (e end) LocalAddr() net.Addr { return e.at }

// pipeAddr is the address that a pipe stands for.
type pipeAddr string

func (pipeAddr) Network() string  { return "pipe" }
func (a pipeAddr) String() string { return string(a) }
