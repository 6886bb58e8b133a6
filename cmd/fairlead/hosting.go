package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"sync/atomic"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"fairlead.dev/internal/controlplane"
	"fairlead.dev/internal/controlplane/kubeconfig"
	"fairlead.dev/internal/instance"
)

// hosting is the instance that this process runs.
type hosting struct {
	held *instance.Held
	// report tells the process that started this one in the background about its start; nil in the foreground.
	report func(startReport)
	// record is that of the ready control plane; nil until then.
	record *instance.Record
	// port is that of the server; nil in virtual time.
	port *openPort
	// current is the control plane that serves; nil before the start.
	current atomic.Pointer[controlplane.ControlPlane]
	// asked has the changes that other processes ask for; nil in virtual time, whose bubble may not wait for a channel of the
	// outside: its clock would stand still.
	asked chan change
}

// serveInstance runs a control plane that later commands find, in the foreground or in the background.
func (f serveFlags) serveInstance(cmd *cobra.Command) (err error) {
	in, err := f.instance(cmd.Flags())
	if err != nil {
		return err
	}
	f.name, f.options.Context = in.Name, in.Context()
	if f.name != "" {
		f.options.DataDir = in.DataDir
	}
	if err := controlplane.CheckDataDir(in.DataDir); err != nil {
		return err
	}
	f.runs = &hosting{}
	if f.clock == "real" {
		f.runs.asked = make(chan change)
	}
	if f.detach {
		report, inBackground := startReporter()
		if !inBackground {
			return detach(cmd, f, in)
		}
		f.runs.report = report
		defer func() {
			if err != nil {
				report(startReport{Error: message(err)})
			}
		}()
	}
	ctx, stop := context.WithCancel(cmd.Context())
	defer stop()
	if f.runs.held, err = in.Hold(); err != nil {
		return inUse(in, err)
	}
	err = f.runs.held.Listen(f.commands(stop))
	if err == nil {
		err = f.serveOnPort(ctx, cmd)
	}
	return errors.Join(err, f.runs.close(err))
}

// serveOnPort opens the port of a server in real time, and runs the control plane.
func (f serveFlags) serveOnPort(ctx context.Context, cmd *cobra.Command) error {
	if f.clock == "real" {
		l, err := f.listen()
		if err != nil {
			return err
		}
		f.runs.port = newOpenPort(l)
		defer f.runs.port.Close()
	}
	return f.runOnClock(ctx, cmd)
}

// instance returns the instance of the flags: that of --name, of --data-dir, of the environment, or the one of this directory.
func (f serveFlags) instance(flags *pflag.FlagSet) (instance.Instance, error) {
	name := f.name
	if flags.Changed("data-dir") {
		if name != "" {
			return instance.Instance{}, usageError{errors.New("--name and --data-dir exclude each other: the data of a name is in your state directory")}
		}
		return instance.At(f.options.DataDir)
	}
	if name == "" && flags.Lookup("name") != nil { // server has no names
		name = os.Getenv(nameVariable)
	}
	if name != "" {
		return namedInstance(name)
	}
	return instance.At(f.options.DataDir)
}

// listen opens the port of --listen. Without it, the server of a name gets its former port, if that is free.
func (f serveFlags) listen() (net.Listener, error) {
	if f.options.Listen == "" && f.name != "" {
		if former := formerAddress(f.runs.held.Instance); former != "" {
			if l, err := net.Listen("tcp", former); err == nil {
				return l, nil
			}
		}
	}
	return controlplane.Listen(f.options.Listen)
}

// ready records the control plane for later commands. An instance that cannot be registered works all the same.
func (h *hosting) ready(p *progress, f serveFlags, cp *controlplane.ControlPlane, path, merged string) error {
	h.record = &instance.Record{
		Server: cp.URL(), Version: controlplane.Version(), PID: os.Getpid(), Started: time.Now(),
		InMemory: f.options.InMemory, Etcd: f.options.Etcd.Servers, Nodes: f.options.Nodes,
		Kubeconfig: path, Merged: merged, Detached: f.detach,
	}
	if err := h.held.Ready(*h.record); err != nil {
		return err
	}
	h.current.Store(cp)
	if err := h.held.Register(); err != nil && !errors.Is(err, instance.ErrNoHome) {
		p.warn("Instance", "fairlead list does not show it: "+err.Error())
	}
	return nil
}

// close gives up the instance. Of one in memory nothing remains, unless it has failed in the background, and its log may have
// the reason.
func (h *hosting) close(failed error) error {
	remains := true
	if h.record != nil && h.record.InMemory {
		remains = failed != nil && h.record.Detached
		if err := removeClientFiles(h.held.Instance, *h.record); err != nil {
			return errors.Join(err, h.held.Close(remains))
		}
	}
	return h.held.Close(remains)
}

// removeClientFiles removes the files for clients of an instance that has ended for good, and its context in the user's
// kubeconfig.
func removeClientFiles(in instance.Instance, r instance.Record) error {
	if r.Merged != "" {
		ca, err := controlplane.ClientCA(in.DataDir)
		if err != nil {
			return err
		}
		if err := kubeconfig.Remove(r.Merged, kubeconfig.Entry{Name: in.Context(), CA: ca}); err != nil {
			return err
		}
	}
	return controlplane.RemoveClientFiles(in.DataDir)
}

// inUse words the error of an instance that another process has.
func inUse(in instance.Instance, err error) error {
	if !errors.Is(err, instance.ErrInUse) {
		return err
	}
	if in.Name != "" {
		return fmt.Errorf("%s is running already: `fairlead status %s` shows it, `fairlead down %s` stops it", in.Name, in.Name, in.Name)
	}
	return fmt.Errorf("%s is in use by another process: stop it with `fairlead down%s`, or choose another with --data-dir", in.DataDir, selection(in))
}
