package e2e

import (
	"bufio"
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"strings"
	"testing"
)

// A program in any language starts a server, gives it commands in lines, and ends it by closing the pipe; neither leaves
// a file behind. So it is on a standing clock.
func TestStdin(t *testing.T) {
	for _, clock := range []string{"real", "virtual"} {
		t.Run(clock, func(t *testing.T) { speaksInLines(t, "--clock="+clock) })
	}
}

func speaksInLines(t *testing.T, flag string) {
	dir := t.TempDir()
	cmd := exec.Command(bin.fairlead, "up", "--in-memory", "--listen=127.0.0.1:0", "--stdin", flag)
	cmd.Env = append(os.Environ(), "TMPDIR="+dir)
	var log bytes.Buffer
	cmd.Stderr = &log
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { cmd.Process.Kill() })
	lines := bufio.NewScanner(out)
	next := func() (response struct{ Server, Cluster, Kubeconfig, Error, Reason string }) {
		t.Helper()
		if !lines.Scan() {
			t.Fatalf("no line: %v\n%s", lines.Err(), &log)
		}
		if err := json.Unmarshal(lines.Bytes(), &response); err != nil {
			t.Fatalf("%s: %v", lines.Text(), err)
		}
		return response
	}
	if ready := next(); ready.Server == "" {
		t.Fatalf("the ready line: %+v", ready)
	}
	say := func(line string) {
		if _, err := in.Write([]byte(line + "\n")); err != nil {
			t.Fatal(err)
		}
	}
	say("create base --nodes=0")
	if base := next(); base.Cluster != "base" || !strings.HasSuffix(base.Server, "/clusters/base") {
		t.Errorf("create: %+v", base)
	}
	say("")
	say("fork one --from=base")
	one := next()
	kubectl := exec.Command(bin.kubectl, "--kubeconfig", one.Kubeconfig, "get", "namespace", "default", "-o", "name")
	if text, err := kubectl.CombinedOutput(); err != nil || strings.TrimSpace(string(text)) != "namespace/default" {
		t.Errorf("kubectl: %s, %v", text, err)
	}
	for line, reason := range map[string]string{
		"fork one --from=base": "AlreadyExists", "fork x --from=gone": "Invalid", "reset gone": "NotFound",
		"frok x": "Usage", "fork": "Usage", "create x --nodes=many": "Usage", "stop now": "Usage", "--help": "Usage", "kubeconfig base": "Usage",
	} {
		say(line)
		if got := next(); got.Reason != reason || got.Error == "" {
			t.Errorf("%s: %+v", line, got)
		}
	}
	say("delete one base")
	if got := next(); got.Error != "" {
		t.Errorf("delete: %+v", got)
	}
	if err := in.Close(); err != nil {
		t.Error(err)
	}
	if lines.Scan() {
		t.Errorf("after the end of standard input: %s", lines.Text())
	}
	if err := cmd.Wait(); err != nil {
		t.Errorf("exit: %v\n%s", err, &log)
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
		t.Errorf("left in the temporary directory: %v, %v", left, err)
	}
}
