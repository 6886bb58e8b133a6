package e2e

import (
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
)

// launchOn is launch on a machine of another name.
func launchOn(t *testing.T, host string, args ...string) *process {
	t.Helper()
	attributes := &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWUTS}
	if os.Getuid() != 0 {
		attributes.Cloneflags |= syscall.CLONE_NEWUSER
		attributes.UidMappings = []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getuid(), Size: 1}}
		attributes.GidMappings = []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getgid(), Size: 1}}
	}
	rename := []string{"-c", `echo "$0" >/proc/sys/kernel/hostname && exec "$@"`, host}
	try := exec.Command("sh", append(rename, "true")...)
	try.SysProcAttr = attributes
	if err := try.Run(); err != nil {
		if os.Getenv("CI") == "" {
			t.Skipf("NOT TESTED: this machine allows no other host name (%v): run this test as root", err)
		}
		t.Fatalf("this machine allows no other host name: %v", err)
	}
	cmd := exec.Command("sh", append(append(rename, bin.fairlead), append(args, "-o", "json")...)...)
	cmd.SysProcAttr = attributes
	return await(t, cmd)
}

// TestTwoStorageVersions: two API servers on one etcd are both in the StorageVersions. The controller, in a process of its own, takes
// out the one that has ended, and at last deletes a StorageVersion that no server reports.
func TestTwoStorageVersions(t *testing.T) {
	etcd := launch(t, "etcd", "--in-memory", "--listen", "127.0.0.1:0")
	defer etcd.stop()
	server := func(more ...string) []string {
		return append([]string{
			"server", "--etcd-servers", etcd.Endpoint, "--data-dir", t.TempDir(), "--listen", "127.0.0.1:0",
			"--feature-gates=StorageVersionAPI=true", "--runtime-config=internal.apiserver.k8s.io/v1alpha1=true",
		}, more...)
	}
	first := launch(t, server()...)
	defer first.stop()
	reports := func(version string) string {
		return first.kubectl("get", "storageversions", version, "-o", `jsonpath={.status.storageVersions[*].apiServerID} {.status.commonEncodingVersion} {.status.conditions[*].status}`)
	}
	id := func(of string) string { return strings.Fields(of)[0] }
	alone := reports("apps.deployments")
	if !strings.HasPrefix(alone, "apiserver-") || !strings.HasSuffix(alone, " apps/v1 True") {
		t.Fatalf("of one server: %s", alone)
	}

	second := launchOn(t, "other", server("--emulated-version=1.36")...)
	both := reports("apps.deployments")
	if !strings.HasPrefix(both, id(alone)+" apiserver-") || !strings.HasSuffix(both, " apps/v1 True") {
		t.Errorf("of two servers: %s", both)
	}
	if served := first.kubectl("get", "storageversions", "storagemigration.k8s.io.storageversionmigrations", "-o", `jsonpath={.status.storageVersions[*].apiServerID}`); served != id(alone) {
		t.Errorf("a kind that came after the emulated version is of %s, want %s alone", served, id(alone))
	}
	// The other ends without deleting its Lease, and the Lease goes.
	stop := first.part("controllers", "--controllers=storageversiongarbagecollector", "--feature-gates=StorageVersionAPI=true")
	defer stop()
	second.kill(syscall.SIGKILL)
	if now := reports("apps.deployments"); now != both {
		t.Errorf("while the Lease is there: %s, want %s", now, both)
	}
	first.kubectl("delete", "lease", "-n", "kube-system", strings.Fields(both)[1])
	eventually(t, "the report of the server that has ended to go", func() bool { return reports("apps.deployments") == alone })

	first.kubectlWithInput(`
apiVersion: internal.apiserver.k8s.io/v1alpha1
kind: StorageVersion
metadata: {name: example.com.things}
spec: {}
`, "create", "-f", "-")
	first.kubectl("patch", "storageversion", "example.com.things", "--subresource=status", "--type=merge", "-p",
		`{"status":{"commonEncodingVersion":"v1","storageVersions":[{"apiServerID":"gone","encodingVersion":"v1","decodableVersions":["v1"]}]}}`)
	first.kubectl("wait", "--for=delete", "storageversion/example.com.things", "--timeout="+patience.String())
}
