package shell

import (
	"fmt"
	"io"
	"path"
	"regexp"
	"strconv"
	"strings"
)

// readers calls f with each of the named files, "-" and no name meaning standard input. It returns 1
// if one is not there.
func (sh *shell) readers(command string, names []string, f func(io.Reader)) (code int) {
	if len(names) == 0 {
		names = []string{"-"}
	}
	for _, name := range names {
		if strings.HasPrefix(name, "-") && name != "-" {
			refuse(command + " " + name)
		}
		if name == "-" || name == "/dev/stdin" {
			if sh.stdin == nil && sh.recorder != nil {
				refuse("standard input")
			}
			if sh.stdin != nil {
				f(sh.stdin)
			}
			continue
		}
		if text, ok := sh.readFile(name); ok {
			f(strings.NewReader(text))
		} else {
			code = sh.complain(1, "%s: can't open '%s': No such file or directory\n", command, name)
		}
	}
	return code
}

func (sh *shell) cat(args []string) int {
	return sh.readers("cat", args, func(r io.Reader) {
		buf := make([]byte, 512)
		for {
			n, err := r.Read(buf)
			if n > 0 {
				sh.stdout.Write(buf[:n])
			}
			if err != nil {
				return
			}
			sh.step()
		}
	})
}

// all reads an input to its end.
func all(r io.Reader) string {
	b, _ := io.ReadAll(io.LimitReader(r, maxBuffer+1))
	if len(b) > maxBuffer {
		refuse("an input that is so long")
	}
	return string(b)
}

// lineCount reads the option -n N or -N of head and tail.
func lineCount(command string, args []string) (int, []string) {
	if len(args) == 0 || len(args[0]) < 2 || args[0][0] != '-' {
		return 10, args
	}
	text := strings.TrimPrefix(args[0][1:], "n")
	if args = args[1:]; text == "" && len(args) > 0 {
		text, args = args[0], args[1:]
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 0 || strings.HasPrefix(text, "+") {
		refuse(command + " with this option")
	}
	return n, args
}

func (sh *shell) head(args []string) int {
	n, names := lineCount("head", args)
	return sh.readers("head", names, func(r io.Reader) {
		in, ok := r.(*input)
		if !ok {
			in = newInput(r)
		}
		for range n {
			l, err := in.line()
			if sh.print(l); err != nil {
				return
			}
		}
	})
}

func (sh *shell) tail(args []string) int {
	if len(args) == 2 && args[0] == "-f" && args[1] == "/dev/null" {
		sh.sleep(Forever)
		return 0
	}
	n, names := lineCount("tail", args)
	return sh.readers("tail", names, func(r io.Reader) {
		lines := strings.SplitAfter(all(r), "\n")
		if lines[len(lines)-1] == "" {
			lines = lines[:len(lines)-1]
		}
		sh.print(strings.Join(lines[max(0, len(lines)-n):], ""))
	})
}

func (sh *shell) wc(args []string) int {
	if len(args) != 1 || args[0] != "-l" && args[0] != "-w" && args[0] != "-c" {
		refuse("wc but for -l, -w or -c of standard input")
	}
	return sh.readers("wc", nil, func(r io.Reader) {
		text := all(r)
		n := map[string]int{"-l": strings.Count(text, "\n"), "-w": len(strings.Fields(text)), "-c": len(text)}[args[0]]
		sh.print(fmt.Sprintln(n))
	})
}

// grep finds lines by a text; patterns with special characters are refused, but for a leading ^ and a trailing $.
func (sh *shell) grep(args []string) int {
	quiet, invert, count, fold := false, false, false, ""
	for len(args) > 0 && len(args[0]) > 1 && args[0][0] == '-' {
		for _, f := range args[0][1:] {
			switch f {
			case 'q':
				quiet = true
			case 'v':
				invert = true
			case 'c':
				count = true
			case 'i':
				fold = "(?i)"
			default:
				refuse("grep " + args[0])
			}
		}
		args = args[1:]
	}
	if len(args) == 0 || len(args) > 2 || strings.ContainsAny(strings.TrimSuffix(strings.TrimPrefix(args[0], "^"), "$"), `.[]*^$\`) {
		refuse("this use of grep")
	}
	p := regexp.QuoteMeta(strings.TrimSuffix(strings.TrimPrefix(args[0], "^"), "$"))
	if strings.HasPrefix(args[0], "^") {
		p = "^" + p
	}
	if strings.HasSuffix(args[0], "$") {
		p += "$"
	}
	re, found := regexp.MustCompile(fold+p), 0
	missing := sh.readers("grep", args[1:], func(r io.Reader) {
		for l := range strings.Lines(all(r)) {
			if l = strings.TrimSuffix(l, "\n"); re.MatchString(l) != invert {
				if found++; !quiet && !count {
					sh.print(l + "\n")
				}
			}
		}
	})
	if count && !quiet {
		sh.print(fmt.Sprintln(found))
	}
	if missing != 0 {
		return 2
	}
	return oneIf(found == 0)
}

func (sh *shell) touch(names []string) int {
	code := 0
	for _, name := range names {
		if strings.HasPrefix(name, "-") {
			refuse("touch " + name)
		}
		if sh.container.Files.isDir(sh.resolve(name)) {
			continue
		}
		if _, ok := sh.create(name, true); !ok {
			code = 1
		}
	}
	return code
}

func (sh *shell) mkdir(args []string) int {
	parents := len(args) > 0 && args[0] == "-p"
	if parents {
		args = args[1:]
	}
	files, code := sh.container.Files, 0
	for _, name := range args {
		if strings.HasPrefix(name, "-") {
			refuse("mkdir " + name)
		}
		full := sh.resolve(name)
		if !parents && (files.isDir(full) || !files.isDir(path.Dir(full))) {
			code = sh.dispute(1, "mkdir: can't create directory '%s'\n", name)
			continue
		}
		files.addDir(full)
	}
	return code
}

func (sh *shell) rm(args []string) int {
	recursive, force, code := false, false, 0
	for len(args) > 0 && len(args[0]) > 1 && args[0][0] == '-' {
		for _, f := range args[0][1:] {
			switch f {
			case 'r', 'R':
				recursive = true
			case 'f':
				force = true
			default:
				refuse("rm " + args[0])
			}
		}
		args = args[1:]
	}
	files := sh.container.Files
	for _, name := range args {
		full := sh.resolve(name)
		if files.isDir(full) && !recursive {
			code = sh.dispute(1, "rm: '%s' is a directory\n", name)
		} else if !files.remove(full) && !force {
			code = sh.dispute(1, "rm: can't remove '%s': No such file or directory\n", name)
		}
	}
	return code
}
