// Package testenv gives a Go test a whole control plane of its own: store, API server,
// controllers, scheduler and simulated nodes, in the test's process, ready in milliseconds
// and removed with the test. Through its Config a test is like any other Kubernetes client.
//
//	func TestOperator(t *testing.T) {
//		env := testenv.Start(t, testenv.Options{})
//		mgr, err := ctrl.NewManager(env.Config(), ctrl.Options{})
//		...
//	}
package testenv

import (
	"net"
	"testing"

	"fairlead.dev/client"
	"fairlead.dev/internal/controlplane"
	"fairlead.dev/internal/memnet"
	"fairlead.dev/internal/node/kwok"
	"fairlead.dev/internal/server/faults"
	"fairlead.dev/scheduler"
	"k8s.io/client-go/rest"
)

// Options for Start. The zero value runs everything, with three nodes, in memory.
type Options struct {
	// Controllers to run, as the flag --controllers reads them; nil is all.
	Controllers []string
	// NoScheduler leaves the scheduler out.
	NoScheduler bool
	// Scheduling configures the scheduler, with profiles and plugins of your own for
	// example.
	Scheduling scheduler.Options
	// Nodes is the number of simulated nodes; 0 is three, below 0 none.
	Nodes int
	// Definitions define the kubelets' answers: logs, exec and so on.
	Definitions *kwok.Definitions
	// Kinds of theirs are objects of the server as well: kwok.Kinds("Stage").
	Kinds []kwok.Definition
	// DataDir keeps the data there, for tests of restarts; "" is memory.
	DataDir string
	// Bubble runs the control plane in a bubble of testing/synctest, whose clock jumps over the time in which all
	// goroutines wait: it has no sockets, Config connects over pipes in memory, and work that is done at intervals
	// is done rarely (Leases of nodes are valid for an hour, for example). Start it in the bubble, in memory.
	Bubble bool
	// CBOR serves it besides the other encodings, as kube-apiserver does with its gate
	// CBORServingAndStorage open.
	CBOR bool
	// Limits are the API server's limits on requests; see controlplane.Limits.
	Limits controlplane.Limits
	// Faults injects faults into the API server: set it to faults.New(), and call Add.
	Faults *faults.Set
}

// Env is a running control plane.
type Env struct {
	cp      *controlplane.ControlPlane
	network *memnet.Network // of a bubble, otherwise nil
}

// Start runs a control plane until the test ends. It fails the test if it can't.
func Start(t testing.TB, o Options) *Env {
	t.Helper()
	if o.Controllers == nil {
		o.Controllers = []string{"*"}
	}
	if o.Nodes == 0 {
		o.Nodes = 3
	}
	dir := o.DataDir
	if dir == "" {
		dir = t.TempDir()
	}
	e := &Env{}
	if o.Bubble {
		e.network = new(memnet.Network)
	}
	cp, err := controlplane.Start(t.Context(), controlplane.Options{
		Network:     e.network,
		VirtualTime: o.Bubble,
		DataDir:     dir,
		InMemory:    o.DataDir == "",
		Listen:      "127.0.0.1:0",
		Controllers: o.Controllers,
		Scheduler:   !o.NoScheduler,
		Scheduling:  o.Scheduling,
		Nodes:       max(o.Nodes, 0),
		Definitions: o.Definitions,
		Kinds:       o.Kinds,
		CBOR:        o.CBOR,
		Limits:      o.Limits,
		Faults:      o.Faults,
	})
	if err != nil {
		t.Fatal("testenv: ", err)
	}
	e.cp = cp
	t.Cleanup(func() {
		if err := e.Stop(); err != nil {
			t.Error("testenv: ", err)
		}
	})
	return e
}

// Stop ends it before the test does; for tests of restarts.
func (e *Env) Stop() error { return e.cp.Stop() }

// Config is an administrator's access over the socket, for any client library. It
// is the caller's own copy, with no client-side rate limit.
func (e *Env) Config() *rest.Config {
	config := e.cp.Config()
	config.QPS = -1
	return config
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

// KubeconfigPath is a file for programs that want one.
func (e *Env) KubeconfigPath() string { return e.cp.KubeconfigPath() }
