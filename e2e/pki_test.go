package e2e

import (
	"encoding/json"
	"os/exec"
	"syscall"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
)

// TestKilledInTheMiddleOfARotation kills the server while it rotates its CA, at whatever point that is. Its keys are those
// before or after: it starts, and accepts the kubeconfig from before the rotation, and the rotation can be completed.
func TestKilledInTheMiddleOfARotation(t *testing.T) {
	newUser(t)
	dir := t.TempDir()
	p := up(t, dir)
	before := p.config()
	accepted := func(config *rest.Config) {
		t.Helper()
		c := rest.CopyConfig(config)
		c.Host, c.CAData = p.config().Host, p.config().CAData // those of the present start
		client, err := kubernetes.NewForConfig(c)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := client.CoreV1().Namespaces().Get(t.Context(), "default", metav1.GetOptions{}); err != nil {
			t.Error(err)
		}
	}
	retired := func() (n int) {
		t.Helper()
		r := fairlead(t, "pki", "list", "--data-dir="+dir, "-o", "json")
		var items []struct{ Name, State string }
		if err := json.Unmarshal([]byte(r.out), &items); err != nil {
			t.Fatalf("%v in %q\n%s", err, r.out, r.errs)
		}
		for _, i := range items {
			if i.State == "retired" {
				n++
			}
		}
		return n
	}
	for range 3 {
		renew := exec.Command(bin.fairlead, "pki", "renew", "--ca", "--data-dir="+dir)
		if err := renew.Start(); err != nil {
			t.Fatal(err)
		}
		p.kill(syscall.SIGKILL)
		_ = renew.Wait() // it may have been told of the end
		p = up(t, dir)
		accepted(before)
		accepted(p.config())
		if retired() < 2 {
			fairlead(t, "pki", "renew", "--ca", "--data-dir="+dir).does(t, "")
		}
		between := p.config()
		p.kill(syscall.SIGKILL)
		p = up(t, dir)
		if n := retired(); n != 2 {
			t.Fatalf("after the rotation %d CAs are retired", n)
		}
		accepted(before)
		accepted(between)
		fairlead(t, "pki", "renew", "--finish", "--data-dir="+dir).does(t, "")
		p.kill(syscall.SIGKILL)
		p = up(t, dir)
		if n := retired(); n != 0 {
			t.Fatalf("after its end %d CAs are retired", n)
		}
		accepted(between)
		before = p.config()
	}
	fairlead(t, "pki", "renew", "--finish", "--data-dir="+dir).fails(t, 1, "there is no rotation to finish")
	fairlead(t, "pki", "renew", "apiserver", "--finish").fails(t, 2, "--finish goes alone")
}
