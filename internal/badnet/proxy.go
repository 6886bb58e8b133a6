package badnet

import (
	"net"
	"sync"
	"time"
)

// Conditions are network conditions. The zero value is a working network.
type Conditions struct {
	// Latency delays each piece, of up to 32 KiB, in either direction.
	Latency time.Duration
	// Rate is the number of bytes per second in each direction of each connection. Zero is unlimited.
	Rate int
	// Silent makes connections half-open: they stay up, and neither bytes nor their end pass. Bytes sent meanwhile
	// pass when Silent ends.
	Silent bool
	// Deaf is Silent for bytes from clients, Mute for bytes from the server: one direction of the network is lost.
	Deaf, Mute bool
	// Refuse resets new connections as soon as they are accepted.
	Refuse bool
	// CutAfter ends a connection after that many bytes from the server, which truncates a response. Bytes that
	// passed before the condition was set count. Zero disables it.
	CutAfter int64
}

// Proxy forwards connections of clients to one server.
type Proxy struct {
	listener net.Listener
	target   string
	running  sync.WaitGroup

	mu struct {
		sync.Mutex
		now     Conditions
		changed chan struct{} // closed by the next Set
		links   map[*link]struct{}
		closed  bool
	}
}

// New returns a proxy for the server at target (host:port), on a free port of the
// loopback interface.
func New(target string) (*Proxy, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	p := &Proxy{listener: l, target: target}
	p.mu.changed = make(chan struct{})
	p.mu.links = map[*link]struct{}{}
	p.running.Go(p.accept)
	return p, nil
}

// Addr returns the host:port at which clients reach the server through p.
func (p *Proxy) Addr() string { return p.listener.Addr().String() }

// Set replaces the conditions.
func (p *Proxy) Set(c Conditions) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.mu.now = c
	close(p.mu.changed)
	p.mu.changed = make(chan struct{})
}

// Reset ends every open connection with a TCP reset to both sides.
func (p *Proxy) Reset() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for l := range p.mu.links {
		l.end()
	}
}

// Freeze makes the open connections silent for good, like a router that has lost its state: Set does not heal them,
// and new connections are not affected.
func (p *Proxy) Freeze() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for l := range p.mu.links {
		l.frozen.Store(true)
	}
	close(p.mu.changed)
	p.mu.changed = make(chan struct{})
}

// Close ends every connection and the proxy.
func (p *Proxy) Close() {
	p.mu.Lock()
	p.mu.closed = true
	p.mu.Unlock()
	_ = p.listener.Close()
	p.Reset()
	p.running.Wait()
}

func (p *Proxy) conditions() (Conditions, <-chan struct{}) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.mu.now, p.mu.changed
}

func (p *Proxy) accept() {
	for {
		client, err := p.listener.Accept()
		if err != nil {
			return
		}
		if c, _ := p.conditions(); c.Refuse {
			reset(client)
			continue
		}
		server, err := net.Dial("tcp", p.target)
		if err != nil {
			reset(client)
			continue
		}
		p.join(&link{client: client, server: server, gone: make(chan struct{})})
	}
}

// join starts the two directions of l.
func (p *Proxy) join(l *link) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.mu.closed || p.mu.now.Refuse { // changed since it was accepted
		l.end()
		return
	}
	p.mu.links[l] = struct{}{}
	p.running.Go(func() {
		var both sync.WaitGroup
		both.Go(func() { p.pass(l, l.server, l.client, false) })
		both.Go(func() { p.pass(l, l.client, l.server, true) })
		both.Wait()
		l.free()
		p.mu.Lock()
		delete(p.mu.links, l)
		p.mu.Unlock()
	})
}
