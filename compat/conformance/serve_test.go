//go:build conformance

package conformance

import (
	"bufio"
	"encoding/json"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
)

// serve runs `fairlead up` in memory until the test ends, and returns its kubeconfig.
func serve(t *testing.T, fairlead string, flags ...string) string {
	t.Helper()
	cmd := exec.Command(fairlead, append([]string{"up", "--in-memory", "--data-dir=" + filepath.Join(t.TempDir(), "data"), "--listen=127.0.0.1:0", "--nodes=5", "-o", "json"}, flags...)...)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		cmd.Process.Signal(syscall.SIGTERM)
		cmd.Wait()
	})
	line, err := bufio.NewReader(out).ReadBytes('\n')
	if err != nil {
		t.Fatal("fairlead up ended: ", err)
	}
	var up struct{ Kubeconfig string }
	if err := json.Unmarshal(line, &up); err != nil || up.Kubeconfig == "" {
		t.Fatalf("%v in %s", err, line)
	}
	return up.Kubeconfig
}
