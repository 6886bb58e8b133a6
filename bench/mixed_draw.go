package main

import (
	"fmt"
	"html"
	"math"
	"os"
	"strings"
)

// The sizes of the drawing of mixed, in pixels: of a server's panel and the margin in it.
const mixedWidth, mixedHeight, mixedMargin = 900, 260, 50

// lines are the values of a window that are drawn, from the lowest.
var lines = []struct {
	title, color string
	of           func(w *window) float64
}{
	{"p50", "#326ce5", func(w *window) float64 { return w.P50 }},
	{"p99", "#e58a32", func(w *window) float64 { return w.P99 }},
	{"p99.9", "#c0392b", func(w *window) float64 { return w.P999 }},
	{"longest", "#999", func(w *window) float64 { return w.Most }},
}

// drawMixed draws what small requests took, in a panel for each server over the same scales: minutes, and milliseconds in powers of
// ten. The windows with a storm are shaded.
func drawMixed(file string, r *report) error {
	var b strings.Builder
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" font-family="sans-serif" font-size="11">`+"\n", mixedWidth, mixedHeight*len(r.Peers))
	b.WriteString(`<rect width="100%" height="100%" fill="white"/>` + "\n")
	low, high := math.Inf(1), math.Inf(-1)
	for _, windows := range r.Windows {
		for i := range windows {
			low, high = math.Min(low, windows[i].P50), math.Max(high, windows[i].Most)
		}
	}
	low, high = math.Floor(math.Log10(low)), math.Ceil(math.Log10(high))
	for i, peer := range r.Peers {
		fmt.Fprintf(&b, `<g transform="translate(0 %d)">`+"\n", i*mixedHeight)
		fmt.Fprintf(&b, `<text x="%d" y="20" font-weight="bold">%s: %d small requests a second, milliseconds in windows of %s</text>`+"\n", mixedMargin, html.EscapeString(peer), r.Sizes.Rate, mixedWindow)
		if windows := r.Windows[peer]; len(windows) > 0 {
			drawWindows(&b, windows, low, high)
		}
		b.WriteString("</g>\n")
	}
	b.WriteString("</svg>\n")
	return os.WriteFile(file, []byte(b.String()), 0o644)
}

// drawWindows draws the lines of one server; low and high are the powers of ten of the scale.
func drawWindows(b *strings.Builder, windows []window, low, high float64) {
	const left, right, top, bottom = mixedMargin, mixedWidth - mixedMargin, mixedMargin, mixedHeight - mixedMargin
	last := windows[len(windows)-1].Minute
	x := func(minute float64) float64 { return left + (right-left)*minute/last }
	y := func(v float64) float64 {
		return bottom - (bottom-top)*(math.Log10(math.Max(v, math.Pow(10, low)))-low)/(high-low)
	}
	for i := range windows {
		if windows[i].Storm {
			from := x(windows[i].Minute - mixedWindow.Minutes())
			fmt.Fprintf(b, `<rect x="%.1f" y="%d" width="%.1f" height="%d" fill="#f3ecd8"/>`+"\n", from, top, x(windows[i].Minute)-from, bottom-top)
		}
	}
	for power := low; power <= high; power++ {
		at := math.Pow(10, power)
		fmt.Fprintf(b, `<path d="M%d %.1fH%d" stroke="#ddd"/><text x="%d" y="%.1f" text-anchor="end" fill="#555">%g</text>`+"\n", left, y(at), right, left-6, y(at)+4, at)
	}
	step := math.Max(1, math.Ceil(last/12))
	for minute := 0.0; minute <= last; minute += step {
		fmt.Fprintf(b, `<text x="%.1f" y="%d" text-anchor="middle" fill="#555">%g min</text>`+"\n", x(minute), bottom+16, minute)
	}
	for i, l := range lines {
		var line strings.Builder
		for j := range windows {
			w := &windows[j]
			fmt.Fprintf(&line, "%.1f,%.1f ", x(w.Minute-mixedWindow.Minutes()/2), y(l.of(w)))
		}
		fmt.Fprintf(b, `<polyline points="%s" fill="none" stroke="%s" stroke-width="1.5"/>`+"\n", strings.TrimSpace(line.String()), l.color)
		fmt.Fprintf(b, `<text x="%d" y="38" fill="%s" font-weight="bold">%s</text>`+"\n", left+i*70, l.color, l.title)
	}
	fmt.Fprintf(b, `<text x="%d" y="38" fill="#a08a3c">shaded: %d clients list all pods</text>`+"\n", left+len(lines)*70, stormClients)
}
