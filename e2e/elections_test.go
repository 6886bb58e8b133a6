package e2e

import (
	"strings"
	"testing"
)

// TestElections: of two schedulers in processes of their own the one that emulates the older version gets the Lease, and the
// other gets it when that one ends.
func TestElections(t *testing.T) {
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
