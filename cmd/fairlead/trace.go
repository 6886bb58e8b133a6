package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/url"
	"os"
	"strconv"
	"strings"
	"time"

	"fairlead.dev/client"
	"fairlead.dev/internal/client/lives"
	"fairlead.dev/internal/trace/show"
	"github.com/spf13/cobra"
	"golang.org/x/term"
)

type traceFlags struct {
	target            target
	namespace, output string
	revision          int64
	since, slow       time.Duration
	limit             int
	all, tree, leases bool
}

func newTrace() *cobra.Command {
	var f traceFlags
	cmd := &cobra.Command{
		Use:   "trace [KIND[/NAME]]",
		Short: "Show the life of events, hop by hop: the write, watchers, delays, and resulting events",
		Long: `Trace shows the life of each event of an object, of a kind, or of all: when it was
received, admitted, synced and published, the watchers that received it, the informers
and controllers that handled it, and their resulting writes.

Without --rv or --since it follows new events, until Ctrl-C.`,
		Example: `  # Follow a Deployment
  fairlead trace deployment/web

  # One event, and the tree of all events that it caused
  fairlead trace --rv=519
  fairlead trace --rv=519 --tree

  # Events of the last minute that took longer than 50 ms
  fairlead trace --since=1m --slow=50ms`,
		RunE: func(cmd *cobra.Command, args []string) error {
			what, err := f.check(args)
			if err != nil {
				return usageError{err}
			}
			return f.run(cmd.Context(), cmd.OutOrStdout(), cmd.ErrOrStderr(), what)
		},
	}
	flags := cmd.Flags()
	f.target.register(cmd, flags)
	flags.StringVarP(&f.namespace, "namespace", "n", "", "the object's namespace (default that of the kubeconfig)")
	flags.BoolVarP(&f.all, "all-namespaces", "A", false, "events of all namespaces")
	flags.Int64Var(&f.revision, "rv", 0, "the event with this resourceVersion")
	flags.DurationVar(&f.since, "since", 0, "show past events newer than this duration instead of following")
	flags.DurationVar(&f.slow, "slow", 0, "only events that took at least this long")
	flags.IntVar(&f.limit, "limit", 0, "number of events, the last ones; 0 for all")
	flags.BoolVar(&f.tree, "tree", false, "show the tree of events that they caused")
	flags.BoolVar(&f.leases, "leases", false, "show Leases and heartbeats of nodes too, when no kind is named")
	flags.StringVarP(&f.output, "output", "o", "", "output format: json (one event per line) or otlp (spans for an OpenTelemetry collector)")
	return cmd
}

// check returns the kind and the name in the arguments, each "" if missing.
func (f *traceFlags) check(args []string) (what [2]string, err error) {
	switch {
	case len(args) > 2 || len(args) == 2 && strings.Contains(args[0], "/"):
		return what, errors.New("trace takes one KIND/NAME")
	case f.output != "" && f.output != "json" && f.output != "otlp":
		return what, fmt.Errorf("-o %s: want json or otlp", f.output)
	case f.output != "" && f.tree && f.revision == 0:
		return what, errors.New("--tree with -o needs the root, --rv")
	case f.revision < 0 || f.since < 0 || f.slow < 0 || f.limit < 0:
		return what, errors.New("--rv, --since, --slow and --limit must be 0 or more")
	}
	copy(what[:], args)
	if len(args) == 1 {
		what[0], what[1], _ = strings.Cut(args[0], "/")
	}
	return what, nil
}

func (f *traceFlags) run(ctx context.Context, out, aside io.Writer, what [2]string) error {
	c, namespace, err := connectTo(&f.target)
	if err != nil {
		return err
	}
	q := url.Values{"faults": {"true"}}
	if f.namespace != "" {
		namespace = f.namespace
	}
	p := printer{out: out, c: c, flags: f, palette: palette(out)}
	p.quiet = what[0] == "" && f.revision == 0 && !f.leases
	p.lastOnly = p.quiet && f.limit > 0 && f.since > 0
	subject := traceSubject{c: c}
	if what[0] != "" {
		r, err := lives.Resource(ctx, c, what[0])
		if err != nil {
			return err
		}
		subject.r, subject.name = r, what[1]
		q.Set("resource", r.GVR.GroupResource().String())
		if r.Namespaced && !f.all {
			q.Set("namespace", namespace)
			subject.namespace = namespace
		}
		q.Set("name", what[1])
	}
	for key, d := range map[string]time.Duration{"since": f.since, "slow": f.slow} {
		if d > 0 {
			q.Set(key, d.String())
		}
	}
	if f.limit > 0 && !p.lastOnly {
		q.Set("limit", strconv.Itoa(f.limit))
	}
	switch {
	case f.revision > 0:
		q.Set("from", strconv.FormatInt(f.revision, 10))
		q.Set("to", strconv.FormatInt(f.revision, 10))
	case f.since == 0:
		q.Set("follow", "true")
	}
	if f.revision > 0 && f.tree {
		return p.printTree(ctx)
	}
	if q.Has("follow") {
		if err := subject.announceWait(ctx, aside); err != nil {
			return err
		}
	}
	n := 0
	err = lives.Each(ctx, c, q, func(line []byte, e show.Event) error {
		if p.quiet && e.Fault == nil && show.IsHeartbeat(e.Life) {
			return nil
		}
		n++
		if p.lastOnly {
			p.keep(line, e)
			return nil
		}
		return p.event(ctx, line, e)
	})
	if err == nil {
		err = p.printRest(ctx)
	}
	switch {
	case ctx.Err() != nil:
		return nil // Ctrl-C ends a trace that follows
	case err == nil && n == 0 && f.revision > 0:
		return f.unknown()
	case err == nil && n == 0 && f.since > 0:
		return subject.reportNoEvents(ctx, aside)
	}
	return err
}

