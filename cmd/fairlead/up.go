package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"os"
	"os/signal"
	"syscall"

	"k8s.io/apimachinery/pkg/api/resource"

	"fairlead.dev/internal/clusters"
	"fairlead.dev/internal/connections"
	"fairlead.dev/internal/controlplane"
	"fairlead.dev/internal/partflags"
	"fairlead.dev/internal/processors"
	"fairlead.dev/internal/procstart"
	"fairlead.dev/internal/procwait"
	"fairlead.dev/internal/server/faults"
	"fairlead.dev/internal/serverflags"
	"fairlead.dev/trace"
	"github.com/coreos/go-systemd/v22/daemon"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

const (
	maxConnectionsFlag = "max-connections"
	traceEventsFlag    = "trace-events"
)

// errTraceOverrides: an event is found by its revision.
var errTraceOverrides = errors.New("--trace-events excludes --etcd-servers-overrides: each cluster has revisions of its own, and a revision would no longer name one event")

// serveFlags are the common flags of `up` and `server`.
type serveFlags struct {
	options controlplane.Options
	merge   bool
	output  string
	parent  int
	lives   int
	faults  bool
	hosts   bool
	stdin   bool
	otlp    otlpFlags
	kept    string
	config  string
	shared  *serverflags.Flags
	bodies  string
	memory  string
	clock   string
	// name, detach and load are flags of `up` alone.
	name   string
	detach bool
	load   string
	// runs is the instance that the process has; nil for a server that belongs to its parent.
	runs *hosting
}

func (f *serveFlags) register(flags *pflag.FlagSet) {
	flags.StringVar(&f.options.DataDir, "data-dir", defaultDataDir, "data directory (default with --in-memory and --parent-pid or --stdin a temporary one, removed at the end)")
	flags.BoolVar(&f.options.InMemory, "in-memory", false, "keep only the kubeconfig and the CA certificate on disk")
	flags.StringVar(&f.options.Listen, "listen", "", "address of the API server (default 127.0.0.1:6443 or the next free port; port 0 picks one)")
	flags.StringSliceVar(&f.options.TLSNames, "tls-san", nil, "more host names and IP addresses for the API server's certificate")
	f.shared = serverflags.Register(flags, &f.options)
	flags.StringVar(&f.bodies, "max-request-bytes-inflight", "128Mi", "limit on the memory of all request bodies; others get 429; 0 for no limit")
	flags.IntVar(&f.options.HTTP.MaxConnections, maxConnectionsFlag, 0, "limit on open connections: beyond it, those of clients that have not authenticated are closed, or else new ones; 0 for no limit (default three quarters of the limit on open files, and one for each 64 KiB of --memory-limit)")
	flags.StringVar(&f.memory, "memory-limit", "", "memory that the process may take, such as 512Mi: large lists and bodies get 429 before it is reached; 0 for no limit (default that of the cgroup)")
	registerEtcd(flags, &f.options)
	flags.StringVar(&f.options.Kubeconfig, "kubeconfig", "", "where to write the kubeconfig (default <data-dir>/kubeconfig)")
	flags.BoolVar(&f.merge, "merge-kubeconfig", false, "add a context named fairlead, or fairlead-NAME, to your own kubeconfig and make it current (default with --name and --detach)")
	flags.IntVar(&f.lives, traceEventsFlag, 16384, "number of recent events to record for fairlead trace; 0 for none (default none with --etcd-servers-overrides)")
	f.otlp.register(flags)
	flags.StringVar(&f.kept, "watch-history", "32Mi", "memory for the recent changes of each resource; a watch that starts earlier reads them from the store (see --history)")
	flags.BoolVar(&f.faults, "allow-faults", false, "allow fault injection by fairlead fault, for tests and for learning")
	flags.BoolVar(&f.hosts, "clusters", false, "host more control planes, in memory, that fairlead cluster creates and forks")
	flags.BoolVar(&f.stdin, "stdin", false, "read commands from standard input, a line each (create, fork, reset, delete, list, as of fairlead cluster, and stop), and print a line of JSON for each; stop at its end")
	flags.StringVar(&f.clock, "clock", "real", "real, or virtual: with --in-memory, the server's time stands still until fairlead clock advances it, for tests")
	flags.StringVarP(&f.output, "output", "o", "", "json: print one line of JSON when ready")
	flags.IntVar(&f.parent, "parent-pid", 0, "stop when the process of this ID ends, such as the test that started the server")
}

