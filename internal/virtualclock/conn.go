package virtualclock

import (
	"context"
	"net"
)

// chunk is how many bytes of one direction of a connection are on their way at most.
const chunk = 32 << 10

// conn is a connection of a client. Its outer side is its socket, its inner side a pipe in the bubble.
type conn struct {
	outer   net.Conn
	address string // of the inner listener
	// These channels are made outside of the bubble and have room for each value that is sent: no sender waits.
	taken chan struct{} // the inner side has taken the last chunk
	out   chan []byte   // chunks for the client; closed at the end

	// These channels belong to the bubble. The gateway sends, and does not wait either.
	in     chan []byte   // chunks of the client; closed at the end
	credit chan struct{} // the outer side has taken the last chunk
}

func newConn(outer net.Conn, address string) *conn {
	return &conn{outer: outer, address: address, taken: make(chan struct{}, 1), out: make(chan []byte, 1)}
}

// accept passes the bytes of the socket to the gateway until the client closes it.
func (c *conn) accept(events chan<- event) {
	events <- event{conn: c, open: true}
	go c.send(events)
	buf := make([]byte, chunk)
	for {
		n, err := c.outer.Read(buf)
		if n > 0 {
			events <- event{conn: c, data: buf[:n]}
			<-c.taken
		}
		if err != nil {
			events <- event{conn: c, eof: true}
			return
		}
	}
}

// send writes the bytes for the client to the socket.
func (c *conn) send(events chan<- event) {
	for b := range c.out {
		if _, err := c.outer.Write(b); err != nil {
			c.outer.Close() // then accept reports the end; the rest is dropped
		}
		events <- event{conn: c, flushed: true}
	}
	c.outer.Close()
}

// serve connects the inner side, in the bubble.
func (c *conn) serve(g *gateway) {
	inner, err := g.network.Dial(context.Background(), "tcp", c.address)
	if err != nil {
		close(c.out)
		for range c.in {
			c.taken <- struct{}{}
		}
		return
	}
	go c.receive(inner, g)
	for b := range c.in {
		_, _ = inner.Write(b) // fails only once the server has closed the connection, which receive sees
		c.taken <- struct{}{}
	}
	inner.Close()
}

// receive passes the bytes of the server to the outer side until the server closes the connection.
func (c *conn) receive(inner net.Conn, g *gateway) {
	defer close(c.out)
	buf := make([]byte, chunk)
	for {
		n, err := inner.Read(buf)
		if n > 0 {
			g.unflushed.Add(1)
			c.out <- buf[:n]
			g.active()
			<-c.credit
		}
		if err != nil {
			return
		}
	}
}
