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

// A crew is a process of controllers on a wire of its own, which can be cut at a write, as
// by a kill, and can hold back what watches tell.
type crew struct {
	base http.RoundTripper
	stop context.CancelFunc
	done chan error
	dead chan struct{} // closed when it was killed

	mu   sync.Mutex
	fate fate
	held map[string]chan struct{}
}

// A fate is the write at which a crew is killed.
type fate struct {
	step  int    // the write, from 1; 0 is never
	in    string // what the path of a write has in it that counts
	after bool   // the server still gets that write, and only its answer is lost
}

// startCrew runs controllers until the test or end ends them, or their fate; with elect
// when their turn comes.
func startCrew(t *testing.T, config *rest.Config, controllers []string, fate fate, elect *leader.Timing) *crew {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	c := &crew{fate: fate, stop: cancel, done: make(chan error, 1), dead: make(chan struct{}), held: map[string]chan struct{}{}}
	config = rest.CopyConfig(config)
	config.Wrap(func(rt http.RoundTripper) http.RoundTripper { c.base = rt; return c })
	go func() { c.done <- controlplane.RunControllers(ctx, config, controllers, controlplane.Signing{}, elect) }()
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
	if c.fate.step < 1 || !strings.Contains(r.URL.Path+"/", c.fate.in) || strings.HasSuffix(r.URL.Path, "/events") {
		return false, true
	}
	if c.fate.step--; c.fate.step > 0 {
		return false, true
	}
	if !c.fate.after {
		close(c.dead)
	}
	return true, c.fate.after
}

// doom sets the fate of a crew that is at work.
func (c *crew) doom(fate fate) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.fate = fate
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
