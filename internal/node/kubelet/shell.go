package kubelet

import (
	"bufio"
	"cmp"
	"context"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"

	"golang.org/x/term"
	corev1 "k8s.io/api/core/v1"
)

// shell takes commands in a container that has no programs. It knows the few that
// scripts and people try first, and says of all others that they are not there.
type shell struct {
	pod       *corev1.Pod
	container *corev1.Container
	env       func() []corev1.EnvVar
	terminal
	lines  *bufio.Reader
	exited bool
	set    []corev1.EnvVar // by the script
	loops  int             // in which it is
	plan   *plan           // of what is only thought of; nil if it happens
}

func (s *Server) newShell(pod *corev1.Pod, container *corev1.Container, t terminal) *shell {
	sh := &shell{pod: pod, container: container, terminal: t}
	sh.env = func() []corev1.EnvVar { return s.pods.Env(pod, container) }
	if t.in != nil {
		sh.lines = bufio.NewReader(t.in)
	}
	return sh
}

// start runs the command that exec was given.
func (sh *shell) start(ctx context.Context, command []string) (int, error) {
	if !sh.isShell(command[0]) {
		return sh.one(ctx, command, nil), nil
	}
	if len(command) > 2 && strings.HasPrefix(command[1], "-") && strings.HasSuffix(command[1], "c") {
		if command[1] != "-c" {
			sh.wonder()
		}
		return sh.script(ctx, command[2]), nil
	}
	if sh.wonder(); sh.in == nil {
		return 0, nil
	}
	return sh.interact(ctx)
}

func (sh *shell) isShell(name string) bool {
	switch name[strings.LastIndexByte(name, '/')+1:] {
	case "sh", "bash", "ash":
		return true
	}
	return false
}

// interact reads commands, from a terminal with a prompt.
func (sh *shell) interact(ctx context.Context) (code int, err error) {
	next := func() (string, error) {
		l, err := sh.lines.ReadString('\n')
		if err == io.EOF && l != "" {
			err = nil
		}
		return strings.TrimRight(l, "\r\n"), err
	}
	if sh.tty {
		t := term.NewTerminal(screen{sh.in, sh.out}, "/ # ")
		next = t.ReadLine
		sh.out = t
	}
	for !sh.exited && ctx.Err() == nil {
		l, err := next()
		if err != nil {
			return code, nil
		}
		if strings.TrimSpace(l) != "" {
			code = sh.script(ctx, l)
		}
	}
	return code, nil
}

// screen is both streams of a terminal.
type screen struct {
	io.Reader
	io.Writer
}

// script runs the commands of a text.
func (sh *shell) script(ctx context.Context, text string) (code int) {
	return sh.commands(ctx, parse(text))
}

// commands runs them, until one ends the shell.
func (sh *shell) commands(ctx context.Context, list []command) (code int) {
	skip := false
	for len(list) > 0 {
		c := list[0]
		if c.strange {
			sh.wonder()
		}
		if l, n, ok := loopAt(list); ok {
			if c = list[n-1]; !skip {
				code = sh.redirected(c, func() int { return sh.loop(ctx, l) })
			}
			list = list[n:]
		} else {
			if !skip && len(c.words) > 0 {
				code = sh.redirected(c, func() int { return sh.simple(ctx, c.words) })
			}
			list = list[1:]
		}
		if sh.exited || sh.isLost() || ctx.Err() != nil {
			return code
		}
		skip = c.then == ifGood && code != 0 || c.then == ifNotOK && code == 0
	}
	return code
}

// simple runs one command, with what is assigned before it; without a command that is for the script.
func (sh *shell) simple(ctx context.Context, words []word) int {
	var set []corev1.EnvVar
	for len(words) > 0 {
		name, value, ok := words[0].assigns()
		if !ok {
			break
		}
		for i := range value {
			value[i].quoted = true // it stays one word
		}
		text, sure := sh.fields([]word{value})
		if !sure {
			sh.wonder()
		}
		set = append(set, corev1.EnvVar{Name: name, Value: strings.Join(text, "")})
		words = words[1:]
	}
	if len(words) == 0 {
		if sh.loops > 0 {
			sh.wonder() // the rounds of a loop would differ
		}
		sh.set = append(sh.set, set...)
		return 0
	}
	command, sure := sh.fields(words)
	if len(command) == 0 {
		return 0
	}
	if !sure { // only text may depend on it
		sh.plan.vague = true
		if command[0] != "echo" {
			sh.wonder()
		}
	}
	return sh.one(ctx, command, set)
}

