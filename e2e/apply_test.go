package e2e

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

const shop = `apiVersion: apps/v1
kind: Deployment
metadata: {name: NAME, labels: {app: NAME}}
spec:
  replicas: 2
  selector: {matchLabels: {app: NAME}}
  template:
    metadata: {labels: {app: NAME}}
    spec: {containers: [{name: c, image: nginx, ports: [{containerPort: 80}]}]}
---
apiVersion: v1
kind: Service
metadata: {name: NAME}
spec: {selector: {app: NAME}, ports: [{port: 80}]}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: NAME}
data: {k: v}
`

// TestApply uses kubectl apply, client-side and server-side, the migration from one to the
// other, and kubectl diff.
func TestApply(t *testing.T) {
	p := up(t, t.TempDir())
	dir := t.TempDir()
	file := func(name, old, new string) string {
		path := filepath.Join(dir, name+strings.ReplaceAll(new, " ", "")+".yaml")
		text := strings.ReplaceAll(strings.ReplaceAll(shop, "NAME", name), old, new)
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		return path
	}
	web, web3 := file("web", "", ""), file("web", "replicas: 2", "replicas: 3")
	expect(t, "apply", p.kubectl("apply", "--server-side", "-f", web), "serverside-applied")
	revision := p.kubectl("get", "configmap", "web", "-o", "jsonpath={.metadata.resourceVersion}")
	p.kubectl("apply", "--server-side", "-f", web)
	if again := p.kubectl("get", "configmap", "web", "-o", "jsonpath={.metadata.resourceVersion}"); again != revision {
		t.Errorf("an apply without changes was written: %s, then %s", revision, again)
	}
	expect(t, "diff", p.differs("diff", "--server-side", "-f", web3), "+  replicas: 3")
	expect(t, "a conflict", p.kubectlFails("apply", "--server-side", "--field-manager=other", "-f", web3), `conflict with "kubectl": .spec.replicas`)
	p.kubectl("apply", "--server-side", "--field-manager=other", "--force-conflicts", "-f", web3)
	if n := p.kubectl("get", "deployment", "web", "-o", "jsonpath={.spec.replicas}"); n != "3" {
		t.Errorf("%s replicas after a forced apply", n)
	}

	old, old5 := file("old", "", ""), file("old", "replicas: 2", "replicas: 5")
	expect(t, "client-side apply", p.kubectl("apply", "-f", old), "created")
	expect(t, "client-side apply again", p.kubectl("apply", "-f", old), "unchanged")
	expect(t, "client-side diff", p.differs("diff", "-f", old5), "+  replicas: 5")
	expect(t, "client-side change", p.kubectl("apply", "-f", old5), "configured")
	expect(t, "from client to server", p.kubectl("apply", "--server-side", "-f", old), "serverside-applied")
	managers := p.kubectl("get", "deployment", "old", "--show-managed-fields", "-o", "jsonpath={.metadata.managedFields[*].manager}")
	if strings.Contains(managers, "kubectl-client-side-apply") {
		t.Errorf("the record still has kubectl's older manager: %s", managers)
	}
	if n := p.kubectl("get", "deployment", "old", "-o", "jsonpath={.spec.replicas}"); n != "2" {
		t.Errorf("%s replicas after the change to server-side apply", n)
	}

	p.kubectl("scale", "deployment", "web", "--replicas=1")
	p.kubectl("annotate", "deployment", "web", "a=b")
	managers = p.kubectl("get", "deployment", "web", "--show-managed-fields", "-o", "jsonpath={range .metadata.managedFields[*]}{.manager}/{.operation}/{.subresource} {end}")
	for _, want := range []string{"other/Apply/", "kubectl/Update/scale", "kubectl-annotate/Update/"} {
		expect(t, "managers", managers, want)
	}
}

// differs runs kubectl diff, expects a difference and returns it.
func (p *process) differs(args ...string) string {
	p.t.Helper()
	cmd, cancel := p.command(args...)
	defer cancel()
	out, err := cmd.Output()
	if cmd.ProcessState.ExitCode() != 1 {
		p.t.Fatalf("kubectl %s: %v\n%s", strings.Join(args, " "), err, out)
	}
	return string(out)
}
