package shell

import (
	"fmt"
	"io"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"mvdan.cc/sh/v3/expand"
	"mvdan.cc/sh/v3/syntax"
)

// commands are the programs and builtins that are simulated. Each returns its exit code.
var commands map[string]func(*shell, []string) int

func init() { // some of them run others
	commands = map[string]func(*shell, []string) int{
		":": succeed, "true": succeed, "false": func(*shell, []string) int { return 1 },
		"exit": (*shell).exit, "exec": (*shell).exec, "set": (*shell).set, "shift": (*shell).shift, "unset": (*shell).unset,
		"break": leave(false), "continue": leave(true), "cd": (*shell).cd, "read": (*shell).readLine,
		"echo": (*shell).echo, "printf": (*shell).printf, "pwd": (*shell).pwd, "hostname": (*shell).hostname,
		"env": (*shell).env, "printenv": (*shell).printenv, "sleep": (*shell).sleepCommand,
		"sh": (*shell).nested, "bash": (*shell).nested, "ash": (*shell).nested,
		"cat": (*shell).cat, "head": (*shell).head, "tail": (*shell).tail, "wc": (*shell).wc, "grep": (*shell).grep,
		"touch": (*shell).touch, "rm": (*shell).rm, "mkdir": (*shell).mkdir,
		"test": (*shell).test, "[": (*shell).test,
	}
}

// builtins are commands of a shell that are not simulated. A program of such a name does not exist either.
var builtins = []string{".", "alias", "bg", "builtin", "command", "declare", "dirs", "enable", "eval", "fc", "fg", "getopts", "hash", "help",
	"jobs", "kill", "let", "local", "mapfile", "popd", "pushd", "readarray", "readonly", "return", "shopt", "source", "suspend", "time", "times",
	"trap", "type", "typeset", "ulimit", "umask", "unalias", "wait"}

// call runs a command by its name, or by the path of its program.
func (sh *shell) call(args []string) int {
	if run, ok := commands[base(args[0])]; ok {
		return run(sh, args[1:])
	}
	if sh.recorder != nil {
		refuse("the program " + args[0])
	}
	if slices.Contains(builtins, args[0]) {
		refuse(args[0])
	}
	return sh.complain(127, "exec: %q: executable file not found in $PATH\n", args[0])
}

// complain writes to standard error and returns a code.
func (sh *shell) complain(code int, format string, args ...any) int {
	fmt.Fprintf(sh.stderr, format, args...)
	return code
}

// dispute is complain, of arguments that another implementation of the command may accept: a prediction ends.
func (sh *shell) dispute(code int, format string, args ...any) int {
	if sh.recorder != nil {
		refuse("an argument")
	}
	return sh.complain(code, format, args...)
}

func (sh *shell) print(text string) { io.WriteString(sh.stdout, text) }

func succeed(*shell, []string) int { return 0 }

func (sh *shell) exit(args []string) int {
	code := sh.status
	if len(args) > 0 {
		n, err := strconv.Atoi(args[0])
		if err != nil {
			n = sh.dispute(2, "sh: exit: Illegal number: %s\n", args[0])
		}
		code = n & 0xff
	}
	panic(exit(code))
}

func (sh *shell) exec(args []string) int {
	if len(args) == 0 {
		refuse("exec without a command")
	}
	panic(exit(sh.call(args)))
}

func (sh *shell) set(args []string) int {
	for len(args) > 0 {
		a := args[0]
		if args = args[1:]; a == "--" {
			sh.setParams(args)
			return 0
		}
		if len(a) < 2 || a[0] != '-' && a[0] != '+' {
			refuse("set " + a)
		}
		sh.setFlags(a[1:], a[0] == '-')
	}
	return 0
}

// setFlags switches options of the shell.
func (sh *shell) setFlags(flags string, on bool) {
	for _, f := range flags {
		switch f {
		case 'e':
			sh.exitOnError = on
		case 'u':
			sh.noUnset = on
		default:
			refuse("the option -" + string(f))
		}
	}
}

func (sh *shell) shift(args []string) int {
	n := 1
	if len(args) > 0 {
		n, _ = strconv.Atoi(args[0])
	}
	if n < 0 || n > len(sh.params) {
		return sh.dispute(1, "sh: shift: can't shift that many\n")
	}
	sh.params = sh.params[n:]
	return 0
}

func (sh *shell) unset(names []string) int {
	for _, name := range names {
		if !syntax.ValidName(name) || sh.recorder != nil {
			refuse("unset")
		}
		delete(sh.vars, name)
	}
	return 0
}

// leave returns the commands break and continue.
func leave(continues bool) func(*shell, []string) int {
	return func(sh *shell, args []string) int {
		n := 1
		if len(args) > 0 {
			n, _ = strconv.Atoi(args[0])
		}
		if n < 1 {
			return sh.dispute(1, "sh: Illegal number: %s\n", args[0])
		}
		sh.breaks, sh.continues = min(n, sh.loops), continues
		return 0
	}
}

func (sh *shell) cd(args []string) int {
	dir := "/"
	if len(args) > 0 {
		dir = args[0]
	}
	if to := sh.resolve(dir); sh.container.Files.isDir(to) {
		sh.dir = to
		return 0
	}
	return sh.dispute(1, "sh: cd: can't cd to %s: No such file or directory\n", dir)
}

