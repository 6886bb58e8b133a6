package e2e

import (
	"strings"
	"syscall"
	"testing"
)

// TestElections: of two schedulers in processes of their own the one that emulates the older version gets the Lease, and the
// other gets it when that one ends.
func TestElections(t *testing.T) {
	t.Parallel()
	p := up(t, t.TempDir(), "--feature-gates=CoordinatedLeaderElection=true", "--runtime-config=coordination.k8s.io/v1beta1=true", "--scheduler=false", "--nodes=0")
	const gate = "--feature-gates=CoordinatedLeaderElection=true"
	holder := func() string {
		return p.kubectl("get", "leases", "-n", "kube-system", "--field-selector=metadata.name=kube-scheduler", "-o", "jsonpath={.items[*].spec.holderIdentity}")
	}
	emulating := func(version string) string {
		return p.kubectl("get", "leasecandidates", "-n", "kube-system", "-o", `jsonpath={.items[?(@.spec.emulationVersion=="`+version+`")].metadata.name}`)
	}
	p.part("scheduler", gate)
	eventually(t, "the only scheduler leads", func() bool { h := holder(); return h != "" && h == emulating("1.37.0") })
	older := p.part("scheduler", gate, "--emulated-version=1.36")
	eventually(t, "the older scheduler leads", func() bool { h := holder(); return h != "" && h == emulating("1.36.0") })
	older()
	eventually(t, "the newer scheduler leads again", func() bool { h := holder(); return strings.Contains(h, "_") && h == emulating("1.37.0") })
}

// TestElectionsOfTwoServers: of two API servers on one etcd cluster one elects among the candidates of both. When it is killed, together with
// the holder that it elected, the other one elects.
func TestElectionsOfTwoServers(t *testing.T) {
	t.Parallel()
	const gate, elects = "--feature-gates=CoordinatedLeaderElection=true", `msg="became the leader" component=leader-election-controller`
	flags := []string{"--etcd-servers=" + startEtcd(t), gate, "--runtime-config=coordination.k8s.io/v1beta1=true", "--scheduler=false", "--nodes=0", "--v=0",
		"--coordinated-leadership-lease-duration=15s", "--coordinated-leadership-renew-deadline=12s", "--coordinated-leadership-retry-period=200ms"}
	first := up(t, t.TempDir(), flags...)
	eventually(t, "the first server elects", func() bool { return strings.Contains(first.stderr.String(), elects) })
	second := up(t, t.TempDir(), flags...)
	field := func(p *process, resource, name, field string) string {
		return p.kubectl("get", resource, "-n", "kube-system", "--field-selector=metadata.name="+name, "-o", "jsonpath={.items[*]."+field+"}")
	}
	holder := func(p *process) string { return field(p, "leases", "kube-scheduler", "spec.holderIdentity") }
	emulating := func(version string) func() bool {
		return func() bool {
			is := holder(second)
			return is != "" && field(second, "leasecandidates", is, "spec.emulationVersion") == version
		}
	}
	const lease, deadline, retry = "--leader-elect-lease-duration=15s", "--leader-elect-renew-deadline=12s", "--leader-elect-retry-period=200ms"
	second.part("scheduler", gate, lease, deadline, retry)
	eventually(t, "the second server's scheduler leads, elected by the first server", emulating("1.37.0"))
	older := first.part("scheduler", gate, "--emulated-version=1.36", lease, deadline, retry)
	eventually(t, "the first server's scheduler leads, which emulates an older version", emulating("1.36.0"))
	if a, b := holder(first), holder(second); a != b {
		t.Errorf("the servers know two holders, %s and %s", a, b)
	}
	acting := field(second, "leases", "leader-election-controller", "spec.holderIdentity")
	expect(t, "the first server's log", first.stderr.String(), `msg="created the lease"`, "msg=elected")
	for _, deed := range []string{elects, `msg="created the lease"`, "msg=elected"} {
		if strings.Contains(second.stderr.String(), deed) {
			t.Errorf("the second server acts, too:\n%s", second.stderr)
		}
	}

	first.kill(syscall.SIGKILL)
	older()
	eventually(t, "the second server elects its scheduler", emulating("1.37.0"))
	expect(t, "the second server's log", second.stderr.String(), elects, "msg=elected")
	if now := field(second, "leases", "leader-election-controller", "spec.holderIdentity"); now == acting || now == "" {
		t.Errorf("the holder of the servers' lease is %q, as before", now)
	}
}
