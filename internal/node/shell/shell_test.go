package shell_test

import (
	"bytes"
	"context"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"

	"fairlead.dev/internal/node/shell"
)

// run runs a script, and returns both outputs together and the exit code.
func run(t *testing.T, files *shell.Files, stdin, script string) (string, int) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	var out bytes.Buffer
	c := shell.Container{Hostname: "web", Env: []corev1.EnvVar{{Name: "A", Value: "x y"}}, Files: files}
	code := shell.Run(ctx, c, shell.Streams{In: strings.NewReader(stdin), Out: &out, Err: &out}, []string{"sh", "-c", script})
	return out.String(), code
}

func TestRun(t *testing.T) {
	for script, want := range map[string]string{
		"echo a | cat":     "a\n",
		"echo hi > /tmp/f": "",
		"echo hi > /tmp/f; cat /tmp/f; cat < /tmp/f":                     "hi\nhi\n",
		"echo $(hostname)":                                               "web\n",
		"if true; then echo hi; fi":                                      "hi\n",
		"if false; then echo a; elif true; then echo b; else echo c; fi": "b\n",
		`echo "$A" $A '$A' \$A ${A} ${B:-none} ${#A}`:                    "x y x y $A $A x y none 3\n",
		"cat":                                                                "in\nput\n",
		"read a; read b; echo $b $a":                                         "put in\n",
		"while read l; do echo \"<$l>\"; done":                               "<in>\n<put>\n",
		"env | grep -q A=x && echo found":                                    "found\n",
		"B=1 env | grep B; echo [$B]":                                        "B=1\n[]\n",
		"export B=2; sh -c 'echo $B'; C=3; sh -c 'echo $C.'":                 "2\n.\n",
		"for i in 1 2 3; do [ $i = 2 ] && continue; echo $i; done":           "1\n3\n",
		"while true; do while true; do break 2; done; done; echo out":        "out\n",
		"false || echo a && echo b":                                          "a\nb\n",
		"! false && echo ok":                                                 "ok\n",
		"set -e; if false; then :; fi; false || true; echo a; false; echo b": "a\n (1)",
		"set -u; echo $NONE; echo b":                                         "sh: NONE: unbound variable\n (2)",
		"(exit 3); echo $?":                                                  "3\n",
		"x=$(echo a; exit 4); echo $x $?":                                    "a 4\n",
		"(cd /tmp && pwd); pwd":                                              "/tmp\n/\n",
		"case abc in a*) echo star;; *) echo no;; esac":                      "star\n",
		"cat <<EOF\n$A\nEOF":                                                 "x y\n",
		"cat <<'EOF'\n$A\nEOF":                                               "$A\n",
		"printf '%s-%d\\n' a 1 b 2":                                          "a-1\nb-2\n",
		"echo -n a; echo -e 'b\\tc'":                                         "ab\tc\n",
		"echo $((1 + 2 * 3))":                                                "7\n",
		"i=0; while [ $i -lt 200 ]; do i=$((i+1)); done; echo $i":            "200\n",
		"echo a >&2 2>/dev/null; echo b 2>&1":                                "a\nb\n",
		"cat /no":                                                            "cat: can't open '/no': No such file or directory\n (1)",
		"nginx -t; echo $?":                                                  "exec: \"nginx\": executable file not found in $PATH\n127\n",
		"echo ~root ~":                                                       "~root ~\n",
		"exec echo a; echo b":                                                "a\n",
		"sleep 0.01; echo a":                                                 "a\n",
		"(echo a; echo b; echo c) | head -n 2 | tail -n 1":                   "b\n",
		"printf 'a\\nb\\n' | wc -l":                                          "2\n",
		"mkdir -p /data/x && echo 1 > /data/x/f && echo /data/x/*":           "/data/x/f\n",
		"touch /tmp/a && rm /tmp/a && [ ! -e /tmp/a ] && echo gone":          "gone\n",
		"set -- a 'b c'; for i; do echo \"$i\"; done; shift; echo $# \"$1\"": "a\nb c\n1 b c\n",
		"echo 'open":                                                         "sh: 1:6: reached EOF without closing quote `'`\n (2)",
	} {
		got, code := run(t, nil, "in\nput\n", script)
		if code != 0 {
			got += " (" + strconv.Itoa(code) + ")"
		}
		if got != want {
			t.Errorf("%s: %q, want %q", script, got, want)
		}
	}
}

// TestFilesStay runs two commands in the same container.
func TestFilesStay(t *testing.T) {
	files := shell.NewFiles()
	run(t, files, "", "echo hi > /tmp/f")
	if got, code := run(t, files, "", "cat /tmp/f"); got != "hi\n" || code != 0 {
		t.Errorf("%q %d", got, code)
	}
}

