package controlplane_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	kmsservice "k8s.io/kms/pkg/service"

	"fairlead.dev/internal/controlplane"
	"fairlead.dev/internal/controlplane/controlplanetest"
)

// kms is a KMS plugin with a socket: it encrypts with the latest of its keys, and decrypts with all.
type kms struct {
	*testing.T
	socket  string
	key     string
	decrypt atomic.Int64 // calls of Decrypt
}

func newKMS(t *testing.T) *kms {
	dir, err := os.MkdirTemp("", "kms") // t.TempDir is long
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	return &kms{T: t, socket: filepath.Join(dir, "kms.sock"), key: "key-1"}
}

// config returns a configuration with the plugin.
func (k *kms) config(rest ...string) string {
	return encryptionConfig("[secrets]", append([]string{fmt.Sprintf("  - kms: {name: vault, apiVersion: v2, timeout: 300ms, endpoint: 'unix://%s'}\n", k.socket)}, rest...)...)
}

// up serves until down is called.
func (k *kms) up() (down func()) {
	k.Helper()
	os.Remove(k.socket)
	s := kmsservice.NewGRPCService(k.socket, time.Second, k)
	ended := make(chan error, 1)
	go func() { ended <- s.ListenAndServe() }()
	for {
		if _, err := os.Stat(k.socket); err == nil {
			break
		}
		select {
		case err := <-ended:
			k.Fatal(err)
		case <-time.After(time.Millisecond):
		}
	}
	return func() {
		s.Close()
		<-ended
	}
}

// mask encrypts and decrypts.
func mask(key string, b []byte) []byte {
	sum, out := sha256.Sum256([]byte(key)), bytes.Clone(b)
	for i := range out {
		out[i] ^= sum[i%len(sum)]
	}
	return out
}

// Encrypt implements kmsservice.Service.
func (k *kms) Encrypt(_ context.Context, _ string, data []byte) (*kmsservice.EncryptResponse, error) {
	return &kmsservice.EncryptResponse{Ciphertext: mask(k.key, data), KeyID: k.key}, nil
}

// Decrypt implements kmsservice.Service.
func (k *kms) Decrypt(_ context.Context, _ string, req *kmsservice.DecryptRequest) ([]byte, error) {
	k.decrypt.Add(1)
	return mask(req.KeyID, req.Ciphertext), nil
}

// Status implements kmsservice.Service.
func (k *kms) Status(context.Context) (*kmsservice.StatusResponse, error) {
	return &kmsservice.StatusResponse{Version: "v2", Healthz: "ok", KeyID: k.key}, nil
}

func TestEncryptionByKMS(t *testing.T) {
	const key = "/registry/secrets/default/one"
	inVaults(t, func(v *vault) {
		plugin := newKMS(v.T)
		down := plugin.up()
		v.configure(plugin.config())
		v.run(func(cp *controlplane.ControlPlane, c *kubernetes.Clientset) {
			for i := range 20 {
				v.put(c, fmt.Sprintf("many-%d", i), "many")
			}
			v.put(c, "one", "first")
			v.reads(c, "one", "first")
			v.storedAs(key, "k8s:enc:kms:v2:vault:")
			if code, text := controlplanetest.Getter(v, cp.Config())("/readyz/kms-providers"); code != http.StatusOK {
				v.Error(code, text)
			}
			down()
			v.put(c, "one", "second") // with the data key that it has
			v.reads(c, "one", "second")
		})

		v.run(func(cp *controlplane.ControlPlane, c *kubernetes.Clientset) { // it starts without the plugin
			get := controlplanetest.Getter(v, cp.Config())
			_, err := c.CoreV1().Secrets("default").Get(v.Context(), "one", metav1.GetOptions{})
			if !apierrors.IsInternalError(err) || !strings.Contains(err.Error(), "data from the storage is not transformable") {
				v.Errorf("get without the plugin: %v", err)
			}
			_, err = c.CoreV1().Secrets("default").Create(v.Context(), secretOf("two", "x"), metav1.CreateOptions{})
			if !apierrors.IsInternalError(err) {
				v.Errorf("create without the plugin: %v", err)
			}
			if _, err := c.CoreV1().Namespaces().List(v.Context(), metav1.ListOptions{}); err != nil {
				v.Error(err)
			}
			for _, path := range []string{"/readyz/kms-providers", "/livez/kms-providers", "/healthz/kms-providers", "/readyz"} {
				if code, text := get(path); code != http.StatusInternalServerError {
					v.Errorf("%s without the plugin: %d %s", path, code, text)
				}
			}
			down = plugin.up()
			v.until("the plugin is back", func() bool { code, _ := get("/readyz/kms-providers"); return code == http.StatusOK })
			v.reads(c, "one", "second")
			if list, err := c.CoreV1().Secrets("default").List(v.Context(), metav1.ListOptions{}); err != nil || len(list.Items) != 21 {
				v.Errorf("list: %v, %v", list, err)
			}
			if n := plugin.decrypt.Load(); n > 10 { // one data key for 21 Secrets, which callers may ask for at once
				v.Errorf("the plugin was asked %d times for a data key", n)
			}
		})

		plugin.key = "key-2"
		defer func() { down() }()
		v.run(func(_ *controlplane.ControlPlane, c *kubernetes.Clientset) {
			v.reads(c, "one", "second")
			if before := v.stored(key); !v.rewrite(c, "one") || v.stored(key) == before {
				v.Error("after a rotation an update without a change has not written")
			}
			if v.rewrite(c, "one") {
				v.Error("a second update without a change has written")
			}
		})
	})
}

