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
		passing    bool // the last line is one that the next one replaces
	}
	mark     string
	terminal bool
	// report, if not nil, is called with each step, too.
	report func(startReport)
}

func newProgress(out *os.File) *progress {
	p := &progress{mark: "✓", terminal: term.IsTerminal(int(out.Fd())) && os.Getenv("TERM") != "dumb"}
	p.mu.out = out
	if os.Getenv("NO_COLOR") == "" && p.terminal {
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
	p.clear()
	fmt.Fprintln(p.mu.out, s)
}

// passing prints a line that, on a terminal, the next one replaces.
func (p *progress) passing(s string) {
	if p.report != nil {
		p.report(startReport{Passing: s})
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.terminal {
		fmt.Fprintln(p.mu.out, s)
		return
	}
	p.clear()
	fmt.Fprint(p.mu.out, s)
	p.mu.passing = true
}

// end removes a line that nothing has replaced.
func (p *progress) end() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.clear()
}

// clear removes a passing line. p.mu is held.
func (p *progress) clear() {
	if p.mu.passing {
		fmt.Fprint(p.mu.out, "\r\x1b[K")
		p.mu.passing = false
	}
}

// shellQuote makes s one word for a shell.
func shellQuote(s string) string {
	if !strings.ContainsAny(s, " \t\n'\"\\$`!*?[]{}()<>|&;#~") {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}
