package testenv

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"fairlead.dev/client"
	"fairlead.dev/internal/controlplane"
	"fairlead.dev/internal/memnet"
	"fairlead.dev/internal/node/kwok"
	"fairlead.dev/internal/server/faults"
	"fairlead.dev/trace"
)

// agent names this package in errors and certificates, and userAgent in requests.
const (
	agent     = "testenv"
	userAgent = "fairlead-" + agent
)

// local is the part of an environment that runs in this process.
type local struct {
	// network is that of a bubble, otherwise nil.
	network *memnet.Network
	// end closes ended.
	end func()
	// origin is the base of a fork, and place is that of its control plane.
	origin *Base
	place  controlplane.Place
	// sleeps makes the control plane sleep while it is idle.
	sleeps bool

	// resets guards cp, which Reset replaces, and halt, which stops it.
	resets sync.Mutex
	cp     plane
	halt   func() error
}

// start starts the control plane. An error leaves no goroutine and no file behind.
func (e *Env) start(ctx context.Context, o Options, p plan) (err error) {
	if e.dir, err = os.MkdirTemp("", "fairlead-"); err != nil {
		return err
	}
	options, err := optionsOf(e, o, p)
	if err != nil {
		return errors.Join(err, os.RemoveAll(e.dir))
	}
	cp, err := controlplane.Start(ctx, options)
	if err != nil {
		return errors.Join(err, os.RemoveAll(e.dir))
	}
	e.own(running{cp})
	return nil
}

// own makes a running control plane that of a new environment.
func (e *Env) own(cp plane) {
	ended := make(chan struct{})
	e.ended, e.end = ended, sync.OnceFunc(func() { close(ended) })
	if e.config = cp.Config(); e.network == nil {
		e.kubeconfig = cp.KubeconfigPath()
	}
	e.supervise(cp)
	e.stop = sync.OnceValue(func() error {
		e.end()
		e.resets.Lock()
		defer e.resets.Unlock()
		return errors.Join(e.halt(), os.RemoveAll(e.dir))
	})
}

// supervise ends the environment when the control plane fails. The caller has resets, or the only reference to e.
func (e *Env) supervise(cp plane) {
	running, stop := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() {
		defer close(done)
		_ = cp.Wait(running) // Stop returns the error, too
		if running.Err() == nil {
			e.end()
		}
	}()
	e.cp, e.halt = cp, func() error {
		stop()
		<-done
		return cp.Stop()
	}
}

// optionsOf returns the options of an environment's control plane.
func optionsOf(e *Env, o Options, p plan) (c controlplane.Options, err error) {
	if o.Bubble && o.DataDir != "" {
		return c, errors.New("Options.DataDir is set, but a control plane in a bubble is in memory")
	}
	definitions, err := parseStages(p.stages)
	if err != nil {
		return c, err
	}
	kinds, err := kwok.Kinds(o.EnableCRDs...)
	if err != nil {
		return c, err
	}
	c = controlplane.Options{
		DataDir:     o.DataDir,
		InMemory:    o.DataDir == "",
		Listen:      "127.0.0.1:0",
		VirtualTime: o.Bubble,
		Sleeps:      e.sleeps,
		Controllers: o.Controllers,
		Scheduler:   !o.NoScheduler,
		Scheduling:  o.Scheduling,
		Nodes:       o.Nodes,
		Definitions: definitions,
		Kinds:       kinds,
		CBOR:        o.CBOR,
		Limits:      controlplane.Limits(o.Limits),
		Faults:      faults.New(),
		Trace:       trace.New(trace.Options{}),
		Log:         slog.New(slog.NewTextHandler(p.log, nil)),
		Access:      controlplane.Access{ClientCAFile: filepath.Join(e.dir, "client-ca.crt")},
	}
	if o.Bubble {
		e.network = new(memnet.Network)
		c.Network = e.network
	}
	if c.InMemory {
		c.DataDir = filepath.Join(e.dir, "data")
	}
	if len(c.Controllers) == 0 && !o.NoControllers {
		c.Controllers = []string{"*"}
	}
	if err := controlplane.CheckControllers(c.Controllers); err != nil {
		return c, err
	}
	if c.Nodes == 0 && !o.NoNodes {
		c.Nodes = 3
	}
	return c, os.WriteFile(c.Access.ClientCAFile, p.authority.pem, 0o600)
}

// parseStages returns nil if there are no stages.
func parseStages(all []manifest) (*kwok.Definitions, error) {
	if len(all) == 0 {
		return nil, nil
	}
	var text bytes.Buffer
	for _, m := range all {
		text.WriteString("---\n")
		if err := json.NewEncoder(&text).Encode(m.data); err != nil {
			return nil, err
		}
	}
	return kwok.Parse(text.Bytes())
}

// Listen listens at an address, such as 127.0.0.1:9443, where the API server reaches webhooks and other API servers of
// the test. In a bubble it is an address of the control plane alone.
func (e *Env) Listen(address string) (net.Listener, error) {
	if e.network != nil {
		return e.network.Listen(address)
	}
	return net.Listen("tcp", address)
}

// Client is an administrator's client of this project's own library.
func (e *Env) Client(t testing.TB) *client.Client {
	t.Helper()
	c, err := client.New(e.Config(), client.Options{})
	if err != nil {
		t.Fatal("testenv: ", err)
	}
	return c
}
