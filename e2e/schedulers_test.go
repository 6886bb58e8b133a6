package e2e

import (
	"os"
	"path/filepath"
	"testing"
)

// TestSchedulersBeside runs three schedulers beside each other, each of which has its own pods: one by default, one whose
// configuration file names another lease, and one whose file switches the election off. A flag takes precedence over the file.
func TestSchedulersBeside(t *testing.T) {
	t.Parallel()
	p := launch(t, "server", "--in-memory", "--data-dir", t.TempDir(), "--listen", "127.0.0.1:0")
	defer p.stop()
	p.part("nodes", "--nodes=1")
	p.part("controllers", "--controllers=serviceaccount,nodelifecycle", "--leader-elect-resource-name=accounts", "--leader-elect-resource-namespace=default")
	configured := func(name, election string, flags ...string) {
		file := filepath.Join(t.TempDir(), "scheduler.yaml")
		text := "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\nprofiles: [{schedulerName: " + name + "}]\nleaderElection: " + election + "\n"
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		p.part(append([]string{"scheduler", "--config=" + file}, flags...)...)
	}
	p.part("scheduler")
	configured("batch", "{resourceName: batch, resourceNamespace: default}")
	configured("alone", "{leaderElect: false}")
	configured("flagged", "{leaderElect: false, resourceName: unused}", "--leader-elect=true", "--leader-elect-resource-name=flagged")

	p.kubectl("wait", "--for=create", "serviceaccount/default", "--timeout="+patience.String())
	for _, name := range []string{"default-scheduler", "batch", "alone", "flagged"} {
		p.kubectl("run", name, "--image=nginx", `--overrides={"spec":{"schedulerName":"`+name+`"}}`)
		p.kubectl("wait", "pod/"+name, "--for=condition=Ready", "--timeout="+patience.String())
	}
	for _, lease := range []string{"kube-system/kube-scheduler", "default/batch", "kube-system/flagged", "default/accounts"} {
		p.kubectl("get", "lease", "--namespace="+filepath.Dir(lease), filepath.Base(lease))
	}
	p.kubectlFails("get", "lease", "--namespace=kube-system", "unused") // the flag has replaced the name
}
