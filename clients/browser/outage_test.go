package browser

import (
	"io"
	"net"
	"strings"
	"sync"
	"testing"

	"github.com/chromedp/chromedp"
)

// outage: when the server does not answer the page reports it and keeps its data; when the
// server answers again it continues, with the events of the meantime.
func (b *fixture) outage(t *testing.T) {
	way := newRelay(t, strings.TrimPrefix(b.cp.URL(), "https://"))
	b.do(t, chromedp.Navigate("about:blank"), chromedp.Navigate(strings.Replace(b.cp.PageURL(), b.cp.URL(), "https://"+way.Addr().String(), 1)))
	b.until(t, `location.pathname === '/ui/' && document.querySelector('.health.well, .health.ill') && document.querySelector('.pulse.live')`)
	b.open(t, "#/events")
	way.cut(true)
	b.until(t, `!document.querySelector('#trouble').hidden && document.querySelector('#trouble').textContent.includes('does not answer')`)
	b.until(t, `document.querySelectorAll('.list .row.event').length > 10 && document.querySelector('.pulse.again')`)
	b.createConfigMap(t, "while-away")
	way.cut(false)
	b.do(t, evaluate(`document.querySelector('#trouble button')?.click()`))
	b.until(t, `document.querySelector('#trouble').hidden && document.querySelector('.pulse.live') && document.querySelector('.list').textContent.includes('while-away')`)
}

// relay is a TCP proxy to a server, whose connections can be cut.
type relay struct {
	net.Listener
	to string
	mu struct {
		sync.Mutex
		cut  bool
		open map[net.Conn]bool
	}
}

func newRelay(t *testing.T, to string) *relay {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	r := &relay{Listener: l, to: to}
	r.mu.open = map[net.Conn]bool{}
	var running sync.WaitGroup
	running.Go(func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			running.Go(func() { r.pass(c) })
		}
	})
	t.Cleanup(func() {
		l.Close()
		r.cut(true)
		running.Wait()
	})
	return r
}

// cut closes all connections, and refuses new ones until cut(false).
func (r *relay) cut(on bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.mu.cut = on
	for c := range r.mu.open {
		if on {
			c.Close()
		}
	}
}

// opened reports whether a connection may continue; cut closes it later.
func (r *relay) opened(c net.Conn) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.mu.cut {
		c.Close()
		return false
	}
	r.mu.open[c] = true
	return true
}

func (r *relay) pass(from net.Conn) {
	if !r.opened(from) {
		return
	}
	to, err := net.Dial("tcp", r.to)
	if err != nil || !r.opened(to) {
		from.Close()
		return
	}
	var ways sync.WaitGroup
	ways.Go(func() { io.Copy(to, from); to.Close() })
	ways.Go(func() { io.Copy(from, to); from.Close() })
	ways.Wait()
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.mu.open, from)
	delete(r.mu.open, to)
}
