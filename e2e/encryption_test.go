package e2e

import (
	"bytes"
	"encoding/base64"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// encryptionFile writes an EncryptionConfiguration that encrypts Secrets with the first of keys, each of one repeated letter,
// and decrypts them with all.
func encryptionFile(t *testing.T, letters ...string) string {
	t.Helper()
	var keys []string
	for _, letter := range letters {
		keys = append(keys, `{name: `+letter+`, secret: `+base64.StdEncoding.EncodeToString([]byte(strings.Repeat(letter, 32)))+`}`)
	}
	file := filepath.Join(t.TempDir(), "encryption.yaml")
	text := `apiVersion: apiserver.config.k8s.io/v1
kind: EncryptionConfiguration
resources: [{resources: [secrets], providers: [{secretbox: {keys: [` + strings.Join(keys, ", ") + `]}}]}]
`
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

// TestEncryptedStore: after a kill no file of a server has a Secret in plain, verify reads the store with the server's
// file, and names what it cannot read with another one.
func TestEncryptedStore(t *testing.T) {
	const password = "correct-horse-battery-staple"
	dir, right, wrong := t.TempDir(), encryptionFile(t, "a"), encryptionFile(t, "b")
	p := launch(t, "up", "--data-dir", dir, "--listen=127.0.0.1:0", "--nodes=0", "--encryption-provider-config", right)
	p.kubectl("create", "secret", "generic", "one", "--from-literal=password="+password)
	expect(t, "value", p.kubectl("get", "secret", "one", "-o", "jsonpath={.data.password}"), base64.StdEncoding.EncodeToString([]byte(password)))
	expect(t, "stored", fairlead(t, "store", "get", "/registry/secrets/default/one", "--data-dir", dir).out, "k8s:enc:secretbox:v1:a:")
	p.kill(syscall.SIGKILL)
	encoded := base64.StdEncoding.EncodeToString([]byte(password))
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		content, err := os.ReadFile(path)
		if bytes.Contains(content, []byte(password)) || bytes.Contains(content, []byte(encoded)) {
			t.Errorf("%s has the password", path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}

	verify := func(flags ...string) ran {
		return fairlead(t, append([]string{"store", "verify", "--data-dir", dir, "-o", "json"}, flags...)...)
	}
	if s := parse[storeState](t, verify("--encryption-provider-config", right)); len(s.Unreadable) != 0 {
		t.Errorf("with the server's keys: %+v", s)
	}
	if s := parse[storeState](t, verify()); len(s.Unreadable) == 0 {
		t.Error("without keys all values are readable")
	}
	r := verify("--encryption-provider-config", wrong)
	if r.code != 1 {
		t.Errorf("verify with other keys: exit %d", r.code)
	}
	expect(t, "verify with other keys", r.errs, "/registry/secrets/default/one", "no matching key was found for the provided Secretbox transformer", "cannot be read with "+wrong)
	verify("--encryption-provider-config", filepath.Join(dir, "none")).fails(t, 2, "--encryption-provider-config", "no such file")

	fairlead(t, "server", "--data-dir", dir, "--listen=127.0.0.1:0", "--encryption-provider-config-automatic-reload").fails(t, 2,
		"--encryption-provider-config-automatic-reload must be set with --encryption-provider-config")
}
