package controlplane_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"

	"fairlead.dev/client/leader"
	"fairlead.dev/internal/controlplane"

	"k8s.io/client-go/rest"
)

// A manager runs controllers like a process of its own. Its transport can fail at a write,
// as if the process was killed, and can delay the events of watches.
type manager struct {
	base http.RoundTripper
	stop context.CancelFunc
	done chan error
	dead chan struct{} // closed when it was killed

	mu   sync.Mutex
	kill killPoint
	held map[string]chan struct{}
}

// A killPoint is the write at which a manager is killed.
type killPoint struct {
	step  int    // the number of the write, from 1; 0 is never
	in    string // only writes whose path contains it count
	after bool   // the server gets that write, and only its response is lost
}

// startManager runs controllers until the end of the test, a call of end, or the kill
// point. With elect they wait for the lease.
func startManager(t *testing.T, config *rest.Config, controllers []string, kill killPoint, elect *leader.Timing) *manager {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	c := &manager{kill: kill, stop: cancel, done: make(chan error, 1), dead: make(chan struct{}), held: map[string]chan struct{}{}}
	config = rest.CopyConfig(config)
	config.Wrap(func(rt http.RoundTripper) http.RoundTripper { c.base = rt; return c })
	go func() {
		c.done <- controlplane.RunControllers(ctx, config, controlplane.ControllerOptions{List: controllers}, controlplane.Apart{Elect: elect})
	}()
	t.Cleanup(c.end)
	return c
}

// end stops the manager, and waits for its goroutines and requests.
func (c *manager) end() {
	c.stop()
	if err, more := <-c.done; more {
		close(c.done)
		_ = err // a killed manager may return any error
	}
}

var errKilled = errors.New("killed")

func (c *manager) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.Method == http.MethodGet {
		resp, err := c.base.RoundTrip(r)
		if err == nil && r.URL.Query().Get("watch") != "" {
			path := strings.Split(r.URL.Path, "/")
			resp.Body = &heldBody{ReadCloser: resp.Body, manager: c, resource: path[len(path)-1], closed: make(chan struct{})}
		}
		return resp, err
	}
	killed, send := c.step(r)
	if !send {
		return nil, errKilled
	}
	// The manager ends only after the responses to its requests, so that no write of it is late.
	resp, err := c.base.RoundTrip(r.WithContext(context.WithoutCancel(r.Context())))
	if !killed {
		return resp, err
	}
	if err == nil {
		io.Copy(io.Discard, resp.Body)
		resp.Body.Close()
	}
	c.die()
	return nil, errKilled
}

// step counts a write.
func (c *manager) step(r *http.Request) (last, send bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	select {
	case <-c.dead:
		return true, false
	default:
	}
	if c.kill.step < 1 || !strings.Contains(r.URL.Path+"/", c.kill.in) || strings.HasSuffix(r.URL.Path, "/events") {
		return false, true
	}
	if c.kill.step--; c.kill.step > 0 {
		return false, true
	}
	if !c.kill.after {
		close(c.dead)
	}
	return true, c.kill.after
}

// killAt sets the killPoint of a manager that is at work.
func (c *manager) killAt(kill killPoint) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.kill = kill
}

func (c *manager) die() {
	c.mu.Lock()
	defer c.mu.Unlock()
	close(c.dead)
}

// hold delays the events of a resource's watches until release.
func (c *manager) hold(resource string) (release func()) {
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

// heldBody is the response body of a watch, whose events hold can delay.
type heldBody struct {
	io.ReadCloser
	manager  *manager
	resource string
	once     sync.Once
	closed   chan struct{}
}

func (b *heldBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	b.manager.mu.Lock()
	held := b.manager.held[b.resource]
	b.manager.mu.Unlock()
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
