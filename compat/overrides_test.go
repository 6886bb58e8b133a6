package compat

import (
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestOverridesAgree: with the same --etcd-servers-overrides kube-apiserver and ours store the same keys in the same etcd
// clusters.
func TestOverridesAgree(t *testing.T) {
	flag := func(other string) string {
		return "--etcd-servers-overrides=/secrets#" + other + ",apps/*#" + other + ",/events#" + other
	}
	theirs, ours := startEtcd(t), startEtcd(t)
	up, us := startUpstream(t, flag(theirs)), startOurs(t, flag(ours))
	fill(t, up.clients)
	fill(t, us.clients)
	for name, etcd := range map[string][2]string{"of the others": {up.etcd, us.etcd}, "of the overrides": {theirs, ours}} {
		want, got := keysOf(t, etcd[0]), keysOf(t, etcd[1])
		if len(want) == 0 {
			t.Errorf("kube-apiserver has no keys in the cluster %s", name)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("the keys in the cluster %s (-kube-apiserver, +ours):\n%s", name, diff)
		}
	}
}

// keysOf returns the keys of the namespace of fill in an etcd.
func keysOf(t *testing.T, etcd string) (keys []string) {
	t.Helper()
	out, err := exec.Command(bin.fairlead, "store", "get", "/registry/", "--prefix", "--keys-only", "--endpoints", etcd).Output()
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(out)) {
		if key := strings.TrimSpace(line); strings.Contains(key+"/", "/"+adoptedNS+"/") {
			keys = append(keys, key)
		}
	}
	slices.Sort(keys)
	return keys
}
