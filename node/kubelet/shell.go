package kubelet

import (
	"bufio"
	"context"
	"fmt"
	"io"
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
		return sh.one(ctx, command), nil
	}
	if len(command) > 2 && strings.HasPrefix(command[1], "-") && strings.HasSuffix(command[1], "c") {
		return sh.script(ctx, command[2]), nil
	}
	if sh.in == nil {
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

// script runs commands that ";", "&&" and line ends divide.
func (sh *shell) script(ctx context.Context, text string) (code int) {
	for l := range strings.FieldsFuncSeq(text, func(r rune) bool { return r == ';' || r == '\n' }) {
		for part := range strings.SplitSeq(l, "&&") {
			words := words(part)
			if len(words) == 0 {
				continue
			}
			code = sh.one(ctx, words)
			if sh.exited || ctx.Err() != nil {
				return code
			}
			if code != 0 {
				break
			}
		}
	}
	return code
}

// words splits a command; quotes keep words together.
func words(text string) (out []string) {
	var word strings.Builder
	var quote rune
	inside := false
	for _, r := range text {
		switch {
		case quote != 0 && r == quote:
			quote = 0
		case quote == 0 && (r == '"' || r == '\''):
			quote, inside = r, true
		case quote == 0 && (r == ' ' || r == '\t'):
			if inside {
				out = append(out, word.String())
				word.Reset()
			}
			inside = false
		default:
			word.WriteRune(r)
			inside = true
		}
	}
	if inside {
		out = append(out, word.String())
	}
	return out
}

// one runs one command and returns its exit code.
func (sh *shell) one(ctx context.Context, command []string) int {
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
	case "echo":
		sh.print(strings.Join(args, " ") + "\n")
	case "pwd":
		sh.print(orRoot(sh.container.WorkingDir) + "\n")
	case "hostname":
		sh.print(sh.hostname() + "\n")
	case "env":
		sh.print("HOSTNAME=" + sh.hostname() + "\n")
		for _, e := range sh.env() {
			sh.print(e.Name + "=" + e.Value + "\n")
		}
	case "cat":
		if len(args) > 0 {
			return sh.complain(1, "cat: can't open '%s': No such file or directory\n", args[0])
		}
		sh.copy()
	case "sleep":
		return sh.sleep(ctx, args)
	case "sh", "bash", "ash":
		if len(args) > 1 && args[0] == "-c" {
			return sh.script(ctx, args[1])
		}
	default:
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
	d, err := time.ParseDuration(args[0])
	if seconds, e := strconv.ParseFloat(args[0], 64); e == nil {
		d, err = time.Duration(seconds*float64(time.Second)), nil
	}
	if err != nil {
		return sh.complain(1, "sleep: invalid number '%s'\n", args[0])
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

func orRoot(dir string) string {
	if dir == "" {
		return "/"
	}
	return dir
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
