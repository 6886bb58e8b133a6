package top

import (
	"fmt"
	"strings"

	"fairlead.dev/internal/trace/why"
)

const (
	// twoColumns is the width from which on the nodes and the writes stand beside the problems.
	twoColumns = 130
	maxSide    = 76
	maxNodes   = 16 // of which the fill is shown
	maxAffects = 6

	maxProgress = 10
)

func (s *overview) draw(m *Model, w, h int) []string {
	if w >= twoColumns {
		side := min(w/3, maxSide)
		return beside(s.main(m, w-side-3, h), append(s.writes(m, side), s.nodes(side)...), w-side-3, h)
	}
	writes, nodes := s.writes(m, w), s.nodes(w)
	if room := h - len(writes) - len(nodes); room >= h/2 && room >= 6 {
		main := s.main(m, w, room)
		return append(append(append(main, repeatLines(room-len(main))...), writes...), nodes...)
	}
	if h < 20 && len(s.targets()) > 0 { // a low terminal: the problems have it, and the numbers of the writes
		return append(s.rate(m, w)[:1], s.main(m, w, h-1)...)
	}
	room := max(h/2, h-len(writes)-min(len(nodes), 5))
	main := s.main(m, w, room)
	drawn := append(append(main, writes...), nodes...)
	return drawn[:min(len(drawn), h)]
}

func repeatLines(n int) []string { return make([]string, max(0, n)) }

// beside puts two columns side by side.
func beside(left, right []string, w, h int) (all []string) {
	for i := range min(h, max(len(left), len(right))) {
		line := ""
		if i < len(left) {
			line = left[i]
		}
		line = fit(line, w) + dim.of(" │ ")
		if i < len(right) {
			line += right[i]
		}
		all = append(all, line)
	}
	return all
}

// main draws the problems and the rollouts, as far as h lines reach.
func (s *overview) main(m *Model, w, h int) []string {
	switch {
	case s.err != nil:
		return wrap(red.of(m.describe(s.err)), w)
	case !s.read:
		return []string{dim.of("Looking at all objects…")}
	}
	var all []string
	from, to := 0, 0 // the lines of the chosen one
	mark := func(i int, lines []string) {
		if i == s.cursor.at {
			from, to = len(all), len(all)+len(lines)
		}
		all = append(all, lines...)
	}
	for i, p := range s.survey.Problems {
		mark(i, s.problem(&p, i == s.cursor.at, w))
	}
	if len(s.survey.Problems) == 0 {
		all = append(all, green.of("✓ All is well."), "")
	}
	if len(s.survey.Forbidden) > 0 {
		all = append(all, wrap(dim.of("Not looked at, because you may not list them: "+strings.Join(s.survey.Forbidden, ", ")), w)...)
	}
	if len(s.survey.Rollouts)+len(s.survey.Progress) > 0 {
		all = append(all, bold.of("In progress"))
	}
	for i, r := range s.survey.Rollouts {
		mark(len(s.survey.Problems)+i, []string{s.rollout(&r, len(s.survey.Problems)+i == s.cursor.at, w)})
	}
	for i, p := range s.survey.Progress {
		if i == maxProgress {
			all = append(all, dim.of(fmt.Sprintf("  and %s more", number(len(s.survey.Progress)-i))))
			break
		}
		all = append(all, clip("  "+clean(p.String()), w))
	}
	h = max(1, h)
	s.top = max(0, min(s.top, len(all)-h, from))
	if to > s.top+h {
		s.top = to - h
	}
	return all[s.top:min(len(all), s.top+h)]
}

// problem draws a root cause with the next step.
func (s *overview) problem(p *why.Problem, chosen bool, w int) []string {
	head := "✗ " + clean(p.String())
	lines := wrap(red.of("✗ ")+bold.of(clean(p.String())), w)
	if chosen {
		lines = nil
		for _, row := range wrap(head, w) {
			lines = append(lines, reverse.of(fit(strings.TrimSuffix(row, endStyle), w)))
		}
	}
	if p.Next != "" {
		lines = append(lines, wrap("  "+cyan.of("next:")+" "+clean(p.Next), w)...)
	}
	if len(p.Affects) > 0 {
		var names []string
		for _, a := range p.Affects[:min(len(p.Affects), maxAffects)] {
			names = append(names, a.Kind+" "+path(a.Namespace, a.Name))
		}
		if rest := len(p.Affects) - maxAffects; rest > 0 {
			names = append(names, fmt.Sprintf("%d more", rest))
		}
		lines = append(lines, wrap("  "+dim.of("affects: "+strings.Join(names, ", ")), w)...)
	}
	return append(lines, "")
}

