package main

import (
	"io"
	"net"
	"os"
	"sync/atomic"
)

// stdio is standard input and output.
type stdio struct{}

func (stdio) Read(b []byte) (int, error)  { return os.Stdin.Read(b) }
func (stdio) Write(b []byte) (int, error) { return os.Stdout.Write(b) }
func (stdio) Close() error                { return nil }

// pipedIO is a listener with one connection, of standard input and output. It is the way of both into the bubble of a
// virtual clock, in which a read of a file would stop the clock.
type pipedIO struct {
	address  net.Addr
	accepted atomic.Bool
	// closed is closed with the connection, when all that was written to it has been written to standard output.
	closed chan struct{}
}

// Accept implements net.Listener. The second call waits for the end of the process.
func (p *pipedIO) Accept() (net.Conn, error) {
	if p.accepted.Swap(true) {
		select {}
	}
	return &pipedConn{piped: p}, nil
}

// Addr implements net.Listener.
func (p *pipedIO) Addr() net.Addr { return p.address }

// Close implements net.Listener.
func (p *pipedIO) Close() error { return nil }

// pipedConn has the methods of a connection that the gateway calls.
type pipedConn struct {
	net.Conn
	stdio
	piped *pipedIO
	ended bool // standard input has
}

// Read reads standard input. It returns the command stop at the end: the end of a connection would cut off responses.
func (c *pipedConn) Read(b []byte) (int, error) {
	if c.ended {
		<-c.piped.closed
		return 0, io.EOF
	}
	n, err := c.stdio.Read(b)
	if err != nil {
		c.ended = true
		return copy(b, "\nstop\n"), nil
	}
	return n, nil
}

// Write writes standard output.
func (c *pipedConn) Write(b []byte) (int, error) { return c.stdio.Write(b) }

// Close reports that all responses have been written.
func (c *pipedConn) Close() error {
	close(c.piped.closed)
	return nil
}