// TestReloadWaitsForPlugin: a file whose plugin does not answer has no effect.
func TestReloadWaitsForPlugin(t *testing.T) {
	if testing.Short() {
		t.Skip("waits 10 s for the plugin")
	}
	inVaults(t, func(v *vault) {
		plugin := newKMS(v.T)
		v.options.Encryption.Reloads = true
		v.configure(encryptionConfig("[secrets]", provider("aescbc", "a")))
		v.run(func(cp *controlplane.ControlPlane, c *kubernetes.Clientset) {
			get := controlplanetest.Getter(v, cp.Config())
			counted := func(result string) bool {
				_, text := get("/metrics")
				return strings.Contains(text, `fairlead_config_reloads_total{config="encryption",result="`+result+`"}`)
			}
			v.configure(plugin.config(provider("aescbc", "a")))
			v.until("the file without its plugin is refused", func() bool { return counted("failure") })
			v.put(c, "one", "first")
			v.storedAs("/registry/secrets/default/one", "k8s:enc:aescbc:v1:a:")
			defer plugin.up()()
			v.configure(plugin.config(provider("aescbc", "a")) + "# again\n")
			v.until("the file with its plugin is read", func() bool { return counted("success") })
			v.rewrite(c, "one")
			v.storedAs("/registry/secrets/default/one", "k8s:enc:kms:v2:vault:")
		})
	})
}

// TestSilentPlugin: two servers share an etcd. While their plugin is silent, the values that one writes cannot be read by
// the other, which goes on with everything else.
func TestSilentPlugin(t *testing.T) {
	inVaults(t, func(v *vault) {
		if len(v.options.Etcd.Servers) == 0 {
			v.Skip("only an etcd has two servers")
		}
		plugin := newKMS(v.T)
		down := plugin.up()
		v.configure(plugin.config())
		v.run(func(_ *controlplane.ControlPlane, writer *kubernetes.Clientset) {
			v.options.DataDir = v.TempDir()
			v.run(func(_ *controlplane.ControlPlane, reader *kubernetes.Clientset) {
				v.put(reader, "own", "first")
				down()
				for i := range 50 {
					v.put(writer, fmt.Sprintf("of-the-other-%d", i), "second")
				}
				_, err := reader.CoreV1().Secrets("default").Get(v.Context(), "of-the-other-49", metav1.GetOptions{})
				if !apierrors.IsInternalError(err) || !strings.Contains(err.Error(), "failed to decrypt DEK") {
					v.Errorf("get: %v", err)
				}
				v.reads(reader, "own", "first")
				if _, err := reader.CoreV1().Namespaces().List(v.Context(), metav1.ListOptions{}); err != nil {
					v.Error(err)
				}
				defer plugin.up()()
				v.until("the value is readable", func() bool {
					_, err := reader.CoreV1().Secrets("default").Get(v.Context(), "of-the-other-49", metav1.GetOptions{})
					return err == nil
				})
				if list, err := reader.CoreV1().Secrets("default").List(v.Context(), metav1.ListOptions{}); err != nil || len(list.Items) != 51 {
					v.Errorf("list: %v, %v", list, err)
				}
			})
		})
	})
}