func newUp() *cobra.Command {
	var f serveFlags
	var stages []string
	var made nodeFlags
	var election partflags.Elect
	var scheduling string
	var ranges rangeFlags
	cmd := &cobra.Command{
		Use:   "up",
		Short: "Run a whole control plane: store, API server, controllers, scheduler, simulated nodes",
		Example: `  # Everything, kept under ./.fairlead
  fairlead up

  # In the background, and its end
  fairlead up -d
  fairlead down

  # Another one by its name, from any directory
  fairlead up -d --name=shop
  fairlead list

  # Nothing kept, a free port, one line of JSON when ready
  fairlead up --in-memory --listen=127.0.0.1:0 -o json

  # All controllers but one, no scheduler, ten nodes
  fairlead up --controllers='*,-garbagecollector' --scheduler=false --nodes=10`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) (err error) {
			if !cmd.Flags().Changed("leader-elect") {
				election.On = len(f.options.Etcd.Servers) > 0
			}
			if f.options.Elect, err = election.Timing(); err != nil {
				return err
			}
			if f.options.Definitions, f.options.Kinds, err = made.definitions(stages); err != nil {
				return err
			}
			if f.options.NodeCapacity, f.options.NodeTemplate, err = made.load(); err != nil {
				return err
			}
			if f.options.NodeZones, err = made.loadZones(f.options.NodeTemplate); err != nil {
				return err
			}
			if f.options.Devices, err = made.loadDevices(); err != nil {
				return err
			}
			if f.options.NodeGroups, err = made.loadGroups(cmd.Flags()); err != nil {
				return err
			}
			if f.options.Scheduling, err = loadScheduling("--scheduler-config", scheduling); err != nil {
				return err
			}
			if err := noteElection(&f.options.Scheduling); err != nil {
				return err
			}
			if f.options.Ranges, err = ranges.load(cmd.Flags()); err != nil {
				return err
			}
			f.options.AdoptNodes = made.adopts(cmd.Flags())
			return serve(cmd, f)
		},
	}
	f.register(cmd.Flags())
	registerConfig(cmd, &f.config)
	registerName(cmd, cmd.Flags(), &f.name, "keep the data in your state directory under this name, and find the server by it from any directory (default FAIRLEAD_NAME)")
	cmd.Flags().BoolVarP(&f.detach, "detach", "d", false, "run in the background; return when the server is ready")
	registerLoad(cmd, &f.load)
	registerStages(cmd.Flags(), &stages)
	made.register(cmd.Flags())
	registerScheduling(cmd.Flags(), "scheduler-config", &scheduling)
	election.Register(cmd.Flags(), false, "run controllers, scheduler and nodes only while holding their leases (default with --etcd-servers)")
	registerControllers(cmd.Flags(), &f.options.Controllers)
	ranges.register(cmd.Flags())
	cmd.Flags().BoolVar(&f.options.Scheduler, "scheduler", true, "run the scheduler")
	cmd.Flags().IntVar(&f.options.Nodes, "nodes", 3, "number of simulated nodes; 0 for none")
	return cmd
}

func newServer() *cobra.Command {
	var f serveFlags
	cmd := &cobra.Command{
		Use:   "server",
		Short: "Run the store and the API server alone",
		Example: `  fairlead server --data-dir=/var/lib/fairlead --listen=127.0.0.1:6443

  # The other parts, each on the kubeconfig that the server wrote
  fairlead controllers --kubeconfig=/var/lib/fairlead/kubeconfig
  fairlead scheduler --kubeconfig=/var/lib/fairlead/kubeconfig
  fairlead nodes --kubeconfig=/var/lib/fairlead/kubeconfig --nodes=10`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return serve(cmd, f) },
	}
	f.register(cmd.Flags())
	registerConfig(cmd, &f.config)
	return cmd
}