// TestRefused lists constructs that are not simulated.
func TestRefused(t *testing.T) {
	for _, script := range []string{
		"sleep 5 &", "f() { :; }", "a=(1 2)", "cat <(echo a)", "echo a > >(cat)", "coproc cat", "trap : EXIT", "eval echo a", ". /etc/profile",
		"source /etc/profile", "ulimit -n", "command -v ls", "type ls", "wait", "[[ a = a ]]", "((1))", "for ((;;)); do :; done", "select x in a; do :; done",
		"time true", "exec > /tmp/f", "echo ${A//x/yyyy}", "echo ${!A}", "echo ${A:0:1}", "echo a |& cat", "echo a 3>&1", "cat <&3", "let 1", "local a",
		"readonly a=1", "echo $RANDOM", "echo $PPID", "umask", "alias a=b", "set -x", "printf %9999d 1", "getopts a b", "PWD=/etc",
	} {
		if got, code := run(t, nil, "", script); code != 126 || !strings.HasSuffix(got, ": not simulated\n") {
			t.Errorf("%s: %q %d", script, got, code)
		}
	}
}

// TestNothingOfTheMachine tries to reach the files, programs, users and variables of this process.
func TestNothingOfTheMachine(t *testing.T) {
	dir := t.TempDir()
	secret := filepath.Join(dir, "secret")
	if err := os.WriteFile(secret, []byte("of the machine"), 0o777); err != nil {
		t.Fatal(err)
	}
	t.Chdir(dir)
	t.Setenv("MACHINE", "of the machine")
	before := listing(t, dir)
	passwd, _ := os.ReadFile("/etc/passwd")
	user, _, _ := strings.Cut(string(passwd), ":")
	for _, script := range []string{
		"cat /etc/passwd", "cat < /etc/passwd", "echo $(</etc/passwd)", "echo $(cat /etc/passwd)", "read x < /etc/passwd; echo $x", "head -n 1 /etc/passwd", "grep root /etc/passwd",
		"cat SECRET", "cat secret", "cat ../*/secret", "cat ./secret", "cd DIR && cat secret", "SECRET", "./secret", "exec SECRET", "sh SECRET", ". SECRET", "source SECRET", "env SECRET",
		"echo x > SECRET", "echo x >> SECRET", "echo x >| SECRET", "echo x > DIR/new", "echo x > new", "touch new", "mkdir DIR/new", "mkdir -p new", "rm -rf DIR", "rm -rf secret /",
		"echo x > /proc/self/oom_score_adj", "cat /proc/self/environ", "cat /proc/1/cmdline", "cat /dev/mem", "echo x > /dev/tty", "cat /dev/stdin",
		"echo $MACHINE", "env", "export", "printenv MACHINE", "sh -c 'env'", "env sh -c 'echo $MACHINE'",
		"/bin/ls /", "ls", "/usr/bin/env /bin/sh -c ls", "exec /bin/ls", "$(echo ls) /", "`ls`", "/bin/sh -c '/bin/ls /'", "id", "whoami", "uname -a",
		"echo ~USER", "echo ~/", "cd ~USER && pwd", "echo ${HOME}", "cd / && cat etc/passwd", "cd .. && pwd", "pwd -P",
		"echo /*", "echo /etc/*", "echo /proc/*", "echo *", "echo ../*", "echo /*/passwd", "for f in /etc/p*; do cat $f; done", "[ -e SECRET ] && echo of the machine",
		"[ -f /etc/passwd ] && echo of the machine", "[ -d /proc ] && echo of the machine", "test -r secret && echo of the machine",
		"cat <(cat /etc/passwd)", "cat /etc/passwd | tee /tmp/out", "cat <<EOF\n$(cat /etc/passwd)\nEOF", "cat <<<$(cat /etc/passwd)",
		"sleep 1 & jobs", "cat /etc/passwd &", "coproc cat /etc/passwd", "trap 'cat /etc/passwd' EXIT", "ulimit -a", "kill -9 $$", "kill -9 1", "echo $$ $PPID $UID",
		"command -v sh", "type sh", "command cat /etc/passwd", "builtin source /etc/passwd", "eval cat /etc/passwd", "hash", "exec 3<>/dev/tcp/127.0.0.1/22", "cat < /dev/tcp/127.0.0.1/22",
		"BASH_ENV=SECRET sh -c :", "ENV=SECRET sh", "TMPDIR=DIR; cat <(:)", "echo ${x:=$(cat /etc/passwd)}$x", "printf '%s' \"$(cat secret)\"", "mapfile < /etc/passwd", "time cat /etc/passwd",
		"cat /tmp/sh-interp-1", "echo x > /tmp/fairlead-escape", "PATH=/bin:/usr/bin; ls", "LD_PRELOAD=x ls",
	} {
		script = strings.NewReplacer("SECRET", secret, "DIR", dir, "USER", user).Replace(script)
		files := shell.NewFiles()
		got, _ := run(t, files, "", script)
		for _, found := range []string{"of the machine", "root:", "bin\n", ":x:", "passwd\nshadow", "/home/", "Linux"} {
			if strings.Contains(got, found) && !strings.Contains(got, "can't") {
				t.Errorf("%s: %q shows %q", script, got, found)
			}
		}
	}
	if now := listing(t, dir); !slices.Equal(now, before) {
		t.Errorf("files became %v", now)
	}
	if _, err := os.Stat("/tmp/fairlead-escape"); err == nil {
		t.Error("a file was written")
	}
	if text, _ := os.ReadFile(secret); string(text) != "of the machine" {
		t.Errorf("the file became %q", text)
	}
}

