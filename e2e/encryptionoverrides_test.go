package e2e

import (
	"encoding/base64"
	"strings"
	"testing"

	clientv3 "go.etcd.io/etcd/client/v3"
)

// TestEncryptionOfOverrides: Secrets in an etcd cluster of their own are encrypted there, with the next key after a rotation
// and a write, and are read after a restart with that key alone.
func TestEncryptionOfOverrides(t *testing.T) {
	const password, key = "correct-horse-battery-staple", "/registry/secrets/default/one"
	others, secrets := startEtcd(t), startEtcd(t)
	stored := func(server string) string {
		t.Helper()
		c, err := clientv3.New(clientv3.Config{Endpoints: []string{server}})
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		got, err := c.Get(t.Context(), key)
		if err != nil {
			t.Fatal(err)
		}
		if got.Count == 0 {
			return ""
		}
		return string(got.Kvs[0].Value)
	}
	dir := t.TempDir()
	for _, step := range []struct {
		keys  []string
		write []string
		first string // the key of the stored value
	}{
		{[]string{"a"}, []string{"create", "secret", "generic", "one", "--from-literal=password=" + password}, "a"},
		{[]string{"b", "a"}, nil, "a"},
		{[]string{"b", "a"}, []string{"annotate", "secret", "one", "rotated=true"}, "b"},
		{[]string{"b"}, nil, "b"},
	} {
		p := up(t, dir, "--nodes=0", "--etcd-servers="+others, "--etcd-servers-overrides=/secrets#"+secrets, "--encryption-provider-config="+encryptionFile(t, step.keys...))
		if step.write != nil {
			p.kubectl(step.write...)
		}
		expect(t, "value", p.kubectl("get", "secret", "one", "-o", "jsonpath={.data.password}"), base64.StdEncoding.EncodeToString([]byte(password)))
		expect(t, "list", p.kubectl("get", "secrets"), "one")
		if v := stored(secrets); !strings.HasPrefix(v, "k8s:enc:secretbox:v1:"+step.first+":") || strings.Contains(v, base64.StdEncoding.EncodeToString([]byte(password))) {
			t.Errorf("with the keys %q, after %q: %.60q", step.keys, step.write, v)
		}
		if v := stored(others); v != "" {
			t.Errorf("the other cluster has the Secret: %.60q", v)
		}
		p.stop()
	}
	p := launch(t, "up", "--data-dir", dir, "--listen=127.0.0.1:0", "--nodes=0", "--etcd-servers="+others, "--etcd-servers-overrides=/secrets#"+secrets, "--encryption-provider-config="+encryptionFile(t, "c"))
	expect(t, "a read with another key", p.kubectlFails("get", "secret", "one"), "no matching key was found")
	p.stop()
}
