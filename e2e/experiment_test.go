package e2e

import (
	"encoding/json"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
)

const redis = `{"apiVersion":"v1","kind":"ReplicationController","metadata":{"name":"redis"},"spec":{"replicas":1,
"selector":{"app":"redis"},"template":{"metadata":{"labels":{"app":"redis"}},"spec":{"containers":[{"name":"redis","image":"redis"}]}}}}`

// TestOldestExperiment repeats a classic experiment with its original programs: kubectl
// scales a replication controller, and `etcdctl watch` of its key shows the write.
func TestOldestExperiment(t *testing.T) {
	p := up(t, t.TempDir(), "--etcd-listen=127.0.0.1:0")
	if p.Etcd == "" {
		t.Fatal("up does not print the address of its etcd")
	}
	p.kubectlWithInput(redis, "apply", "-f", "-")
	const key = "/registry/controllers/default/redis"
	// From revision 1 on, so that the order of watch and write does not matter.
	etcdctl := startWatch(t, bin.etcdctl, "--endpoints="+p.Etcd, "watch", key, "--rev=1")
	ours := startWatch(t, bin.fairlead, "store", "watch", key, "--revision=1", "--endpoints="+p.Etcd)
	p.kubectl("scale", "rc", "redis", "--replicas=2")
	for _, w := range []*watching{etcdctl, ours} {
		for replicas := int32(0); replicas != 2; {
			if line := w.next(); line != "PUT" {
				t.Fatalf("it prints %q", line)
			}
			if line := w.next(); line != key {
				t.Fatalf("it prints %q", line)
			}
			line := w.next()
			var rc corev1.ReplicationController
			if err := json.Unmarshal([]byte(line), &rc); err != nil || rc.Kind != "ReplicationController" || rc.Name != "redis" || rc.Spec.Replicas == nil {
				t.Fatalf("it prints %q: %v", line, err)
			}
			replicas = *rc.Spec.Replicas
		}
	}
	// A running server is inspected through its socket, with no endpoint named.
	dir := strings.TrimSuffix(p.Kubeconfig, "/kubeconfig")
	if k := parse[storeKey](t, fairlead(t, "store", "get", key, "-o", "json", "--data-dir", dir)); !strings.Contains(k.Value, `"replicas":2`) {
		t.Errorf("through the socket: %+v", k)
	}
	p.stop()
}
