package logflags

import (
	"bytes"
	"encoding/json"
	"errors"
	"log/slog"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/go-logr/logr"
	"github.com/spf13/pflag"
	"k8s.io/klog/v2"
)

// logged writes an error, a warning, information, details, and a line of a library at verbosity 2 to a log of the flags, and
// returns its text.
func logged(t *testing.T, args ...string) string {
	t.Helper()
	set := pflag.NewFlagSet("kube-apiserver", pflag.ContinueOnError)
	var l Flags
	l.Register(set)
	if err := set.Parse(args); err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	log, err := l.logger(&out)
	if err != nil {
		return err.Error()
	}
	log.Error("failed", "error", errors.New("broken"))
	log.Warn("odd")
	log.Info("told", "took", 1500*time.Millisecond)
	log.Debug("detailed")
	logr.FromSlogHandler(log.Handler()).V(2).Info("of a library", "n", 1)
	return out.String()
}

// TestLogging checks which lines each verbosity has, and their form.
func TestLogging(t *testing.T) {
	for _, c := range []struct {
		args []string
		want string // messages
	}{
		{nil, "failed odd"},
		{[]string{"-v", "0"}, "failed odd told"},
		{[]string{"--v=2"}, "failed odd told library"},
		{[]string{"-v4"}, "failed odd told detailed library"},
		{[]string{"--vmodule=other=9,flags_t*=2,flags_test=9"}, "failed odd told library"}, // the first that matches counts
		{[]string{"-v4", "--vmodule=flags_test=1"}, "failed odd told detailed library"},    // it raises only
		{[]string{"--vmodule=other=9"}, "failed odd"},
	} {
		for _, format := range []string{"text", "json"} {
			text := logged(t, append(c.args, "--logging-format="+format)...)
			var got []string
			for _, word := range []string{"failed", "odd", "told", "detailed", "library"} {
				if strings.Contains(text, word) {
					got = append(got, word)
				}
			}
			if strings.Join(got, " ") != c.want {
				t.Errorf("%q in %s: %q, want %q", c.args, format, got, c.want)
			}
		}
	}
	var lines []map[string]any
	for line := range strings.Lines(logged(t, "-v4", "--logging-format=json")) {
		var members map[string]any
		if err := json.Unmarshal([]byte(line), &members); err != nil {
			t.Fatalf("%s: %v", line, err)
		}
		if ts, _ := members["ts"].(float64); time.Since(time.UnixMilli(int64(ts))).Abs() > time.Hour {
			t.Errorf("the time of %s", line)
		}
		delete(members, "ts")
		lines = append(lines, members)
	}
	want := []map[string]any{
		{"msg": "failed", "err": "broken"}, {"msg": "odd", "level": slog.LevelWarn.String()}, {"msg": "told", "v": 0.0, "took": "1.5s"}, {"msg": "detailed", "v": 4.0},
		{"msg": "of a library", "v": 2.0, "n": 1.0},
	}
	if !reflect.DeepEqual(lines, want) {
		t.Errorf("%v, want %v", lines, want)
	}
	for args, want := range map[string]string{"--v=-1": "--v=-1: want 0 or more", "--logging-format=xml": "--logging-format=xml: want text or json",
		"--vmodule=a":   `--vmodule: "a": want PATTERN=N, where N is 0 or more`,
		"--vmodule=a=b": `--vmodule: "a=b": want PATTERN=N, where N is 0 or more`,
		"--vmodule=[=1": `--vmodule: "[=1": syntax error in pattern`,
	} {
		if got := logged(t, args); got != want {
			t.Errorf("%s: %s", args, got)
		}
	}
}

// TestSetVerbosity: the log has the lines of a verbosity that is set while it is used, and so have derived logs.
func TestSetVerbosity(t *testing.T) {
	var out bytes.Buffer
	var f Flags
	f.Register(pflag.NewFlagSet("scheduler", pflag.ContinueOnError))
	before := slog.Default()
	defer func() {
		slog.SetDefault(before)
		klog.SetLogger(logr.Discard())
	}()
	log, err := f.Start(&out)
	if err != nil {
		t.Fatal(err)
	}
	derived := log.With("part", "queue").WithGroup("pod")
	derived.Info("one")
	if err := f.SetVerbosity(3); err != nil {
		t.Fatal(err)
	}
	derived.Info("two", "name", "p")
	klog.Background().V(3).Info("three")
	klog.Background().V(4).Info("four")
	if err := f.SetVerbosity(0); err != nil {
		t.Fatal(err)
	}
	klog.Background().V(3).Info("five")
	text := out.String()
	if strings.Contains(text, "one") || !strings.Contains(text, "msg=two part=queue pod.name=p") || !strings.Contains(text, "three") ||
		strings.Contains(text, "four") || strings.Contains(text, "five") {
		t.Errorf("the log:\n%s", text)
	}
}
