package shell_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/yaml"

	"fairlead.dev/internal/node/shell"
)

// TestPredict lists commands with their predictions.
func TestPredict(t *testing.T) {
	const lost = "lost"
	for spec, want := range map[string]string{
		`{}`:                                                                  lost,
		`{args: [sleep, "3"]}`:                                                lost, // of the image's program
		`{command: [sleep, "300"]}`:                                           "5m0s 0",
		`{command: [/bin/sleep], args: ["2.5"]}`:                              "2.5s 0",
		`{command: [sleep, 1m, 5s]}`:                                          "1m5s 0",
		`{command: [sleep, infinity]}`:                                        "forever 0",
		`{command: [tail, -f, /dev/null]}`:                                    "forever 0",
		`{command: [sleep, soon]}`:                                            lost,
		`{command: ["true"]}`:                                                 "0s 0",
		`{command: [/bin/false]}`:                                             "0s 1",
		`{command: [exit, "3"]}`:                                              "0s 3",
		`{command: [nginx]}`:                                                  lost,
		`{command: [sh]}`:                                                     lost,
		`{command: [sh, -c, exit 300]}`:                                       "0s 44",
		`{command: [sh, -c, "sleep 3 && false; sleep 4"]}`:                    "7s 0",
		`{command: [sh, -c, "false && sleep 3 && sleep 4"]}`:                  "0s 1",
		`{command: [sh, -c, "sh -c 'exit 3'; sleep 1; exec false"]}`:          "1s 1",
		`{command: [sh, -c, "echo a 'b; c'; sleep 2; echo -n d"]}`:            `2s 0 0s "a b; c\n" 2s "d"`,
		`{command: [sh, -c, "A=b env"], env: [{name: X, value: z}]}`:          `0s 0 0s "HOSTNAME=p\n" 0s "X=z\n" 0s "A=b\n"`,
		`{command: [sh, -c, "sleep $(NUM)"], env: [{name: NUM, value: "9"}]}`: "9s 0",
		`{command: [sh, -c, "sleep $(NUM)"]}`:                                 lost,
		`{command: [sh, -c, "sleep $N"]}`:                                     lost,
		`{command: [sh, -c, "echo \"$N\""]}`:                                  lost,
		`{command: [sh, -c, "echo '$N'"]}`:                                    `0s 0 0s "$N\n"`,
		`{command: [sh, -c, "sleep 3 || sleep 4"]}`:                           "3s 0",
		`{command: [sh, -c, "false || sleep 4 && exit 3"]}`:                   "4s 3",
		`{command: [sh, -c, "true || false && exit 3"]}`:                      "0s 3",
		`{command: [sh, -c, "sleep $N; exit ${C}"], env: [{name: "N", value: "5 1"}, {name: C, value: "3"}]}`:                       "6s 3",
		`{command: [sh, -c, "N=\"a  b\"; echo x$N\"$N\" '$N' # $M\nM=2 env; echo ${M}"]}`:                                           lost, // M is not the script's
		`{command: [sh, -c, "N=\"a  b\"; echo x$N\"$N\" '$N' # $M"]}`:                                                               `0s 0 0s "xa ba  b $N\n"`,
		`{command: [sh, -c, "echo $HOSTNAME; echo $A"], env: [{name: A, valueFrom: {}}]}`:                                           `0s 0 0s "p\n" 0s "\n"`,
		`{command: [sh, -c, "sleep $A"], env: [{name: A, valueFrom: {}}]}`:                                                          lost,
		`{command: [sh, -c, "echo ${A:-b}"]}`:                                                                                       lost,
		`{command: [sh, -c, "echo a 2>&1; echo b >/dev/null; echo c > /dev/null 2>&1; echo d 2> /dev/null; sleep 1 &> /dev/null"]}`: `1s 0 0s "a\n" 0s "d\n"`,
		`{command: [sh, -c, "echo a > /dev/nullx"]}`:                                                                                "0s 0",
		`{command: [sh, -c, "echo a | cat"]}`:                                                                                       `0s 0 0s "a\n"`,
		`{command: [sh, -c, "while true; do A=x; sleep 1; done"]}`:                                                                  "forever 0 from 1s every 1s",
		`{command: [sh, -c, "A=x; while true; do echo $A; sleep 1; done >&2"]}`:                                                     `forever 0 from 0s every 1s 0s "x\n"`,
		`{command: [sh, -c, "sleep 3 &"]}`:                                                                                          lost,
		`{command: [sh, -c, "echo x > /tmp/y"]}`:                                                                                    "0s 0",
		`{command: [sh, -c, "if true; then exit 3; fi"]}`:                                                                           "0s 3",
		`{command: [sh, -ec, "false; true"]}`:                                                                                       "0s 1",
		`{command: [sh, -c, "echo 'x"]}`:                                                                                            lost,
		`{command: [sh, -c, "sleep infinity; exit 3"]}`:                                                                             "forever 0",
		`{command: [sh, -c, "echo a; while true; do echo b; sleep 5; echo c; done; exit 3"]}`:                                       `forever 0 0s "a\n" from 0s every 5s 0s "b\n" 5s "c\n"`,
		`{command: [sh, -c, "sleep 1\nuntil false\ndo\n sleep 2\ndone"]}`:                                                           "forever 0 from 1s every 2s",
		`{command: [sh, -c, "while sleep 60; do :; done"]}`:                                                                         "forever 0 from 0s every 1m0s",
		`{command: [sh, -c, "while false; do sleep 5; done; sleep 1"]}`:                                                             "1s 0",
		`{command: [sh, -c, "while true; do sleep 5; exit 3; done"]}`:                                                               "5s 3",
		`{command: [sh, -c, "while true; do echo x; done"]}`:                                                                        lost,
		`{command: [sh, -c, "while true; do date; sleep 5; done"]}`:                                                                 lost,
		`{command: [sh, -c, "while true; do while true; do sleep 5; done; done"]}`:                                                  "forever 0 from 0s every 5s",
		`{command: [sh, -c, "while true; do sleep 5"]}`:                                                                             lost,
		`{command: [sh, -c, "while true; do echo a; sleep 5; done > /dev/null"]}`:                                                   "forever 0 from 0s every 5s",
		// Beyond plain lists.
		`{command: [sh, -c, "echo $(hostname)"]}`:                                                        `0s 0 0s "p\n"`,
		`{command: [sh, -c, "echo $(X)"], env: [{name: X, valueFrom: {}}]}`:                              lost, // the kubelet puts the value there
		`{command: [sh, -c, "i=0; while [ $i -lt 3 ]; do echo $i; sleep 2; i=$((i+1)); done; exit $i"]}`: `6s 3 0s "0\n" 2s "1\n" 4s "2\n"`,
		`{command: [sh, -c, "for i in 1 2; do sleep $i; done"]}`:                                         "3s 0",
		`{command: [sh, -c, "(echo a; sleep 5; echo b) | cat"]}`:                                         `5s 0 0s "a\n" 5s "b\n"`,
		`{command: [sh, -c, "sleep 5 | sleep 3"]}`:                                                       "5s 0",
		`{command: [sh, -c, "sleep infinity | true"]}`:                                                   "forever 0",
		`{command: [sh, -c, "while true; do echo a; sleep 1; done | cat"]}`:                              lost, // the pipe would fill
		`{command: [sh, -c, "while true; do echo a; sleep 1; done > /tmp/f"]}`:                           lost, // so would the file
		`{command: [sh, -c, "touch /tmp/healthy; sleep 30; rm -rf /tmp/healthy; sleep 600"]}`:            "10m30s 0",
		`{command: [sh, -c, "cat /etc/passwd"]}`:                                                         lost, // the image may have it
		`{command: [sh, -c, "[ -f /etc/passwd ] || exit 3"]}`:                                            lost,
		`{command: [sh, -c, "echo *"]}`:                                                                  lost,
		`{command: [sh, -c, "[ -n \"$A\" ]"], env: [{name: A, valueFrom: {}}]}`:                          lost,
		`{command: [sh, -c, "echo $A | cat"], env: [{name: A, valueFrom: {}}]}`:                          lost,
		`{command: [sh, -c, "case $A in x*) exit 3;; esac"], env: [{name: A, value: xy}]}`:               "0s 3",
		`{command: [sh, -c, "cat <<EOF\na $HOSTNAME\nEOF"]}`:                                             `0s 0 0s "a p\n"`,
		`{command: [sh, -c, "trap : TERM; sleep 5"]}`:                                                    lost,
		`{command: [sh, -c, "f() { f; }; f"]}`:                                                           lost,
		`{command: [sh, -c, "x=x; while true; do x=$x$x; sleep 1; done"]}`:                               lost,
		`{command: [sh, -c, "i=0; while true; do i=$((i+1)); sleep 1; done"]}`:                           lost,
	} {
		var c corev1.Container
		if err := yaml.Unmarshal([]byte(spec), &c); err != nil {
			t.Fatal(err)
		}
		pod := &corev1.Pod{}
		pod.Name = "p"
		prediction, ok := shell.Predict(pod, &c, func() []corev1.EnvVar { return c.Env })
		got := lost
		if ok {
			after := func(d time.Duration) string {
				if d == shell.Forever {
					return "forever"
				}
				return d.String()
			}
			got = fmt.Sprint(after(prediction.Runs), " ", prediction.ExitCode)
			for _, o := range prediction.Output {
				got += fmt.Sprintf(" %v %q", o.After, o.Text)
			}
			if l := prediction.Loop; l != nil {
				got += fmt.Sprintf(" from %v every %v", l.From, l.Every)
				for _, o := range l.Output {
					got += fmt.Sprintf(" %v %q", o.After, o.Text)
				}
			}
		}
		if got != want {
			t.Errorf("%s: %s, want %s", spec, got, want)
		}
	}
}

