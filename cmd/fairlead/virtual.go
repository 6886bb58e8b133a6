package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"time"

	"github.com/spf13/cobra"

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
	// stdio returns standard input and output, after serve.
	stdio() (io.ReadWriteCloser, error)
}

// realTime is the clock of the machine.
type realTime struct{}

func (realTime) Real() time.Time { return time.Now() }
func (realTime) serve()          {}
func (realTime) release()        {}

func (realTime) stdio() (io.ReadWriteCloser, error) { return stdio{}, nil }

// virtualTime is a clock that stands still after the start.
type virtualTime struct {
	*virtualclock.Clock
	listener net.Listener
	network  *memnet.Network
	// input and piped are the two sides of standard input and output; nil without --stdin.
	input net.Listener
	piped *pipedIO
}

func (v virtualTime) serve() {
	if v.piped == nil {
		v.Serve(v.network, v.listener)
	} else {
		v.Serve(v.network, v.listener, v.piped)
	}
}

func (v virtualTime) release() { v.Release() }

func (v virtualTime) stdio() (io.ReadWriteCloser, error) { return v.input.Accept() }

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
	case f.options.DebugSocket.Path != "":
		return errors.New("--clock=virtual excludes --debug-socket-path")
	case f.otlp.endpoint != "":
		return errors.New("--clock=virtual excludes --otlp-endpoint")
	case f.options.NodeGroups != nil:
		return errors.New("--clock=virtual excludes --node-groups: an autoscaler lives in real time")
	}
	return nil
}

// serveVirtual runs a control plane on a virtual clock until ctx ends or a part of it fails.
func serveVirtual(ctx context.Context, cmd *cobra.Command, f serveFlags) error {
	listener, err := f.listen()
	if err != nil {
		return err
	}
	defer listener.Close()
	piped := &pipedIO{closed: make(chan struct{})}
	err = virtualclock.Run(ctx, func(ctx context.Context, clock *virtualclock.Clock) (err error) {
		v := virtualTime{Clock: clock, listener: listener, network: new(memnet.Network)}
		if f.stdin {
			if v.input, err = v.network.Listen("127.0.0.1:0"); err != nil {
				return err
			}
			defer v.input.Close()
			piped.address, v.piped = v.input.Addr(), piped
		}
		f.options.Listen, f.options.Network, f.options.VirtualTime, f.options.Clock = listener.Addr().String(), v.network, true, clock
		return f.run(ctx, cmd, v)
	})
	if piped.accepted.Load() {
		<-piped.closed
	}
	return err
}
