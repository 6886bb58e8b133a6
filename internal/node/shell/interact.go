package shell

import (
	"context"
	"io"
	"strings"

	"golang.org/x/term"
	"mvdan.cc/sh/v3/syntax"
)

// interact reads statements from standard input and runs them one after the other; from a terminal,
// with a prompt. A refused statement does not end the shell.
func (sh *shell) interact(ctx context.Context, streams Streams) (code int) {
	next := sh.stdin.line
	if streams.TTY {
		t := term.NewTerminal(duplex{streams.In, sh.stdout}, "/ # ")
		next = func() (string, error) {
			l, err := t.ReadLine()
			return l + "\n", err
		}
		sh.stdout, sh.stderr = t, t
	}
	text, ended, over := "", false, false
	for ctx.Err() == nil && !ended {
		l, err := next()
		ended = err != nil
		if text += l; ended && strings.TrimSpace(text) == "" || len(text) > maxText {
			break
		}
		if _, err := parse(text); err != nil && syntax.IsIncomplete(err) && !ended {
			continue
		}
		script := text
		if code, over = sh.attempt(func() int { return sh.script(script) }); over {
			return code
		}
		sh.status, text = code, ""
	}
	return code
}

// duplex is both directions of a terminal.
type duplex struct {
	io.Reader
	io.Writer
}
