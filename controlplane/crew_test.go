package controlplane_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"

	"fairlead.dev/controller/certificates"
	"fairlead.dev/controlplane"

	"k8s.io/client-go/rest"
)

// A crew is a process of controllers on a wire of its own, which can be cut at a write, as
// by a kill, and can hold back what watches tell.
type crew struct {
	base http.RoundTripper
	ns   string // whose writes count
	stop context.CancelFunc
	done chan error
	dead chan struct{} // closed when it was killed

	mu    sync.Mutex
	steps int  // writes until it is killed; below 1 it never is
	after bool // whether the server still gets the last write
	held  map[string]chan struct{}
}

// startCrew runs controllers until the test or stop ends them. It is killed at the given
// write to ns; 0 is never.
func startCrew(t *testing.T, config *rest.Config, ns string, steps int, after bool, controllers ...string) *crew {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	c := &crew{ns: ns, stop: cancel, done: make(chan error, 1), dead: make(chan struct{}), steps: steps, after: after, held: map[string]chan struct{}{}}
	config = rest.CopyConfig(config)
	config.Wrap(func(rt http.RoundTripper) http.RoundTripper { c.base = rt; return c })
	go func() { c.done <- controlplane.RunControllers(ctx, config, controllers, certificates.Options{}, nil) }()
	t.Cleanup(c.end)
	return c
}

// end waits until nothing of the crew runs or is under way.
func (c *crew) end() {
	c.stop()
	if err, more := <-c.done; more {
		close(c.done)
		_ = err // one who is killed may say anything
	}
}

var errKilled = errors.New("killed")

func (c *crew) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.Method == http.MethodGet {
		resp, err := c.base.RoundTrip(r)
		if err == nil && r.URL.Query().Get("watch") != "" {
			path := strings.Split(r.URL.Path, "/")
			resp.Body = &heldBody{ReadCloser: resp.Body, crew: c, resource: path[len(path)-1], closed: make(chan struct{})}
		}
		return resp, err
	}
	killed, send := c.step(r)
	if !send {
		return nil, errKilled
	}
	// What was sent is answered before the crew has ended, so that nothing of it comes later.
	resp, err := c.base.RoundTrip(r.WithContext(context.WithoutCancel(r.Context())))
	if !killed {
		return resp, err
	}
	if err == nil {
		io.Copy(io.Discard, resp.Body)
		resp.Body.Close()
	}
	c.kill()
	return nil, errKilled
}

// step counts a write.
func (c *crew) step(r *http.Request) (last, send bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	select {
	case <-c.dead:
		return true, false
	default:
	}
	if c.steps < 1 || !strings.Contains(r.URL.Path, "/namespaces/"+c.ns+"/") || strings.HasSuffix(r.URL.Path, "/events") {
		return false, true
	}
	if c.steps--; c.steps > 0 {
		return false, true
	}
	c.steps = -1
	if !c.after {
		close(c.dead)
	}
	return true, c.after
}

func (c *crew) kill() {
	c.mu.Lock()
	defer c.mu.Unlock()
	close(c.dead)
}

// hold keeps back what watches of a resource bring, until release.
func (c *crew) hold(resource string) (release func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	held := make(chan struct{})
	c.held[resource] = held
	return sync.OnceFunc(func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		delete(c.held, resource)
		close(held)
	})
}

// heldBody is a watch's stream.
type heldBody struct {
	io.ReadCloser
	crew     *crew
	resource string
	once     sync.Once
	closed   chan struct{}
}

func (b *heldBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	b.crew.mu.Lock()
	held := b.crew.held[b.resource]
	b.crew.mu.Unlock()
	if held != nil {
		select {
		case <-held:
		case <-b.closed:
		}
	}
	return n, err
}

func (b *heldBody) Close() error {
	b.once.Do(func() { close(b.closed) })
	return b.ReadCloser.Close()
}
