package main

import (
	"log/slog"
	"net"
	"sync"

	"fairlead.dev/internal/connections"
)

// openPort is a listening address that outlives the servers on it. Connections that come while there is no server wait for
// the next one, so that no other program gets the port, and clients see a delay in place of a refusal.
type openPort struct {
	net.Listener
	accepted chan net.Conn
	closed   chan struct{}
	once     sync.Once
	// ended is closed when the port accepts no more connections, for the reason err.
	ended chan struct{}
	err   error
}

func newOpenPort(l net.Listener) *openPort {
	p := &openPort{Listener: connections.Patient(l, slog.Default()), accepted: make(chan net.Conn), closed: make(chan struct{}), ended: make(chan struct{})}
	go p.run()
	return p
}

// run accepts connections until Close.
func (p *openPort) run() {
	defer close(p.ended)
	for {
		c, err := p.Listener.Accept()
		if err != nil {
			p.err = err
			return
		}
		select {
		case p.accepted <- c:
		case <-p.closed:
			c.Close()
		}
	}
}

// Close implements net.Listener.
func (p *openPort) Close() error {
	p.once.Do(func() { close(p.closed) })
	return p.Listener.Close()
}

// lease returns a listener for one server, which may close it.
func (p *openPort) lease() net.Listener { return &portLease{port: p, closed: make(chan struct{})} }

// portLease is the listener of one server on a port.
type portLease struct {
	port   *openPort
	closed chan struct{}
	once   sync.Once
}

// Accept implements net.Listener.
func (l *portLease) Accept() (net.Conn, error) {
	select {
	case <-l.closed:
		return nil, net.ErrClosed
	case <-l.port.ended:
		return nil, l.port.err
	case c := <-l.port.accepted:
		return c, nil
	}
}

// Close implements net.Listener. The port stays open.
func (l *portLease) Close() error {
	l.once.Do(func() { close(l.closed) })
	return nil
}

// Addr implements net.Listener.
func (l *portLease) Addr() net.Addr { return l.port.Addr() }
