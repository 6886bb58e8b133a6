package main

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"runtime"
	"slices"
	"strings"
	"text/tabwriter"
	"time"
)

// report has all measurements. Its JSON has one line for each row and each server, with
// every round's value.
type report struct {
	Began   time.Time      `json:"began"`
	Machine machine        `json:"machine"`
	Sizes   sizes          `json:"sizes"`
	Layout  layout         `json:"layout"`
	Rounds  int            `json:"rounds"`
	Peers   []string       `json:"servers"`
	Pod     map[string]int `json:"podBytes"` // a pod as served
	Rows    []*line        `json:"rows"`
	// Windows are those of the load mixed, by server, of the last round.
	Windows map[string][]window `json:"windows,omitempty"`
	// Failures have no figures.
	Failures []failure `json:"failures"`
}

type machine struct {
	CPUs       int    `json:"cpus"`
	Go         string `json:"go"`
	Platform   string `json:"platform"`
	Filesystem string `json:"filesystem"`
	// Load is the load average of a minute, before and after.
	LoadBefore string `json:"loadBefore"`
	LoadAfter  string `json:"loadAfter"`
}

type line struct {
	Row    string             `json:"row"`
	Title  string             `json:"title"`
	Unit   string             `json:"unit"`
	Goal   float64            `json:"goalRatio,omitempty"`
	Most   float64            `json:"goal,omitempty"` // in Unit, for the sizes of -full
	Median map[string]float64 `json:"median"`
	// Ratio is the median of Ratios, the rounds' own: how many times better the
	// first server is than the second.
	Ratio  float64   `json:"ratio,omitempty"`
	Ratios []float64 `json:"ratios,omitempty"`
	// Values are by server and round.
	Values map[string]map[int]float64 `json:"values"`
}

type failure struct {
	Server string `json:"server"`
	Round  int    `json:"round"`
	Load   string `json:"load"`
	Error  string `json:"error"`
}

func newReport(o *options, dir string) *report {
	r := &report{
		Began: time.Now().UTC().Truncate(time.Second),
		Machine: machine{
			CPUs: runtime.NumCPU(), Go: runtime.Version(), Platform: runtime.GOOS + "/" + runtime.GOARCH,
			Filesystem: filesystem(dir), LoadBefore: loadAverage(),
		},
		Sizes: o.sizes, Layout: o.layout, Rounds: o.rounds, Pod: map[string]int{}, Windows: map[string][]window{},
	}
	for _, p := range o.peers {
		r.Peers = append(r.Peers, p.name)
	}
	return r
}

func loadAverage() string {
	text, _ := os.ReadFile("/proc/loadavg")
	first, _, _ := strings.Cut(string(text), " ")
	return first
}

func (r *report) add(peer string, round int, f figure) {
	i := slices.IndexFunc(r.Rows, func(l *line) bool { return l.Row == f.row })
	if i < 0 {
		w := rowOf(f.row)
		i = len(r.Rows)
		ratio, limit := w.goals(r.Layout)
		r.Rows = append(r.Rows, &line{
			Row: w.key, Title: w.title(&r.Sizes), Unit: w.unit.name, Goal: ratio, Most: limit,
			Median: map[string]float64{}, Values: map[string]map[int]float64{},
		})
	}
	l := r.Rows[i]
	if l.Values[peer] == nil {
		l.Values[peer] = map[int]float64{}
	}
	l.Values[peer][round] = f.value
}

func (r *report) fail(peer string, round int, load string, err error) {
	r.Failures = append(r.Failures, failure{peer, round + 1, load, err.Error()})
}

// note keeps a turn's results besides figures.
func (r *report) note(peer string, b *bench) {
	if n := b.podBytes.Load(); n > 0 {
		r.Pod[peer] = int(n)
	}
	if b.windows != nil {
		r.Windows[peer] = b.windows
	}
}