// serve runs a control plane until a signal comes or a part of it fails.
func serve(cmd *cobra.Command, f serveFlags) error {
	if f.stdin {
		f.output = "json"
	}
	if f.output != "" && f.output != "json" {
		return usageError{fmt.Errorf("-o %s: want json", f.output)}
	}
	if f.options.Nodes < 0 {
		return usageError{fmt.Errorf("--nodes=%d: want 0 or more", f.options.Nodes)}
	}
	if err := controlplane.CheckControllers(f.options.Controllers); err != nil {
		return usageError{err}
	}
	if f.parent < 0 {
		return usageError{fmt.Errorf("--parent-pid=%d: want the ID of a process", f.parent)}
	}
	kept, err := resource.ParseQuantity(f.kept)
	if err != nil || kept.Value() < 1 || kept.Value() > math.MaxInt32 {
		return usageError{fmt.Errorf("--watch-history=%s: want bytes, such as 32Mi", f.kept)}
	}
	f.options.WatchHistory = int(kept.Value())
	bodies, err := resource.ParseQuantity(f.bodies)
	if err != nil || bodies.Sign() < 0 {
		return usageError{fmt.Errorf("--max-request-bytes-inflight=%s: want bytes, such as 128Mi", f.bodies)}
	}
	if f.options.Limits.MaxBodyBytes = bodies.Value(); bodies.IsZero() {
		f.options.Limits.MaxBodyBytes = -1
	}
	if f.options.MemoryLimit, err = limitMemory(f.memory); err != nil {
		return usageError{err}
	}
	switch c := &f.options.HTTP.MaxConnections; {
	case *c < 0:
		return usageError{fmt.Errorf("--%s=%d: want 0 or more", maxConnectionsFlag, *c)}
	case !cmd.Flags().Changed(maxConnectionsFlag):
		*c = connections.Default(f.options.MemoryLimit)
	}
	if err := f.shared.Complete(&f.options); err != nil {
		return usageError{err}
	}
	if err := f.checkClock(); err != nil {
		return usageError{err}
	}
	if _, err := f.loadFile(); err != nil {
		return err
	}
	if f.parent > 0 || f.stdin {
		return f.serveParent(cmd)
	}
	return f.serveInstance(cmd)
}

// serveParent runs a control plane that ends with the process that started it.
func (f serveFlags) serveParent(cmd *cobra.Command) error {
	if f.detach || f.name != "" {
		return usageError{errors.New("--detach and --name exclude --parent-pid and --stdin, whose servers end with the process that started them")}
	}
	ctx, stop := context.WithCancel(cmd.Context())
	defer stop()
	if f.parent > 0 {
		signal.Ignore(syscall.SIGPIPE) // of stderr, once the parent that read it is gone
		go func() {
			procwait.Exit(ctx, f.parent)
			stop()
		}()
	}
	if f.options.InMemory && !cmd.Flags().Changed("data-dir") {
		// A parent that is killed cannot remove a directory of its own.
		var err error
		if f.options.DataDir, err = os.MkdirTemp("", "fairlead-"); err != nil {
			return err
		}
		defer os.RemoveAll(f.options.DataDir)
	}
	return f.runOnClock(ctx, cmd)
}

// runOnClock runs a control plane on the clock of the flags.
func (f serveFlags) runOnClock(ctx context.Context, cmd *cobra.Command) error {
	if f.clock == "virtual" {
		return serveVirtual(ctx, cmd, f)
	}
	return f.run(ctx, cmd, realTime{})
}