func (sh *shell) readLine(args []string) int {
	raw := false
	if len(args) > 0 && args[0] == "-r" {
		raw, args = true, args[1:]
	}
	for _, name := range args {
		if !syntax.ValidName(name) {
			refuse("read " + name)
		}
	}
	if len(args) == 0 {
		args = []string{"REPLY"}
	}
	line, err := "", io.EOF
	if sh.stdin != nil {
		line, err = sh.stdin.line()
	} else if sh.recorder != nil {
		refuse("standard input")
	}
	line = strings.TrimSuffix(line, "\n")
	if !raw && strings.Contains(line, `\`) {
		refuse("read without -r of a backslash")
	}
	values := expand.ReadFields(sh.config(), line, len(args), raw)
	for i, name := range args {
		value := ""
		if i < len(values) {
			value = values[i]
		}
		sh.assign(name, value)
	}
	return oneIf(err != nil)
}

func (sh *shell) echo(args []string) int {
	end, escapes := "\n", false
	for len(args) > 0 && regexp.MustCompile(`^-[neE]+$`).MatchString(args[0]) {
		if strings.Contains(args[0], "n") {
			end = ""
		}
		escapes = strings.LastIndexByte(args[0], 'e') > strings.LastIndexByte(args[0], 'E')
		args = args[1:]
	}
	text := strings.Join(args, " ")
	if escapes {
		text, _, _ = expand.Format(sh.config(), text, nil)
	}
	sh.print(text + end)
	return 0
}

var wide = regexp.MustCompile(`%[^a-zA-Z%]*([0-9]{4}|[*.])`)

func (sh *shell) printf(args []string) int {
	if len(args) == 0 || wide.MatchString(args[0]) {
		refuse("this use of printf")
	}
	format, args := args[0], args[1:]
	for {
		text, n, err := expand.Format(sh.config(), format, args[:len(args):len(args)])
		if err != nil {
			refuse("printf: " + err.Error())
		}
		sh.expand(len(text))
		sh.print(text)
		if args = args[n:]; n == 0 || len(args) == 0 {
			return 0
		}
	}
}

func (sh *shell) pwd([]string) int {
	sh.print(sh.dir + "\n")
	return 0
}

func (sh *shell) hostname(args []string) int {
	if len(args) > 0 {
		refuse("hostname with arguments")
	}
	sh.print(sh.container.Hostname + "\n")
	return 0
}

// env prints the environment, or runs a command with more of it.
func (sh *shell) env(args []string) int {
	if len(args) == 0 {
		env := sh.exportedEnv()
		sh.shown()
		for _, e := range env {
			sh.print(e + "\n")
		}
		return 0
	}
	return sh.subshell(func(sub *shell) int {
		for i, a := range args {
			name, value, ok := strings.Cut(a, "=")
			if !ok && strings.HasPrefix(a, "-") {
				refuse("env " + a)
			}
			if !ok {
				return sub.call(args[i:])
			}
			sub.assign(name, value)
			sub.vars[name] = variable{value: value, exported: true}
		}
		return sub.env(nil)
	})
}

func (sh *shell) printenv(names []string) int {
	if len(names) == 0 {
		return sh.env(nil)
	}
	code := 0
	for _, name := range names {
		v := sh.Get(name)
		if !v.IsSet() || !sh.vars[name].exported {
			code = 1
			continue
		}
		sh.shown()
		sh.print(v.String() + "\n")
	}
	return code
}

func (sh *shell) sleepCommand(args []string) int {
	if len(args) == 0 {
		return sh.dispute(1, "sleep: missing operand\n")
	}
	var whole time.Duration
	for _, a := range args {
		d, ok := duration(a)
		if !ok {
			return sh.dispute(1, "sleep: invalid number '%s'\n", a)
		}
		if whole += d; d == Forever || whole < 0 {
			whole = Forever
			break
		}
	}
	sh.sleep(whole)
	return 0
}

// duration reads an argument of sleep: seconds, or a number with a unit, or infinity.
func duration(a string) (time.Duration, bool) {
	if strings.HasPrefix(a, "inf") {
		return Forever, true
	}
	unit := time.Second
	if n := len(a) - 1; n > 0 {
		if u, ok := map[byte]time.Duration{'s': time.Second, 'm': time.Minute, 'h': time.Hour, 'd': 24 * time.Hour}[a[n]]; ok {
			unit, a = u, a[:n]
		}
	}
	n, err := strconv.ParseFloat(a, 64)
	if err != nil || n < 0 || n != n {
		return 0, false
	}
	return time.Duration(min(n, 1e9/unit.Seconds()) * float64(unit)), true
}

// nested runs sh -c, in a shell that has the exported variables only.
func (sh *shell) nested(args []string) int {
	return sh.subshell(func(sub *shell) int {
		for name, v := range sub.vars {
			if !v.exported {
				delete(sub.vars, name)
			}
		}
		sub.params, sub.exitOnError, sub.noUnset, sub.tested, sub.status = nil, false, false, false, 0
		return sub.run(append([]string{"sh"}, args...))
	})
}