// wonder notes that a command is not understood, which counts only in a plan.
func (sh *shell) wonder() {
	if sh.plan != nil {
		sh.plan.lost = true
	}
}

// isLost says whether it is of no use to go on.
func (sh *shell) isLost() bool { return sh.plan != nil && sh.plan.lost }

// one runs one command, with some more environment, and returns its exit code.
func (sh *shell) one(ctx context.Context, command []string, set []corev1.EnvVar) int {
	switch args := command[1:]; command[0][strings.LastIndexByte(command[0], '/')+1:] {
	case "true", ":":
	case "false":
		return 1
	case "exit":
		sh.exited = true
		if len(args) > 0 {
			n, err := strconv.Atoi(args[0])
			if err != nil {
				return 2
			}
			return n & 0xff
		}
	case "exec":
		if sh.exited = true; len(args) > 0 {
			return sh.one(ctx, args, set)
		}
		sh.exited = false
	case "echo":
		end := "\n"
		if len(args) > 0 && args[0] == "-n" {
			args, end = args[1:], ""
		} else if len(args) > 0 && strings.HasPrefix(args[0], "-") {
			sh.wonder()
		}
		sh.print(strings.Join(args, " ") + end)
	case "pwd":
		sh.print(cmp.Or(sh.container.WorkingDir, "/") + "\n")
	case "hostname":
		sh.print(sh.hostname() + "\n")
	case "env":
		if len(args) > 0 {
			sh.wonder()
		}
		for _, e := range append(sh.environment(), set...) {
			sh.print(e.Name + "=" + e.Value + "\n")
		}
	case "cat":
		sh.wonder()
		if len(args) > 0 {
			return sh.complain(1, "cat: can't open '%s': No such file or directory\n", args[0])
		}
		sh.copy()
	case "tail":
		if len(args) == 2 && args[0] == "-f" && args[1] == "/dev/null" {
			return sh.wait(ctx, Forever)
		}
		sh.wonder()
		return sh.complain(1, "tail: only -f /dev/null can be looked at\n")
	case "sleep":
		return sh.sleep(ctx, args)
	case "sh", "bash", "ash":
		if len(args) > 1 && args[0] == "-c" {
			sub := *sh
			sub.exited, sub.set = false, slices.Clone(set)
			return sub.script(ctx, args[1])
		}
		sh.wonder()
	default:
		sh.wonder()
		return sh.complain(127, "exec: %q: executable file not found in $PATH\n", command[0])
	}
	return 0
}

func (sh *shell) copy() {
	if sh.in == nil || sh.out == nil {
		return
	}
	io.Copy(sh.out, sh.lines)
}

func (sh *shell) sleep(ctx context.Context, args []string) int {
	if len(args) == 0 {
		return sh.complain(1, "sleep: missing operand\n")
	}
	var whole time.Duration
	for _, a := range args {
		d, err := time.ParseDuration(a)
		if seconds, e := strconv.ParseFloat(a, 64); e == nil {
			d, err = time.Duration(min(seconds, 1e9)*float64(time.Second)), nil
		}
		if err != nil || d < 0 {
			sh.wonder()
			return sh.complain(1, "sleep: invalid number '%s'\n", a)
		}
		whole += d
	}
	if slices.ContainsFunc(args, func(a string) bool { return strings.HasPrefix(a, "inf") }) {
		whole = Forever
	}
	return sh.wait(ctx, whole)
}

// wait lets time pass; the exit code is that of a process that does so.
func (sh *shell) wait(ctx context.Context, d time.Duration) int {
	if sh.plan != nil {
		if !sh.plan.sleep(d) {
			sh.exited = true
		}
		return 0
	}
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return 0
	case <-ctx.Done():
		return 137
	}
}

func (sh *shell) hostname() string {
	if sh.pod.Spec.Hostname != "" {
		return sh.pod.Spec.Hostname
	}
	return sh.pod.Name
}

func (sh *shell) print(text string) { say(sh.out, text) }

func (sh *shell) complain(code int, format string, args ...any) int {
	w := sh.err
	if sh.tty || w == nil {
		w = sh.out
	}
	say(w, fmt.Sprintf(format, args...))
	return code
}