// TestPredictMounts predicts commands that look for the directories of the container's mounts and working directory.
func TestPredictMounts(t *testing.T) {
	pod := &corev1.Pod{}
	pod.Name = "p"
	if err := yaml.Unmarshal([]byte(`{volumes: [{name: empty, emptyDir: {}}, {name: map, configMap: {name: m}}]}`), &pod.Spec); err != nil {
		t.Fatal(err)
	}
	const mounts = `volumeMounts: [{name: empty, mountPath: /logs, subPathExpr: "$(NAME)"}, {name: empty, mountPath: /all},
		{name: empty, mountPath: /fixed, subPath: a/b}, {name: empty, mountPath: /seen, readOnly: true}, {name: map, mountPath: /file, subPath: key}]`
	for script, want := range map[string]string{
		"test -d /all/p":           "0",
		"test -d /all/a/b":         "0",
		"test -d /logs":            "0",
		"echo x > /logs/f":         "0",
		"cd /fixed && test -e .":   "0",
		"cd /all/a/b && test -d .": "0",
		"test -d /all/q":           "not understood", // another container may have made it
		"test -d /seen/x":          "not understood",
		"test -d /file":            "not understood",
		"echo x > /seen/f":         "not understood",
	} {
		var c corev1.Container
		spec := fmt.Sprintf(`{command: [sh, -c, %q], env: [{name: NAME, value: p}], %s}`, script, mounts)
		if err := yaml.Unmarshal([]byte(spec), &c); err != nil {
			t.Fatal(err)
		}
		got := "not understood"
		if prediction, ok := shell.Predict(pod, &c, nil); ok {
			got = fmt.Sprint(prediction.ExitCode)
		}
		if got != want {
			t.Errorf("%s: %s, want %s", script, got, want)
		}
	}

	long := &corev1.Container{Command: []string{"true"}, WorkingDir: strings.Repeat("/a", 50_000)}
	if p, ok := shell.Predict(pod, long, nil); !ok || p.ExitCode != 0 {
		t.Errorf("in a working directory of a long name: %+v, %v", p, ok)
	}
}