// run runs a control plane until ctx ends or a part of it fails.
func (f serveFlags) run(ctx context.Context, cmd *cobra.Command, clock processClock) error {
	if len(f.options.Etcd.Overrides) > 0 {
		if cmd.Flags().Changed(traceEventsFlag) && f.lives > 0 {
			return usageError{errTraceOverrides}
		}
		f.lives = 0
	}
	if f.lives > 0 {
		f.options.Trace = trace.New(trace.Options{Events: f.lives})
	}
	if f.faults {
		f.options.Faults = faults.New()
	}
	stopExport, err := f.otlp.start(f.options.Trace)
	if err != nil {
		return err
	}
	defer stopExport()
	into, err := f.mergeInto(cmd.Flags())
	if err != nil {
		return err
	}
	p := newProgress(os.Stderr)
	if f.runs != nil {
		p.report = f.runs.report
	}
	f.options.Progress, f.options.Warning = p.step, p.warn
	if f.options.Log, err = f.shared.StartLog(os.Stderr); err != nil {
		return usageError{err}
	}
	f.options.Flags = map[string]string{}
	cmd.Flags().VisitAll(func(flag *pflag.Flag) { f.options.Flags[flag.Name] = flag.Value.String() })
	state, err := f.loadState(p)
	if err != nil {
		return err
	}
	f.options.Loading = p.meter("Loading", "revisions").at
	f.options.Queued = processors.New().Overloaded
	cp, err := f.start(ctx, state)
	if err != nil {
		return err
	}
	clock.serve()
	ready := clock.Real().Sub(procstart.Time())
	if err := announce(cmd.OutOrStdout(), p, cp, f, into, ready); err != nil {
		clock.release()
		cp.Stop()
		return err
	}
	notifySystemd(p, daemon.SdNotifyReady)
	if f.stdin {
		var stop context.CancelFunc
		ctx, stop = context.WithCancel(ctx)
		defer stop()
		remove, err := serveStdin(ctx, cp, clock, stop)
		if err != nil {
			clock.release()
			cp.Stop()
			return err
		}
		defer remove()
	}
	for {
		asked, err := waitForEnd(ctx, p, cp, f.runs.changes())
		if asked == nil {
			p.line("Stopping")
			notifySystemd(p, daemon.SdNotifyStopping)
			clock.release()
			if stopErr := cp.Stop(); err == nil {
				err = stopErr
			}
			return err
		}
		if cp, err = f.replace(ctx, p, cp, *asked); err != nil {
			return err
		}
	}
}

// notifySystemd tells systemd about the state of a service of Type=notify; see sd_notify(3).
func notifySystemd(p *progress, state string) {
	if _, err := daemon.SdNotify(false, state); err != nil {
		p.warn("systemd", err.Error())
	}
}

// start starts the control plane, with a state if that is not nil.
func (f serveFlags) start(ctx context.Context, state *controlplane.State) (*controlplane.ControlPlane, error) {
	o := f.options
	o.State, o.Definitions = state, o.Definitions.FromFiles()
	if f.hosts || f.stdin {
		o.Host = clusters.New(clusters.Options{API: o.API, Clock: o.Clock, Network: o.Network, Faults: f.faults, Log: slog.Default()})
	}
	if f.runs != nil {
		o.Renewed = f.runs.renew
	}
	if f.runs != nil && f.runs.port != nil {
		o.Listener = f.runs.port.lease()
	}
	return controlplane.Start(ctx, o)
}

// waitForEnd returns when ctx ends, with the error of a part that failed, or of the store, or with a change that was asked for.
func waitForEnd(ctx context.Context, p *progress, cp *controlplane.ControlPlane, changes <-chan change) (*change, error) {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	failed, asked := make(chan error, 1), make(chan change, 1)
	go func() {
		select {
		case <-ctx.Done():
		case c := <-changes:
			asked <- c
			stop()
		case <-cp.StoreFailed():
			failed <- handleStoreFailure(ctx, p, cp.StoreDir(), cp.StoreErr())
			stop()
		}
	}()
	err := cp.Wait(ctx)
	select {
	case storeErr := <-failed:
		return nil, storeErr
	case c := <-asked:
		return &c, nil
	default:
		return nil, err
	}
}