// rollout draws how far a workload is.
func (s *overview) rollout(r *why.Rollout, chosen bool, w int) string {
	name := "  " + r.Kind + " " + path(r.Namespace, r.Name)
	state := fmt.Sprintf(" %d of %d", r.Done, r.Want)
	if chosen {
		return reverse.of(between(name, state, w))
	}
	return between(name, gauge(r.Done, r.Want, 20)+state, w)
}

// rate draws the writes of the last minute: a line with numbers, and their course, beside it if there is room.
func (s *overview) rate(m *Model, w int) []string {
	if m.trace.err != nil {
		return wrap(dim.of("Writes: "+m.describe(m.trace.err)), w)
	}
	var writes []int
	sum, beats := 0, 0
	for _, second := range m.trace.rates.last(m.now) {
		writes = append(writes, second.writes)
		sum += second.writes
		beats += second.heartbeats
	}
	recent := 0
	for _, n := range writes[len(writes)-10:] {
		recent += n
	}
	text := bold.of("Writes") + fmt.Sprintf(" %s/s, %s in a minute", perSecond(recent, 10), number(sum)) + dim.of(", "+count(beats, "heartbeat"))
	if room := w - width(text) - gap; room >= len(writes)/2 {
		return []string{text + repeat(" ", gap) + cyan.of(spark(writes, room))}
	}
	return []string{clip(text, w), cyan.of(spark(writes, w))}
}

func perSecond(n, seconds int) string {
	v := float64(n) / float64(seconds)
	if v < 10 {
		return fmt.Sprintf("%.1f", v)
	}
	return number(int(v + 0.5))
}

// writes draws the rate of writes and the busiest kinds.
func (s *overview) writes(m *Model, w int) []string {
	all := s.rate(m, w)
	for _, b := range m.trace.rates.busiest(m.now, 4) {
		all = append(all, clip(fmt.Sprintf("  %s %s/s", fit(b.resource, min(40, w-12)), perSecond(b.writes, rateSeconds-1)), w))
	}
	return append(all, "")
}

// nodes draws how full the nodes are.
func (s *overview) nodes(w int) []string {
	if len(s.survey.Nodes) == 0 {
		return nil
	}
	names := len("Nodes")
	for _, n := range s.survey.Nodes[:min(len(s.survey.Nodes), maxNodes)] {
		names = min(max(names, width(n.Name)+4), max(10, w/3))
	}
	bar := min(20, (w-names-10)/3-7)
	if bar < 3 {
		bar = 0 // the numbers are enough
	}
	head := bold.of(fit("Nodes", names)) + fit("", 10)
	for _, name := range []string{"pods", "CPU", "memory"} {
		head += dim.of(fit(name, bar+7))
	}
	all := []string{clip(head, w)}
	for i, n := range s.survey.Nodes {
		if i == maxNodes {
			return append(all, dim.of(fmt.Sprintf("  the %d fullest of %s nodes", maxNodes, number(len(s.survey.Nodes)))))
		}
		state := green.of(fit("Ready", 10))
		if !n.Ready {
			state = red.of(fit("NotReady", 10))
		}
		line := fit("  "+n.Name, names) + state
		for _, r := range [][2]int64{{n.Pods, n.MaxPods}, {n.CPU, n.MaxCPU}, {n.Memory, n.MaxMemory}} {
			line += gauge(r[0], r[1], bar) + fmt.Sprintf("%4d%%  ", percent(r[0], r[1]))
		}
		all = append(all, clip(line, w))
	}
	return all
}

func percent(have, most int64) int64 {
	if most <= 0 {
		return 0
	}
	return have * 100 / most
}
