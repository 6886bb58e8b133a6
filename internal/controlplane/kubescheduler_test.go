package controlplane_test

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"fairlead.dev/internal/resource/gates"
)

// kubeScheduler is the variable of the environment that names a kube-scheduler 1.37, which then schedules in place of ours in the scenarios
// of pod groups. Texts of conditions, and events, are not compared then: docs/differences.md lists how they differ.
const kubeScheduler = "KUBE_SCHEDULER"

// runKubeScheduler runs kube-scheduler with the gates of the API until the test ends.
func runKubeScheduler(t testing.TB, program, kubeconfig string, api gates.API) {
	t.Helper()
	config := filepath.Join(t.TempDir(), "scheduler.yaml")
	text := fmt.Sprintf(`apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
clientConnection: {kubeconfig: %q, qps: 10000, burst: 10000}
leaderElection: {leaderElect: false}
podInitialBackoffSeconds: 1
podMaxBackoffSeconds: 1
`, kubeconfig)
	if err := os.WriteFile(config, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	var on []string
	for _, gate := range []string{"GenericWorkload", "TopologyAwareWorkloadScheduling", "CompositePodGroup", "PodGroupPreemptionPolicy", "DRAWorkloadResourceClaims"} {
		if api.Enabled(gate) {
			on = append(on, gate+"=true")
		}
	}
	cmd := exec.Command(program, "--config", config, "--secure-port=0", "--feature-gates="+strings.Join(on, ","))
	var log bytes.Buffer
	cmd.Stdout, cmd.Stderr = &log, &log
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		cmd.Process.Signal(syscall.SIGTERM)
		cmd.Wait()
		if t.Failed() {
			t.Logf("kube-scheduler:\n%s", &log)
		}
	})
}
