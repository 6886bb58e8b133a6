package etcdserver

import (
	"crypto/tls"
	"net"
	"slices"
	"sync"
	"time"

	"fairlead.dev/internal/connections"
)

// handshakePatience bounds the time in which a connection must show its protocol.
const handshakePatience = 10 * time.Second

// split accepts l's connections and gives each to the server of its protocol. In plain text the
// firstError bytes tell: HTTP/2 begins with "PRI", and only gRPC is spoken over it. With TLS the offered
// protocols tell: gRPC clients offer only h2. A connection without offers is judged by its first
// bytes too.
func (s *Server) split(l net.Listener, rpc, web *connListener) error {
	stop := make(chan struct{})
	defer close(stop)
	go func() {
		select {
		case <-s.closed:
		case <-stop:
		}
		l.Close()
	}()
	config := serverTLS(s.config.TLS)
	patient := connections.Patient(l, s.config.Log)
	for {
		c, err := patient.Accept()
		if err != nil {
			return err
		}
		go func() {
			c.SetDeadline(time.Now().Add(handshakePatience))
			side, c, err := chooseProtocol(c, config, rpc, web)
			if err != nil {
				s.config.Log.Debug("etcd connection refused", "from", c.RemoteAddr(), "err", err)
				c.Close()
				return
			}
			c.SetDeadline(time.Time{})
			side.put(c)
		}()
	}
}

func chooseProtocol(c net.Conn, config *tls.Config, rpc, web *connListener) (*connListener, net.Conn, error) {
	if config != nil {
		t := tls.Server(c, config)
		if err := t.Handshake(); err != nil {
			return nil, c, err
		}
		switch t.ConnectionState().NegotiatedProtocol {
		case "http/1.1":
			return web, t, nil
		case "h2":
			return rpc, t, nil
		}
		c = t
	}
	var first [3]byte
	for n := 0; n < len(first); {
		m, err := c.Read(first[n:])
		if err != nil {
			return nil, c, err
		}
		n += m
	}
	c = &peekedConn{Conn: c, first: first[:]}
	if string(first[:]) == "PRI" {
		return rpc, c, nil
	}
	return web, c, nil
}

// serverTLS lets clients that can speak HTTP/1.1 do so.
func serverTLS(c *tls.Config) *tls.Config {
	if c == nil {
		return nil
	}
	web, rpc := c.Clone(), c.Clone()
	web.NextProtos, rpc.NextProtos = []string{"http/1.1"}, []string{"h2"}
	inner := c.GetConfigForClient
	rpc.GetConfigForClient = func(hello *tls.ClientHelloInfo) (*tls.Config, error) {
		protos := rpc.NextProtos
		if len(hello.SupportedProtos) == 0 || slices.Contains(hello.SupportedProtos, "http/1.1") {
			protos = web.NextProtos
		}
		if inner != nil {
			if own, err := inner(hello); own != nil || err != nil {
				if own != nil {
					own = own.Clone()
					own.NextProtos = protos
				}
				return own, err
			}
		}
		if &protos[0] == &web.NextProtos[0] {
			return web, nil
		}
		return nil, nil
	}
	return rpc
}

// peekedConn is a connection whose first bytes have been read already.
type peekedConn struct {
	net.Conn
	first []byte
}

func (p *peekedConn) Read(b []byte) (int, error) {
	if len(p.first) == 0 {
		return p.Conn.Read(b)
	}
	n := copy(b, p.first)
	p.first = p.first[n:]
	return n, nil
}

// connListener is a listener of connections that were accepted elsewhere.
type connListener struct {
	addr   net.Addr
	conns  chan net.Conn
	closed chan struct{}
	once   sync.Once
}

func newConnListener(addr net.Addr) *connListener {
	return &connListener{addr: addr, conns: make(chan net.Conn), closed: make(chan struct{})}
}

func (s *connListener) put(c net.Conn) {
	select {
	case s.conns <- c:
	case <-s.closed:
		c.Close()
	}
}

func (s *connListener) Accept() (net.Conn, error) {
	select {
	case c := <-s.conns:
		return c, nil
	case <-s.closed:
		return nil, net.ErrClosed
	}
}

func (s *connListener) Close() error {
	s.once.Do(func() { close(s.closed) })
	return nil
}

func (s *connListener) Addr() net.Addr { return s.addr }
