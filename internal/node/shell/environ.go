package shell

import (
	"errors"
	"slices"
	"strconv"
	"strings"

	"mvdan.cc/sh/v3/expand"
	"mvdan.cc/sh/v3/syntax"
)

// Limits, in bytes, of one value, of all variables or parameters, and of the expansion of a statement.
const (
	maxValue    = 16 << 10
	maxHeld     = 64 << 10
	maxExpanded = 256 << 10
)

type variable struct {
	value    string
	exported bool
	unsure   bool // only the server knows the value
	unnamed  bool // and the name: it may not be set
}

// Get returns a variable or special parameter; it is a method of expand.Environ. In a prediction a variable that
// is not set ends the script, since the image may set it.
func (sh *shell) Get(name string) expand.Variable {
	text := func(value string) expand.Variable {
		sh.expand(len(value))
		return expand.Variable{Set: true, Kind: expand.String, Str: value}
	}
	switch name {
	case "@", "*":
		for _, p := range sh.params {
			sh.expand(len(p))
		}
		return expand.Variable{Set: true, Kind: expand.Indexed, List: sh.params}
	case "#":
		return text(strconv.Itoa(len(sh.params)))
	case "?":
		return text(strconv.Itoa(sh.status))
	case "$":
		return text("1")
	case "0":
		return text("sh")
	case "PWD":
		return text(sh.dir)
	case "!", "-", "PPID", "LINENO", "RANDOM", "SECONDS", "EPOCHSECONDS", "UID", "EUID":
		refuse("$" + name)
	}
	if user, ok := strings.CutPrefix(name, "HOME "); ok {
		return text("~" + user) // there is no user database; an answer keeps expand from the machine's
	}
	if n, err := strconv.Atoi(name); err == nil {
		if n > len(sh.params) {
			return expand.Variable{}
		}
		return text(sh.params[n-1])
	}
	v, ok := sh.vars[name]
	if !ok || v.unnamed {
		if sh.recorder != nil && name != "IFS" {
			refuse("a variable that the image may set")
		}
		return expand.Variable{}
	}
	sh.unsure = sh.unsure || v.unsure
	return text(v.value)
}

// Each is empty, since it serves only ${!prefix*}, which is refused.
func (sh *shell) Each(func(string, expand.Variable) bool) {}

// Set assigns to a variable, as ${A:=b} and $((A=1)) do; it is a method of expand.WriteEnviron.
func (sh *shell) Set(name string, v expand.Variable) error {
	if v.Kind != expand.String {
		return errors.New(name + ": not a string")
	}
	sh.assign(name, v.Str)
	return nil
}

// assign sets a variable.
func (sh *shell) assign(name, value string) {
	if len(value) > maxValue {
		refuse("a value that is so long")
	}
	if name == "PWD" {
		refuse("assigning to PWD")
	}
	sh.certain()
	v, ok := sh.vars[name]
	if sh.held += len(value) - len(v.value); !ok {
		sh.held += len(name) + 64
	}
	if sh.held > maxHeld {
		refuse("variables that hold so much")
	}
	v.value, v.unsure = value, false
	sh.vars[name] = v
}

// setParams replaces $1 and on.
func (sh *shell) setParams(params []string) {
	size := 0
	for _, p := range params {
		size += len(p) + 16
	}
	if size > maxHeld {
		refuse("parameters that hold so much")
	}
	sh.params = slices.Clone(params)
}

// expand counts the bytes to which the current statement expands.
func (sh *shell) expand(n int) {
	sh.steps += n >> 10 // long values take time like statements
	if sh.expanded += n + 1; sh.expanded > maxExpanded {
		refuse("a statement that expands to so much")
	}
}

// certain ends a prediction that would depend on a value that only the server knows.
func (sh *shell) certain() {
	if sh.unsure {
		refuse("a value that only the server knows")
	}
}

func (sh *shell) config() *expand.Config {
	return &expand.Config{Env: sh, CmdSubst: sh.substitute, ReadDir2: sh.readDir, NoUnset: sh.noUnset}
}

// fields expands words to arguments.
func (sh *shell) fields(words []*syntax.Word) []string {
	args, err := expand.Fields(sh.config(), words...)
	sh.check(err)
	for _, a := range args {
		sh.expand(len(a))
	}
	return args
}

// text expands a word to one string, without splitting it.
func (sh *shell) text(w *syntax.Word) string {
	if w == nil {
		return ""
	}
	s, err := expand.Literal(sh.config(), w)
	sh.check(err)
	return s
}

// check ends the shell if an expansion has failed, as POSIX has it.
func (sh *shell) check(err error) {
	if err == nil {
		return
	}
	if sh.recorder != nil {
		refuse("an expansion that fails")
	}
	panic(exit(sh.complain(2, "sh: %v\n", err)))
}

// exportedEnv returns the environment of a program, as NAME=value.
func (sh *shell) exportedEnv() (env []string) {
	add := func(name string) {
		if v, ok := sh.vars[name]; ok && v.exported {
			sh.unsure = sh.unsure || v.unsure
			env = append(env, name+"="+v.value)
		}
	}
	given := []string{"HOSTNAME"}
	for _, e := range sh.container.Env {
		if !slices.Contains(given, e.Name) {
			given = append(given, e.Name)
		}
	}
	var own []string
	for name := range sh.vars {
		if !slices.Contains(given, name) {
			own = append(own, name)
		}
	}
	slices.Sort(own)
	for _, name := range append(given, own...) {
		add(name)
	}
	sh.unsure = sh.unsure || sh.envFrom
	return env
}
