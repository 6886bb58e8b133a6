package e2e

import (
	"strings"
	"syscall"
	"testing"
)

// TestServerLease: a server has its Lease beside those of the nodes. One that starts after a kill replaces it, and one that
// ends deletes it. The feature gate switches it off.
func TestServerLease(t *testing.T) {
	const path = "/registry/leases/kube-system/apiserver-"
	dir := t.TempDir()
	p := up(t, dir)
	var holder string
	eventually(t, "the server's lease", func() bool {
		list := p.kubectl("get", "leases", "-A", "-l", "apiserver.kubernetes.io/identity=kube-apiserver", "-o", "jsonpath={.items[*].spec.holderIdentity}")
		holder = list
		return strings.HasPrefix(holder, "apiserver-")
	})
	expect(t, "readyz", p.kubectl("get", "--raw", "/readyz?verbose"), "[+]poststarthook/start-kube-apiserver-identity-lease-controller ok", "[+]poststarthook/start-kube-apiserver-identity-lease-garbage-collector ok")
	p.kill(syscall.SIGKILL)
	if keys := fairlead(t, "store", "get", path, "--prefix", "--data-dir", dir); keys.code != 0 || strings.Count(keys.out, path) != 1 {
		t.Errorf("after a kill: %+v", keys)
	}

	p = up(t, dir)
	eventually(t, "a new lease", func() bool {
		now := p.kubectl("get", "leases", "-n", "kube-system", "-l", "apiserver.kubernetes.io/identity=kube-apiserver", "-o", "jsonpath={.items[*].spec.holderIdentity}")
		return now != holder && strings.HasPrefix(now, "apiserver-") && !strings.Contains(now, " ")
	})
	p.stop()
	if keys := fairlead(t, "store", "get", path, "--prefix", "--data-dir", dir); keys.code != 0 || keys.out != "" {
		t.Errorf("after the end: %+v", keys)
	}

	p = up(t, dir, "--feature-gates=APIServerIdentity=false,UnknownVersionInteroperabilityProxy=false")
	if ready := p.kubectl("get", "--raw", "/readyz?verbose"); strings.Contains(ready, "identity-lease") {
		t.Errorf("without the gate:\n%s", ready)
	}
	p.stop()
	if keys := fairlead(t, "store", "get", path, "--prefix", "--data-dir", dir); keys.code != 0 || keys.out != "" {
		t.Errorf("without the gate: %+v", keys)
	}
}
