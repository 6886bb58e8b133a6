package shell

import (
	"cmp"
	"context"
	"io"
	"maps"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
)

// Streams are the standard streams of a command. One that is nil is closed.
type Streams struct {
	In       io.Reader
	Out, Err io.Writer
	TTY      bool // Err goes to Out
}

// Container is the part of a container that its commands see.
type Container struct {
	Hostname   string
	WorkingDir string          // "" is the root
	Env        []corev1.EnvVar // without HOSTNAME; the last of a name counts
	Files      *Files
}

// Run runs a command in a container until it ends or ctx does, and returns its exit code: 126 if
// the script has something that is not simulated, 127 if there is no such program, 137 if ctx has ended.
func Run(ctx context.Context, c Container, streams Streams, command []string) int {
	sh := newShell(c, streams)
	sh.clock.wait = func(d time.Duration) bool {
		t := time.NewTimer(d)
		defer t.Stop()
		select {
		case <-t.C:
			return true
		case <-ctx.Done():
			return false
		}
	}
	if isShell(command[0]) && len(command) == 1 && sh.stdin != nil {
		return sh.interact(ctx, streams)
	}
	return sh.top(func() int { return sh.run(command) })
}

// shell is one shell: that of the script, or a subshell with a copy of its state. It belongs to one goroutine.
type shell struct {
	*session
	vars           map[string]variable
	held           int      // bytes that the script has put into vars and params
	params         []string // $1 and on
	dir            string
	status         int // $?
	substituted    int // exit code of the last command substitution in the statement
	stdin          *input
	stdout, stderr io.Writer
	exitOnError    bool // set -e
	noUnset        bool // set -u
	tested         bool // a failure decides on the next command, so -e does not end the shell
	loops          int  // enclosing loops
	breaks         int  // enclosing loops to leave before the next statement
	continues      bool // the last of them goes on with its next round
}

// session is shared by a shell and its subshells.
type session struct {
	container    Container
	clock        clock
	steps        int        // statements since the last breath on the machine's clock
	virtualSteps int        // statements in virtual time, so far
	expanded     int        // bytes that the current statement has expanded to
	depth        int        // of nested statements
	captured     int        // enclosing pipes and command substitutions, which collect the output
	recorder     *recording // of a prediction; nil on the clock of the machine
	envFrom      bool       // a prediction in which config maps and secrets make environment
	unsure       bool       // the current statement has a value that only the server knows
}

func newShell(c Container, s Streams) *shell {
	if c.Files == nil {
		c.Files = NewFiles()
	}
	c.WorkingDir = cmp.Or(c.WorkingDir, "/")
	c.Files.give(c.WorkingDir)
	sh := &shell{
		session: &session{container: c}, vars: map[string]variable{}, dir: c.WorkingDir,
		stdout: orDiscard(s.Out), stderr: orDiscard(s.Err),
	}
	if s.TTY || s.Err == nil {
		sh.stderr = sh.stdout
	}
	if s.In != nil {
		sh.stdin = newInput(s.In)
	}
	sh.vars["HOSTNAME"] = variable{value: c.Hostname, exported: true}
	for _, e := range c.Env {
		sh.vars[e.Name] = variable{value: e.Value, exported: true}
	}
	return sh
}

func orDiscard(w io.Writer) io.Writer {
	if w == nil {
		return io.Discard
	}
	return w
}

// Reasons to leave the interpreter from any depth, as values of panics.
type (
	exit    int      // of the innermost shell, with that code
	refusal string   // of the whole script, which has the construct that the string names
	killed  struct{} // the context has ended
	endless struct{} // the script never ends
)

// refuse ends the whole script, because something is not simulated.
func refuse(what string) { panic(refusal(what)) }

// top runs f as the whole of a command, and returns its exit code.
func (sh *shell) top(f func() int) (code int) {
	code, _ = sh.attempt(f)
	return code
}

// attempt runs f, and reports whether the shell has ended, as it does by the command exit and with its context.
func (sh *shell) attempt(f func() int) (code int, ended bool) {
	defer func() {
		switch r := recover().(type) {
		case nil:
		case exit:
			code, ended = int(r), true
		case killed:
			code, ended = 137, true
		case endless: // only a prediction gets there
			code, ended = 0, true
		case refusal:
			sh.reject(string(r))
			code = 126
		default: // the library met a script that it does not expect
			sh.reject("this script")
			code = 126
		}
	}()
	return f(), false
}

// reject reports on standard error that a script is refused; it ends a prediction.
func (sh *shell) reject(what string) {
	if sh.recorder != nil {
		sh.recorder.lost = true
		return
	}
	io.WriteString(sh.stderr, "sh: "+what+": not simulated\n")
}

// subshell runs f in a copy of the shell. The exit command ends the copy only.
func (sh *shell) subshell(f func(*shell) int) (code int) {
	sub := *sh
	sub.vars, sub.loops = maps.Clone(sh.vars), 0
	defer func() {
		if r := recover(); r != nil {
			e, ok := r.(exit)
			if !ok {
				panic(r)
			}
			code = int(e)
		}
	}()
	return f(&sub)
}

// run runs a command that is given as words, as exec and the fields command and args of containers give it.
func (sh *shell) run(words []string) int {
	if !isShell(words[0]) {
		return sh.call(words)
	}
	rest := words[1:]
	for len(rest) > 0 && len(rest[0]) > 1 && rest[0][0] == '-' {
		flags := rest[0][1:]
		rest = rest[1:]
		isScript := strings.Contains(flags, "c")
		if sh.setFlags(strings.ReplaceAll(flags, "c", ""), true); isScript {
			if len(rest) == 0 {
				return sh.complain(2, "sh: -c requires an argument\n")
			}
			if len(rest) > 2 {
				sh.setParams(rest[2:])
			}
			return sh.script(rest[0])
		}
	}
	if sh.stdin == nil && len(rest) == 0 && sh.recorder == nil {
		return 0
	}
	refuse("a script that is read from a file or a pipe")
	return 126
}

func isShell(name string) bool {
	switch base(name) {
	case "sh", "bash", "ash":
		return true
	}
	return false
}

func base(name string) string { return name[strings.LastIndexByte(name, '/')+1:] }

// script parses and runs a text.
func (sh *shell) script(text string) int {
	stmts, err := parse(text)
	if err != nil {
		if sh.recorder != nil {
			refuse("a syntax error")
		}
		return sh.complain(2, "sh: %v\n", err)
	}
	return sh.list(stmts)
}
