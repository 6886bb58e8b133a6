package shell

import (
	"strconv"
	"strings"
)

// test is the command test, and [, whose last argument is a ].
func (sh *shell) test(args []string) int {
	if n := len(args); n > 0 && args[n-1] == "]" {
		args = args[:n-1]
	}
	holds, ok := sh.holds(args)
	if !ok {
		refuse("test " + strings.Join(args, " "))
	}
	return oneIf(!holds)
}

// holds decides by the number of arguments, as POSIX defines test. ok is false for expressions that are not understood.
func (sh *shell) holds(args []string) (holds, ok bool) {
	switch {
	case len(args) == 0:
		return false, true
	case len(args) == 1:
		return args[0] != "", true
	case len(args) == 3:
		if holds, ok := compare(args[0], args[1], args[2]); ok {
			return holds, true
		}
	}
	if args[0] == "!" {
		holds, ok = sh.holds(args[1:])
		return !holds, ok
	}
	if len(args) != 2 {
		return false, false
	}
	switch args[0] {
	case "-n":
		return args[1] != "", true
	case "-z":
		return args[1] == "", true
	case "-e", "-r", "-w":
		_, ok := sh.exists(args[1])
		return ok, true
	case "-f":
		isDir, ok := sh.exists(args[1])
		return ok && !isDir, true
	case "-d":
		isDir, _ := sh.exists(args[1])
		return isDir, true
	case "-s":
		if isDir, _ := sh.exists(args[1]); isDir {
			return true, true
		}
		text, _ := sh.readFile(args[1])
		return text != "", true
	}
	return false, false
}

// compare compares two strings or two integers.
func compare(a, operator, b string) (holds, ok bool) {
	switch operator {
	case "=", "==":
		return a == b, true
	case "!=":
		return a != b, true
	}
	x, err := strconv.ParseInt(strings.TrimSpace(a), 10, 64)
	y, err2 := strconv.ParseInt(strings.TrimSpace(b), 10, 64)
	if err != nil || err2 != nil {
		return false, false
	}
	switch operator {
	case "-eq":
		return x == y, true
	case "-ne":
		return x != y, true
	case "-lt":
		return x < y, true
	case "-le":
		return x <= y, true
	case "-gt":
		return x > y, true
	case "-ge":
		return x >= y, true
	}
	return false, false
}
