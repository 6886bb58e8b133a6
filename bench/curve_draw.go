package main

import (
	"fmt"
	"html"
	"io"
	"math"
	"os"
	"slices"
	"strings"
	"text/tabwriter"
)

// series is a cost of points, with the title of its panel.
type series struct {
	title, unit string
	of          func(p *point) float64
}

// costs are the series of a curve.
var costs = []series{
	{"resident memory", "MB", func(p *point) float64 { return p.Resident }},
	{"memory per pod", "KB", func(p *point) float64 { return p.Resident * 1e3 / float64(p.Pods) }},
	{"CPU of a pod, create to Running", "µs", func(p *point) float64 { return p.PodCPU }},
	{"pods that become Running", "1/s", func(p *point) float64 { return p.PodsPerSecond }},
	{"CPU of a GET", "µs", func(p *point) float64 { return p.Get }},
	{"CPU of a patch", "µs", func(p *point) float64 { return p.Patch }},
	{"CPU of a create", "µs", func(p *point) float64 { return p.Create }},
	{"CPU of a delivery to a watcher", "µs", func(p *point) float64 { return p.FanOut }},
	{"write to watcher, p99", "ms", func(p *point) float64 { return p.FanOutP99 }},
	{"CPU of a patch, watcher of each node", "µs", func(p *point) float64 { return p.OwnNode }},
	{"patch to its node's watcher, p99", "ms", func(p *point) float64 { return p.OwnNodeP99 }},
	{"CPU of a page of 500", "µs", func(p *point) float64 { return p.Page }},
	{"list of all, protobuf", "s", func(p *point) float64 { return p.List }},
	{"memory that list adds", "MB", func(p *point) float64 { return p.Growth }},
	{"restart after kill -9", "s", func(p *point) float64 { return p.Restart }},
	{"disk", "MB", func(p *point) float64 { return p.Disk }},
}

// measured returns the series of which a point has a value.
func measured(points []point) []series {
	return slices.DeleteFunc(slices.Clone(costs), func(s series) bool {
		return !slices.ContainsFunc(points, func(p point) bool { return s.of(&p) != 0 })
	})
}

func printCurve(out io.Writer, points []point) {
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprint(w, "pods\t")
	for _, p := range points {
		fmt.Fprintf(w, "%d\t", p.Pods)
	}
	fmt.Fprint(w, "\nnodes\t")
	for _, p := range points {
		fmt.Fprintf(w, "%d\t", p.Nodes)
	}
	for _, s := range measured(points) {
		fmt.Fprintf(w, "\n%s, %s\t", s.title, s.unit)
		for _, p := range points {
			fmt.Fprintf(w, "%s\t", digits(s.of(&p)))
		}
	}
	fmt.Fprintln(w)
	w.Flush()
}

// digits formats a value with three digits.
func digits(v float64) string {
	if v == 0 {
		return "0"
	}
	return fmt.Sprintf("%.*f", max(0, 2-int(math.Floor(math.Log10(math.Abs(v))))), v)
}

// The sizes of the drawing, in pixels: of a panel, of the margin in it, and of the panels in a row.
const (
	panelWidth, panelHeight, panelMargin, panelsInRow = 300, 190, 34, 3
)

// drawCurve draws a panel for each series, over the number of pods in powers of ten; no file for "".
func drawCurve(file string, points []point) error {
	if file == "" {
		return nil
	}
	var b strings.Builder
	all := measured(points)
	rows := (len(all) + panelsInRow - 1) / panelsInRow
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" font-family="sans-serif" font-size="11">`+"\n", panelWidth*panelsInRow, panelHeight*rows)
	b.WriteString(`<rect width="100%" height="100%" fill="white"/>` + "\n")
	for i, s := range all {
		fmt.Fprintf(&b, `<g transform="translate(%d %d)">`+"\n", i%panelsInRow*panelWidth, i/panelsInRow*panelHeight)
		fmt.Fprintf(&b, `<text x="%d" y="18" font-weight="bold">%s, %s</text>`+"\n", panelMargin, html.EscapeString(s.title), s.unit)
		drawPanel(&b, points, s.of)
		b.WriteString("</g>\n")
	}
	b.WriteString("</svg>\n")
	return os.WriteFile(file, []byte(b.String()), 0o644)
}

// drawPanel draws the line of one series, which begins at zero.
func drawPanel(b *strings.Builder, points []point, of func(*point) float64) {
	const left, right, top, bottom = panelMargin, panelWidth - panelMargin, panelMargin, panelHeight - panelMargin
	first, last, most := math.Log10(float64(points[0].Pods)), math.Log10(float64(points[len(points)-1].Pods)), 0.0
	for i := range points {
		most = math.Max(most, of(&points[i]))
	}
	x := func(p *point) float64 {
		if first == last {
			return (left + right) / 2
		}
		return left + (right-left)*(math.Log10(float64(p.Pods))-first)/(last-first)
	}
	y := func(p *point) float64 { return bottom - (bottom-top)*of(p)/math.Max(most*1.15, 1e-9) }
	fmt.Fprintf(b, `<path d="M%d %dV%dH%d" fill="none" stroke="#999"/>`+"\n", left, top, bottom, right)
	var line strings.Builder
	for i := range points {
		p := &points[i]
		fmt.Fprintf(&line, "%.1f,%.1f ", x(p), y(p))
		fmt.Fprintf(b, `<circle cx="%.1f" cy="%.1f" r="3" fill="#326ce5"/><text x="%.1f" y="%.1f" text-anchor="middle">%s</text>`+"\n", x(p), y(p), x(p), y(p)-7, digits(of(p)))
		fmt.Fprintf(b, `<text x="%.1f" y="%d" text-anchor="middle" fill="#555">%s</text>`+"\n", x(p), bottom+14, thousands(p.Pods))
	}
	fmt.Fprintf(b, `<polyline points="%s" fill="none" stroke="#326ce5" stroke-width="1.5"/>`+"\n", strings.TrimSpace(line.String()))
}

// thousands is a number of pods in short.
func thousands(n int) string {
	if n >= 1_000_000 {
		return digits(float64(n)/1e6) + "M"
	}
	return fmt.Sprintf("%dk", n/1000)
}
