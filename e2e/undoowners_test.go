package e2e

import (
	"strconv"
	"strings"
	"testing"
)

// TestUndoOwners restores an object that the garbage collector deleted with its owner: without the reference to it, or, once the owner
// is there again, with its new UID.
func TestUndoOwners(t *testing.T) {
	t.Parallel()
	p := up(t, t.TempDir(), "--in-memory", "--nodes=0")
	defer p.stop()
	run := func(args ...string) ran {
		t.Helper()
		return fairlead(t, append(args, "--kubeconfig="+p.Kubeconfig)...)
	}
	uid := func(name string) string { return p.kubectl("get", "cm", name, "-o", "jsonpath={.metadata.uid}") }
	owners := func() string {
		return p.kubectl("get", "cm", "dependent", "-o", "jsonpath={.metadata.ownerReferences[*].uid}")
	}
	p.kubectl("create", "configmap", "owner")
	p.kubectlWithInput(`
apiVersion: v1
kind: ConfigMap
metadata: {name: dependent, ownerReferences: [{apiVersion: v1, kind: ConfigMap, name: owner, uid: `+uid("owner")+`}]}
data: {a: "1"}
`, "create", "-f", "-")
	collected := func() {
		t.Helper()
		p.kubectl("delete", "configmap", "owner")
		p.kubectl("wait", "--for=delete", "configmap/dependent", "--timeout="+patience.String())
	}
	collected()

	preview := run("undo", "cm/dependent")
	if preview.code != 0 || strings.Contains(preview.out, "ownerReferences") || !strings.Contains(preview.errs, "gone are left out: ConfigMap/owner") {
		t.Errorf("exit %d\n%s%s", preview.code, preview.out, preview.errs)
	}
	run("undo", "cm/dependent", "--yes")
	if got := owners(); got != "" {
		t.Errorf("restored without its owner: %s", got)
	}
	p.kubectl("delete", "configmap", "dependent")

	p.kubectl("create", "configmap", "owner")
	created := p.states("cm/dependent")
	run("undo", "cm/dependent", "--yes", "--to="+strconv.FormatInt(created[len(created)-1].Revision, 10))
	if got, want := owners(), uid("owner"); got != want {
		t.Errorf("restored beside its owner: %q, want %s", got, want)
	}
	collected()
}