func (f *traceFlags) unknown() error {
	return fmt.Errorf("the trace does not have revision %d", f.revision)
}

// connectTo makes a client of a server, and returns the kubeconfig's namespace too.
func connectTo(from *target) (*client.Client, string, error) {
	config, namespace, err := from.load()
	if err != nil {
		return nil, "", err
	}
	c, err := client.New(config, client.Options{UserAgent: "fairlead-trace"})
	return c, namespace, err
}

// printer writes lives as they were asked for.
type printer struct {
	out     io.Writer
	c       *client.Client
	flags   *traceFlags
	palette show.Palette
	// quiet leaves out heartbeats; lastOnly prints only the last events of those left, which are in last.
	quiet, lastOnly bool
	last            []keptLine
	all             []show.Event // for OTLP
	otlp            show.Exporter
}

func (p *printer) event(ctx context.Context, line []byte, e show.Event) error {
	switch {
	case p.flags.output == "json":
		_, err := fmt.Fprintf(p.out, "%s\n", line)
		return err
	case e.Fault != nil && p.flags.output == "otlp":
		return nil // no span
	case e.Fault != nil:
		return show.Waterfall(p.out, e, p.palette, p.columns())
	case p.flags.output == "otlp" && p.flags.revision == 0 && p.flags.since == 0:
		return otlp(p.out, &p.otlp, []show.Event{e}) // one request a line, as they come
	case p.flags.output == "otlp":
		p.all = append(p.all, e)
		return nil
	case p.flags.tree:
		return p.printSettledTree(ctx, e)
	}
	if err := show.Waterfall(p.out, e, p.palette, p.columns()); err != nil {
		return err
	}
	_, err := fmt.Fprintln(p.out)
	return err
}

// printTree writes the tree below the revision that was asked for.
func (p *printer) printTree(ctx context.Context) error {
	all, err := settledTree(ctx, p.c, p.flags.revision)
	if err != nil {
		return err
	}
	if len(all) == 0 {
		return p.flags.unknown()
	}
	if p.flags.output != "" {
		return printForMachines(p.out, p.flags.output, all)
	}
	return show.Tree(p.out, all, p.palette, p.columns())
}

// printForMachines writes events as JSON, one a line, or as OTLP.
func printForMachines(out io.Writer, output string, all []show.Event) error {
	if output == "otlp" {
		return otlp(out, new(show.Exporter), all)
	}
	enc := json.NewEncoder(out)
	for _, e := range all {
		if err := enc.Encode(e); err != nil {
			return err
		}
	}
	return nil
}

// otlp writes one request as a line.
func otlp(out io.Writer, x *show.Exporter, events []show.Event) error {
	request, err := x.Request(events)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(out, "%s\n", request)
	return err
}

type keptLine struct {
	line []byte
	e    show.Event
}

// keep keeps the last events, as many as the limit.
func (p *printer) keep(line []byte, e show.Event) {
	p.last = append(p.last, keptLine{bytes.Clone(line), e})
	if len(p.last) > p.flags.limit {
		p.last = p.last[1:]
	}
}

func (p *printer) columns() int { return columns(p.out) }

// columns is the width of the terminal that out is, 0 for another file.
func columns(out io.Writer) int {
	file, ok := out.(*os.File)
	if !ok || !term.IsTerminal(int(file.Fd())) {
		return 0
	}
	width, _, err := term.GetSize(int(file.Fd()))
	if err != nil {
		return 0
	}
	return width
}

// palette is in colour for a terminal that wants it.
func palette(out io.Writer) show.Palette {
	if file, ok := out.(*os.File); ok && os.Getenv("NO_COLOR") == "" && term.IsTerminal(int(file.Fd())) {
		return show.Color
	}
	return show.Palette{}
}

// printSettledTree prints the tree below an event when it no longer grows. An event that another one
// caused is printed with that one's tree.
func (p *printer) printSettledTree(ctx context.Context, root show.Event) error {
	if len(root.Causes) > 0 {
		return nil
	}
	all, err := settledTree(ctx, p.c, root.Revision)
	if err != nil {
		return err
	}
	if err := show.Tree(p.out, all, p.palette, p.columns()); err != nil {
		return err
	}
	_, err = fmt.Fprintln(p.out)
	return err
}

// settle is how long a tree must not grow to be taken for whole.
const settle = 500 * time.Millisecond

// settledTree is the tree below an event once it has stopped growing: at once if its
// last event is old enough.
func settledTree(ctx context.Context, c *client.Client, root int64) (all []show.Event, err error) {
	for {
		all = nil
		err := lives.Each(ctx, c, url.Values{"tree": {strconv.FormatInt(root, 10)}}, func(_ []byte, e show.Event) error {
			all = append(all, e)
			return nil
		})
		if err != nil || len(all) == 0 {
			return all, err
		}
		newest := all[len(all)-1]
		rest := time.Until(newest.Began.Add(newest.Duration() + settle))
		if rest <= 0 {
			return all, nil
		}
		select {
		case <-time.After(rest):
		case <-ctx.Done():
			return all, ctx.Err()
		}
	}
}

// printRest prints the output that had to wait for the end.
func (p *printer) printRest(ctx context.Context) error {
	for _, k := range p.last {
		if err := p.event(ctx, k.line, k.e); err != nil {
			return err
		}
	}
	if len(p.all) == 0 {
		return nil
	}
	return otlp(p.out, &p.otlp, p.all)
}