// finish computes medians and ratios.
func (r *report) finish() {
	r.Machine.LoadAfter = loadAverage()
	slices.SortFunc(r.Rows, func(a, b *line) int { return position(a.Row) - position(b.Row) })
	for _, l := range r.Rows {
		for peer, byRound := range l.Values {
			var vs []float64
			for _, v := range byRound {
				vs = append(vs, v)
			}
			l.Median[peer] = median(vs)
		}
		if len(r.Peers) != 2 || rowOf(l.Row).unit == percent {
			continue
		}
		for round := range r.Rounds {
			ours, ok1 := l.Values[r.Peers[0]][round]
			theirs, ok2 := l.Values[r.Peers[1]][round]
			if ok1 && ok2 {
				l.Ratios = append(l.Ratios, rowOf(l.Row).ratio(ours, theirs))
			}
		}
		l.Ratio = median(l.Ratios)
	}
}

func position(key string) int {
	return slices.IndexFunc(rows, func(r row) bool { return r.key == key })
}

// median is 0 for an empty slice.
func median(vs []float64) float64 {
	vs = slices.Sorted(slices.Values(vs))
	n := len(vs)
	if n == 0 {
		return 0
	}
	return (vs[(n-1)/2] + vs[n/2]) / 2
}

// print writes the report to stdout in the form asked for, and the table to
// stderr if that is another one.
func (r *report) print(output string) error {
	if output != "json" {
		return r.table(os.Stdout)
	}
	if err := r.table(os.Stderr); err != nil {
		return err
	}
	e := json.NewEncoder(os.Stdout)
	e.SetIndent("", "  ")
	return e.Encode(r)
}

func (r *report) table(w io.Writer) error {
	m := r.Machine
	fmt.Fprintf(w, "%s, %d CPUs, %s, data on %s, load average %s before and %s after; medians of %d rounds\n",
		m.Platform, m.CPUs, m.Go, m.Filesystem, m.LoadBefore, m.LoadAfter, r.Rounds)
	if l := r.Layout; l.Members > 0 {
		fmt.Fprintf(w, "API servers of each kind: %d, on an etcd of %d members\n", l.Servers, l.Members)
	}
	for _, p := range r.Peers {
		if n, ok := r.Pod[p]; ok {
			fmt.Fprintf(w, "%s serves a pod as %d bytes\n", p, n)
		}
	}
	fmt.Fprintln(w)
	t := tabwriter.NewWriter(w, 0, 0, 1, ' ', 0)
	fmt.Fprint(t, "| load")
	for _, p := range r.Peers {
		fmt.Fprint(t, "\t| ", p)
	}
	fmt.Fprintln(t, "\t| ratio\t| goal\t|")
	fmt.Fprintln(t, "|---"+strings.Repeat("\t|---", len(r.Peers)+2)+"\t|")
	for _, l := range r.Rows {
		fmt.Fprint(t, "| ", l.Title)
		for _, p := range r.Peers {
			fmt.Fprint(t, "\t| ", l.text(p))
		}
		fmt.Fprintf(t, "\t| %s\t| %s\t|\n", times(l.Ratio), r.goal(l))
	}
	if err := t.Flush(); err != nil {
		return err
	}
	for _, f := range r.Failures {
		fmt.Fprintf(w, "\nfailed: %s, round %d, %s: %s\n", f.Server, f.Round, f.Load, f.Error)
	}
	return nil
}

func (l *line) text(peer string) string {
	v, ok := l.Median[peer]
	if !ok {
		return "-"
	}
	return rowOf(l.Row).format(v)
}

// goal is the row's goal: a ratio, and at the full sizes a figure.
func (r *report) goal(l *line) string {
	if l.Most == 0 || r.Sizes != full {
		return times(l.Goal)
	}
	most := fmt.Sprintf("%g %s", l.Most, l.Unit)
	if l.Goal == 0 {
		return most
	}
	return times(l.Goal) + ", " + most
}

func times(ratio float64) string {
	if ratio == 0 {
		return "-"
	}
	return fmt.Sprintf("%.1fx", ratio)
}
