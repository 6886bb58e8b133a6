// Budget reads a CPU profile of Fairlead and prints what each stage of its work takes.
//
//	curl -o cpu.pb.gz .../debug/pprof/profile?seconds=30     # of a server with --profiling
//	go run ./budget -units 20000 cpu.pb.gz                   # per pod, if 20,000 became Running
//
// A sample counts for the package of this project that has called last, with all that it calls in libraries and in Go's runtime. The
// garbage collector is a stage of its own, wherever it runs.
package main

import (
	"flag"
	"fmt"
	"os"
	"text/tabwriter"
	"time"

	"github.com/google/pprof/profile"
)

func main() {
	units := flag.Int64("units", 0, "number of operations during the profile; the table then has the time of one")
	flag.Usage = func() {
		fmt.Fprintln(flag.CommandLine.Output(), "usage: budget [-units N] PROFILE")
		flag.PrintDefaults()
	}
	flag.Parse()
	if flag.NArg() != 1 {
		flag.Usage()
		os.Exit(2)
	}
	if err := run(flag.Arg(0), *units); err != nil {
		fmt.Fprintln(os.Stderr, "budget:", err)
		os.Exit(1)
	}
}

func run(name string, units int64) error {
	f, err := os.Open(name)
	if err != nil {
		return err
	}
	defer f.Close()
	p, err := profile.Parse(f)
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	if n := len(p.SampleType); n == 0 || p.SampleType[n-1].Type != "cpu" {
		return fmt.Errorf("%s is not a CPU profile", name)
	}
	print(budgetOf(p), units)
	return nil
}

// print prints the stages as a table in Markdown.
func print(b budget, units int64) {
	w := tabwriter.NewWriter(os.Stdout, 0, 0, 1, ' ', 0)
	defer w.Flush()
	each := func(time.Duration) string { return "" }
	head, rule := "", ""
	if units > 0 {
		head, rule = " each\t|", "---\t|"
		each = func(d time.Duration) string {
			return fmt.Sprintf(" %.1f µs\t|", float64(d)/float64(units)/float64(time.Microsecond))
		}
	}
	fmt.Fprintf(w, "| stage\t| share\t| of it allocation\t|%s\n|---\t|---\t|---\t|%s\n", head, rule)
	row := func(name string, c cost) {
		fmt.Fprintf(w, "| %s\t| %.1f %%\t| %.1f %%\t|%s\n", name, share(c.all, b.total.all), share(c.allocating, b.total.all), each(c.all))
	}
	for _, s := range b.stages {
		row(s.name, s.cost)
	}
	row("all", b.total)
}

func share(part, of time.Duration) float64 { return 100 * float64(part) / float64(max(of, 1)) }