func listing(t *testing.T, dir string) (names []string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names
}

// TestLimits runs scripts that want much time, memory or stack.
func TestLimits(t *testing.T) {
	before := runtime.NumGoroutine()
	for _, script := range []string{
		"x=x; while true; do x=$x$x; done",
		"x=xxxxxxxxxx" + strings.Repeat("; x=$x$x", 40),
		"set -- a; while true; do set -- \"$@\" \"$@\"; done",
		"x=$(while true; do echo aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa; done)",
		"while true; do echo a; done | cat",
		"while true; do :; done | cat",
		"while true; do echo aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa >> /tmp/f; done",
		"i=0; while true; do i=$((i+1)); echo > /tmp/f$i; done",
		"i=0; while true; do i=$((i+1)); mkdir /tmp/$i; done",
		"echo {1..100000000}",
		"echo {1..10}{1..10}{1..10}{1..10}{1..10}{1..10}",
		"x=aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa; x=$x$x$x$x$x$x$x$x$x$x; x=$x$x$x$x$x$x$x$x$x$x; echo " + strings.Repeat("$x", 1000),
		"printf '" + strings.Repeat("%999d", 3000) + "'",
		strings.Repeat("(", 8000) + ":" + strings.Repeat(")", 8000),
		strings.Repeat("{ ", 5000) + ":" + strings.Repeat("; }", 5000),
		"echo $((" + strings.Repeat("(", 5000) + "1" + strings.Repeat(")", 5000) + "))",
		"echo " + strings.Repeat("$(", 5000) + ":" + strings.Repeat(")", 5000),
		strings.Repeat("if ", 5000) + ":",
		strings.Repeat("sh -c '", 5) + "x",
		"echo " + strings.Repeat("a", 20_000),
	} {
		began := time.Now()
		got, code := run(t, nil, "", script)
		if code != 126 && code != 2 {
			t.Errorf("%.60s: %.60q %d", script, got, code)
		}
		if took := time.Since(began); took > 10*time.Second {
			t.Errorf("%.60s took %s", script, took)
		}
	}
	if n := runtime.NumGoroutine(); n > before {
		t.Errorf("%d goroutines, %d before", n, before)
	}
}

// TestKilled ends a loop that never pauses, by its context, and counts its rounds.
func TestKilled(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
	defer cancel()
	var out bytes.Buffer
	code := shell.Run(ctx, shell.Container{}, shell.Streams{Out: &out}, []string{"sh", "-c", "while true; do echo a; done"})
	if n := strings.Count(out.String(), "a"); code != 137 || n > 5_000 {
		t.Errorf("code %d, %d rounds", code, n)
	}
}

// TestManyPipes: the limit of steps is that of one pipe, not of a session.
func TestManyPipes(t *testing.T) {
	if got, code := run(t, nil, "", "i=0; while [ $i -lt 1500 ]; do i=$((i+1)); echo $i | cat > /tmp/f; done; cat /tmp/f"); got != "1500\n" || code != 0 {
		t.Errorf("%q %d", got, code)
	}
}

// TestImports: the package can't reach files, programs, users or the network by itself.
func TestImports(t *testing.T) {
	allowed := []string{"bufio", "cmp", "context", "errors", "fmt", "io", "io/fs", "maps", "math", "path", "regexp", "slices", "strconv", "strings", "sync", "time",
		"golang.org/x/term", "k8s.io/api/core/v1", "fairlead.dev/internal/node/dependencies",
		"mvdan.cc/sh/v3/expand", "mvdan.cc/sh/v3/pattern", "mvdan.cc/sh/v3/syntax"}
	files, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		if strings.HasSuffix(file, "_test.go") {
			continue
		}
		f, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.ImportsOnly)
		if err != nil {
			t.Fatal(err)
		}
		for _, i := range f.Imports {
			if p, _ := strconv.Unquote(i.Path.Value); !slices.Contains(allowed, p) {
				t.Errorf("%s imports %s", file, p)
			}
		}
	}
}

// FuzzScript: no script makes the interpreter panic, or run on in virtual time.
func FuzzScript(f *testing.F) {
	for _, text := range []string{"a 'b", "a\"$b ${c} ${\"; d", "2>&1 a >/dev/null||&&#x\ny", "$ ${ }", "\xff'\xff", "echo $((1/0))", "case a in a) ;; esac", "cat <<-E\n\ta\nE"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		shell.Predict(&corev1.Pod{}, &corev1.Container{Command: []string{"sh", "-c", text}}, nil)
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		shell.Run(ctx, shell.Container{}, shell.Streams{}, []string{"sh", "-c", text})
	})
}
