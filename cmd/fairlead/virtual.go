package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"time"

	"github.com/spf13/cobra"

	"fairlead.dev/internal/controlplane"
	"fairlead.dev/internal/memnet"
	"fairlead.dev/internal/virtualclock"
)

// processClock is the clock of a control plane.
type processClock interface {
	// Real returns the real time.
	Real() time.Time
	// serve is called once the control plane has started.
	serve()
	// release is called before the control plane stops.
	release()
}

// realTime is the clock of the machine.
type realTime struct{}

func (realTime) Real() time.Time { return time.Now() }
func (realTime) serve()          {}
func (realTime) release()        {}

// virtualTime is a clock that stands still after the start.
type virtualTime struct {
	*virtualclock.Clock
	listener net.Listener
	network  *memnet.Network
}

func (v virtualTime) serve()   { v.Serve(v.listener, v.network) }
func (v virtualTime) release() { v.Release() }

// checkClock returns an error for a wrong --clock, and for flags that a virtual clock excludes.
func (f *serveFlags) checkClock() error {
	switch f.clock {
	case "real":
		return nil
	case "virtual":
	default:
		return fmt.Errorf("--clock=%s: want real or virtual", f.clock)
	}
	switch {
	case !f.options.InMemory || len(f.options.Etcd.Servers) > 0:
		return errors.New("--clock=virtual needs --in-memory: a store on disk or in etcd would go back in time at the next start")
	case f.options.EtcdListen != "":
		return errors.New("--clock=virtual excludes --etcd-listen")
	case f.otlp.endpoint != "":
		return errors.New("--clock=virtual excludes --otlp-endpoint")
	case f.stdin:
		return errors.New("--clock=virtual excludes --stdin")
	case f.hosts:
		return errors.New("--clock=virtual excludes --clusters")
	}
	return nil
}

// serveVirtual runs a control plane on a virtual clock until ctx ends or a part of it fails.
func serveVirtual(ctx context.Context, cmd *cobra.Command, f serveFlags) error {
	listener, err := controlplane.Listen(f.options.Listen)
	if err != nil {
		return err
	}
	defer listener.Close()
	return virtualclock.Run(ctx, func(ctx context.Context, clock *virtualclock.Clock) error {
		v := virtualTime{clock, listener, new(memnet.Network)}
		f.options.Listen, f.options.Network, f.options.VirtualTime, f.options.Clock = listener.Addr().String(), v.network, true, clock
		return f.run(ctx, cmd, v)
	})
}
