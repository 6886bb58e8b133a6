package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"slices"
	"strings"
	"syscall"
	"time"
)

const (
	exitFailed = 1
	exitUsage  = 2
)

// options are the command line's.
type options struct {
	loads  []load
	peers  []peer
	rounds int
	dir    string
	output string
	bin    binaries
	sizes  sizes
	layout layout
	// curve are the sizes of one growing control plane, in pods, in place of the loads; svg is where that, or the load mixed, is drawn.
	curve []int
	svg   string
	// perNode is the number of pods on a node of the curve, and filled a data directory that has its pods already; "" without.
	perNode int
	filled  string
	// profiles is a folder for CPU profiles of Fairlead; "" without.
	profiles string
}

func main() {
	if name := os.Getenv(besideEnv); name != "" {
		if err := runBeside(name); err != nil {
			fmt.Fprintf(os.Stderr, "bench, %s: %v\n", name, err)
			os.Exit(exitFailed)
		}
		return
	}
	o, err := parse(os.Args[1:])
	if err != nil {
		if err != flag.ErrHelp {
			fmt.Fprintln(os.Stderr, "bench:", err)
		}
		os.Exit(exitUsage)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	do := run
	if o.curve != nil {
		do = runCurve
	}
	if err := do(ctx, o); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(exitFailed)
	}
}

func parse(args []string) (*options, error) {
	o := &options{sizes: small}
	f := flag.NewFlagSet("bench", flag.ContinueOnError)
	names := f.String("loads", "all", "loads to run, comma-separated; all is those of the API server, cluster those with controllers, scheduler and nodes, schedulers those of schedulers on a server of Fairlead: "+strings.Join(loadNames(), ", "))
	against := f.String("against", "fairlead,kube-apiserver", "servers to run, comma-separated")
	full := f.Bool("full", false, "the sizes of the goals: 10,000 pods, 2,000 nodes; the other sizes can still be set")
	f.IntVar(&o.rounds, "rounds", 3, "how often each server has its turn")
	f.StringVar(&o.dir, "dir", "", "where the servers keep their data: a real disk, or fsync costs nothing (default a temporary folder)")
	f.StringVar(&o.output, "o", "table", "table, or json for machines (the table is then on stderr)")
	f.IntVar(&o.layout.Servers, "servers", 1, "API servers of each kind, on the etcd of -members")
	f.IntVar(&o.layout.Members, "members", 0, "etcd members below the API servers; 0: Fairlead has its own store, and kube-apiserver an etcd of one member")
	curve := f.String("curve", "", "in place of loads: grow one control plane of Fairlead to these numbers of pods, such as 1000,10000,100000, and measure it at each")
	f.IntVar(&o.perNode, "pods-per-node", 100, "pods on each node of -curve")
	f.StringVar(&o.filled, "filled", "", "data directory of a fairlead up that has the pods of -curve's only size, made by fill: measure a copy of it in place of growing one (default none)")
	f.StringVar(&o.svg, "svg", "", "file to draw the curve or the load mixed in (default none)")
	f.StringVar(&o.profiles, "profiles", "", "existing folder for a CPU profile of Fairlead during each load, which budget reads; each load takes 30 s then (default none)")
	o.bin.register(f)
	o.sizes.register(f)
	if err := f.Parse(args); err != nil {
		return nil, err
	}
	if f.NArg() > 0 {
		return nil, fmt.Errorf("unexpected argument %q", f.Arg(0))
	}
	if *full {
		o.sizes = o.sizes.raised(f)
	}
	if err := o.sizes.check(); err != nil {
		return nil, err
	}
	if o.output != "table" && o.output != "json" {
		return nil, fmt.Errorf("-o %s: want table or json", o.output)
	}
	if o.rounds < 1 {
		return nil, fmt.Errorf("-rounds %d: want 1 or more", o.rounds)
	}
	var err error
	if *curve != "" {
		if o.curve, err = parseCurve(*curve); err != nil {
			return nil, err
		}
	}
	if o.perNode < 1 || o.curve != nil && o.perNode > o.curve[0] {
		return nil, fmt.Errorf("-pods-per-node %d: want 1 or more, and no more than the pods of -curve", o.perNode)
	}
	if o.filled != "" && len(o.curve) != 1 {
		return nil, errors.New("-filled needs -curve with one size")
	}
	if o.loads, err = selectLoads(*names); err != nil {
		return nil, err
	}
	if o.svg != "" && o.curve == nil && !slices.ContainsFunc(o.loads, func(l load) bool { return l.name == "mixed" }) {
		return nil, errors.New("-svg needs -curve or -loads mixed")
	}
	if err := o.layout.check(o.loads); err != nil {
		return nil, err
	}
	o.peers, err = selectPeers(*against)
	return o, err
}

// run gives every server its turns and prints the report.
func run(ctx context.Context, o *options) error {
	dir, err := os.MkdirTemp(o.dir, "bench-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	if err := o.bin.find(ctx, dir, o); err != nil {
		return err
	}
	r := newReport(o, dir)
	began, done, all := time.Now(), 0, o.rounds*len(acts(o.loads, &o.sizes))*len(o.peers)
	for round := range o.rounds {
		for _, a := range acts(o.loads, &o.sizes) {
			for i := range o.peers {
				p := o.peers[i]
				if round%2 == 1 { // there and back, so that drift hits both
					p = o.peers[len(o.peers)-1-i]
				}
				left := ""
				if done > 0 {
					left = ", about " + (time.Since(began) / time.Duration(done) * time.Duration(all-done)).Round(time.Second).String() + " left"
				}
				fmt.Fprintf(os.Stderr, "round %d of %d: %s (%d of %d%s)\n", round+1, o.rounds, p.label(a), done+1, all, left)
				done++
				if err := turn(ctx, o, p, a, dir, round, r); err != nil {
					return err
				}
			}
		}
	}
	r.finish()
	if err := r.print(o.output); err != nil {
		return err
	}
	if o.svg != "" {
		if err := drawMixed(o.svg, r); err != nil {
			return err
		}
	}
	if n := len(r.Failures); n > 0 {
		return fmt.Errorf("%d loads failed", n)
	}
	return nil
}
