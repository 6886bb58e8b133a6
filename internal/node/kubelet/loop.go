package kubelet

import (
	"context"
	"slices"
	"time"
)

// loop is `while cond; do body; done`, or until.
type loop struct {
	cond, body []command
	until      bool
}

// loopAt reads a loop at the beginning of commands, and how many of them it is. There are none in it.
func loopAt(list []command) (l loop, n int, ok bool) {
	keyword := func(c command) string {
		if len(c.words) == 0 {
			return ""
		}
		return c.words[0].literal()
	}
	without := func(c command) command {
		c.words = c.words[1:]
		return c
	}
	first := keyword(list[0])
	if first != "while" && first != "until" {
		return l, 0, false
	}
	l.until = first == "until"
	l.cond = []command{without(list[0])}
	in := &l.cond
	for n = 1; n < len(list); n++ {
		c := list[n]
		switch keyword(c) {
		case "do":
			if in == &l.body {
				return l, 0, false
			}
			in = &l.body
			if c = without(c); slices.Contains([]string{"while", "until", "for", "if", "case"}, keyword(c)) {
				return l, 0, false
			}
		case "done":
			return l, n + 1, in == &l.body && len(c.words) == 1
		case "while", "until", "for", "if", "case":
			return l, 0, false
		}
		*in = append(*in, c)
	}
	return l, 0, false
}

// breath is how long a loop that happens rests between its rounds, so that an empty one does not
// take the whole machine.
const breath = 10 * time.Millisecond

// loop goes on as long as the condition holds. Nothing that is understood differs from one round to the
// next, so of a loop that is only thought of one is enough.
func (sh *shell) loop(ctx context.Context, l loop) (code int) {
	sh.loops++
	defer func() { sh.loops-- }()
	over := func() bool { return sh.exited || sh.isLost() || ctx.Err() != nil }
	for {
		var began time.Duration
		said := 0
		if sh.plan != nil {
			began, said = sh.plan.now, len(sh.plan.output)
		}
		if holds := sh.commands(ctx, l.cond) == 0; over() || holds == l.until {
			return code
		}
		if code = sh.commands(ctx, l.body); over() {
			return code
		}
		if sh.plan != nil {
			sh.plan.repeat(began, said)
			sh.exited = true
			return code
		}
		sh.wait(ctx, breath)
	}
}

// Loop is what a container does again and again.
type Loop struct {
	From, Every time.Duration
	Output      []Output // of the first time
}

// repeat has what was done since a time be done for ever, with all that was written but the first outputs. What
// takes no time is not understood: it would write without end.
func (p *plan) repeat(began time.Duration, said int) {
	if p.now <= began {
		p.lost = true
		return
	}
	p.loop = &Loop{From: began, Every: p.now - began, Output: slices.Clone(p.output[said:])}
	p.output, p.now = p.output[:said], Forever
}

// mostLines is how much of a loop's output is kept, about.
const mostLines = 10_000

// written are the outputs of a loop some time after the container's start, the latest of them, and in how many
// rounds it has written those before them.
func (l *Loop) written(after time.Duration) (latest []Output, before int) {
	if l == nil || after < l.From || len(l.Output) == 0 {
		return nil, 0
	}
	rounds := int((after-l.From)/l.Every) + 1
	first := max(0, rounds-mostLines/len(l.Output)-1)
	for round := first; round < rounds; round++ {
		for _, o := range l.Output {
			if o.After += time.Duration(round) * l.Every; o.After <= after {
				latest = append(latest, o)
			}
		}
	}
	return latest, first
}
