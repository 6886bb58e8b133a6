package main

import (
	"fmt"
	"io"
	"os"
	"strings"
	"sync"

	"golang.org/x/term"
)

// progress prints one line for each finished step, in colour on a terminal that supports it
// (https://no-color.org).
type progress struct {
	mu struct {
		sync.Mutex // steps come from several parts
		out        io.Writer
	}
	mark string
	// report, if not nil, is called with each step, too.
	report func(startReport)
}

func newProgress(out *os.File) *progress {
	p := &progress{mark: "✓"}
	p.mu.out = out
	if os.Getenv("NO_COLOR") == "" && term.IsTerminal(int(out.Fd())) {
		p.mark = "\x1b[32m✓\x1b[0m"
	}
	return p
}

func (p *progress) step(what, detail string) {
	if p.report != nil {
		p.report(startReport{Step: what, Detail: detail})
	}
	p.line(fmt.Sprintf(" %s %-12s %s", p.mark, what, detail))
}

// warn is a step that one should know something about.
func (p *progress) warn(what, detail string) {
	if p.report != nil {
		p.report(startReport{Step: what, Detail: detail, Warn: true})
	}
	p.line(fmt.Sprintf(" ! %-12s %s", what, detail))
}

func (p *progress) line(s string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	fmt.Fprintln(p.mu.out, s)
}

// shellQuote makes s one word for a shell.
func shellQuote(s string) string {
	if !strings.ContainsAny(s, " \t\n'\"\\$`!*?[]{}()<>|&;#~") {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}
