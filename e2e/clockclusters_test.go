package e2e

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
)

// hosted returns a control plane that the process hosts.
func (p *process) hosted(name string) *process {
	p.t.Helper()
	path := filepath.Join(p.t.TempDir(), name)
	if err := os.WriteFile(path, []byte(p.cluster("kubeconfig", name)), 0o600); err != nil {
		p.t.Fatal(err)
	}
	return &process{t: p.t, stderr: p.stderr, Server: p.Server + "/clusters/" + name, Kubeconfig: path}
}

// cluster runs `fairlead cluster`.
func (p *process) cluster(args ...string) (stdout string) {
	p.t.Helper()
	r := fairlead(p.t, append([]string{"cluster", "--kubeconfig", p.Kubeconfig}, args...)...)
	if r.code != 0 {
		p.t.Fatalf("cluster %q exits with %d: %s\n%s", args, r.code, r.errs, p.stderr)
	}
	return r.out
}

// TestVirtualClockClusters: the control planes of a process share its clock, which any of them advances. They are made,
// forked, reset and deleted while it stands still.
func TestVirtualClockClusters(t *testing.T) {
	p := launch(t, "server", "--in-memory", "--clock=virtual", "--clusters", "--listen=127.0.0.1:0", "--data-dir", t.TempDir())
	ctx := t.Context()
	create := func(c kubernetes.Interface, name string) time.Time {
		t.Helper()
		m, err := c.CoreV1().ConfigMaps("default").Create(ctx, &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: name}}, metav1.CreateOptions{})
		if err != nil {
			t.Fatal(err)
		}
		return m.CreationTimestamp.Time
	}
	began, _ := p.clock()
	p.cluster("create", "base", "--nodes=1", "--controllers=nodelifecycle", "--scheduler=false")
	base := p.hosted("base")
	create(base.clientset(), "fixture")
	p.cluster("fork", "one", "--from=base")
	one := p.hosted("one")
	if at := create(one.clientset(), "own"); !at.Equal(began.Truncate(time.Second)) {
		t.Errorf("created at %v, the clock has stood at %v", at, began)
	}
	base.clock("run", "--until=condition=Ready", "node/node-1")
	one.clock("advance", "90m")
	at, _ := base.clock()
	if now, _ := p.clock(); !now.Equal(at) || now.Sub(began) < 90*time.Minute {
		t.Errorf("the server has %v, base %v, both %v before", now, at, began)
	}
	for name, c := range map[string]*process{"server": p, "base": base, "one": one} {
		if made := create(c.clientset(), "late"); !made.Equal(at.Truncate(time.Second)) {
			t.Errorf("%s: created at %v, want %v", name, made, at)
		}
	}
	// The nodes of each have renewed their Leases.
	for name, c := range map[string]*process{"base": base, "one": one} {
		lease, err := c.clientset().CoordinationV1().Leases("kube-node-lease").Get(ctx, "node-1", metav1.GetOptions{})
		if err != nil || at.Sub(lease.Spec.RenewTime.Time) > 15*time.Minute {
			t.Errorf("%s: at %v the Lease is %+v, %v", name, at, lease, err)
		}
	}
	// Certificates that are issued now go by the real clock, or they would not be valid yet.
	p.cluster("reset", "one")
	if _, err := p.hosted("one").clientset().CoreV1().ConfigMaps("default").Get(ctx, "own", metav1.GetOptions{}); !apierrors.IsNotFound(err) {
		t.Errorf("after the reset: %v", err)
	}
	p.cluster("create", "new", "--nodes=0", "--controllers=namespace", "--scheduler=false")
	p.cluster("fork", "copy", "--from=base")
	for _, name := range []string{"one", "new", "copy"} {
		create(p.hosted(name).clientset(), "later")
	}
	p.cluster("delete", "base", "one", "new", "copy")
	p.stop()
}
