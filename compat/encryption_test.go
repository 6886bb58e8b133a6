package compat

import (
	"bytes"
	"context"
	"encoding/base64"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/kms/pkg/service"
)

// TestEncryptedEtcd: kube-apiserver and ours share an etcd and a file of --encryption-provider-config. They read the same
// objects, byte for byte, and each reads, watches and guards what the other writes.
func TestEncryptedEtcd(t *testing.T) {
	dir, err := os.MkdirTemp("", "kms") // t.TempDir is long
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(dir)
	socket := filepath.Join(dir, "kms.sock")
	plugin := service.NewGRPCService(socket, time.Second, mask{})
	go plugin.ListenAndServe()
	defer plugin.Close()

	key := func(letter string) string {
		return fmt.Sprintf("{name: %s, secret: %s}", letter, base64.StdEncoding.EncodeToString([]byte(strings.Repeat(letter, 32))))
	}
	file := filepath.Join(dir, "encryption.yaml")
	config := fmt.Sprintf(`apiVersion: apiserver.config.k8s.io/v1
kind: EncryptionConfiguration
resources:
- resources: [secrets]
  providers: [{secretbox: {keys: [%s]}}]
- resources: [configmaps, pods]
  providers: [{aesgcm: {keys: [%s, %s]}}]
- resources: [serviceaccounts]
  providers: [{kms: {apiVersion: v2, name: vault, endpoint: 'unix://%s'}}]
- resources: ['*.apps', '*.rbac.authorization.k8s.io']
  providers: [{identity: {}}]
- resources: ['*.*']
  providers: [{aescbc: {keys: [%s]}}]
`, key("a"), key("b"), key("c"), socket, key("d"))
	if err := os.WriteFile(file, []byte(config), 0o600); err != nil {
		t.Fatal(err)
	}
	const prefix = "/elsewhere"
	flags := []string{"--encryption-provider-config", file, "--etcd-prefix", prefix}
	up := startUpstream(t, flags...)
	fill(t, up.clients)
	ours := startServer(t, up.etcd, flags...)
	compared := 0
	for _, path := range lists(t, up.clients, ours) {
		compared += compare(t, path, up.clients, ours)
	}
	t.Logf("seen: %d objects, the same at both", compared)
	if compared < 100 {
		t.Errorf("%d objects are too few to tell", compared)
	}
	together(t, up.clients, ours)

	for name, c := range map[string]*kubernetes.Clientset{"of-theirs": up.clients, "of-ours": ours} {
		meta := metav1.ObjectMeta{Name: name, Namespace: adoptedNS}
		for _, err := range []error{
			created(c.CoreV1().Secrets(adoptedNS).Create(t.Context(), &corev1.Secret{ObjectMeta: meta, StringData: map[string]string{"a": name}}, metav1.CreateOptions{})),
			created(c.CoreV1().ConfigMaps(adoptedNS).Create(t.Context(), &corev1.ConfigMap{ObjectMeta: meta}, metav1.CreateOptions{})),
			created(c.CoreV1().ServiceAccounts(adoptedNS).Create(t.Context(), &corev1.ServiceAccount{ObjectMeta: meta}, metav1.CreateOptions{})),
			created(c.CoreV1().Services(adoptedNS).Create(t.Context(), &corev1.Service{ObjectMeta: meta, Spec: corev1.ServiceSpec{ClusterIP: "None"}}, metav1.CreateOptions{})),
		} {
			if err != nil {
				t.Fatal(name, err)
			}
		}
		for key, want := range map[string]string{
			"/secrets/" + adoptedNS + "/" + name:         "k8s:enc:secretbox:v1:a:",
			"/configmaps/" + adoptedNS + "/" + name:      "k8s:enc:aesgcm:v1:b:",
			"/serviceaccounts/" + adoptedNS + "/" + name: "k8s:enc:kms:v2:vault:",
			"/services/specs/" + adoptedNS + "/" + name:  "k8s:enc:aescbc:v1:d:",
		} {
			out, err := exec.Command(bin.fairlead, "store", "get", prefix+key, "--endpoints", up.etcd).Output()
			if _, value, _ := bytes.Cut(out, []byte("\n")); err != nil || !bytes.HasPrefix(value, []byte(want)) {
				t.Errorf("%s is stored as %.60q, %v, want %s", key, value, err, want)
			}
		}
	}
	up.restart() // its watch cache has what it reads from etcd then
	for _, name := range []string{"of-theirs", "of-ours"} {
		for _, c := range []*kubernetes.Clientset{up.clients, ours} {
			s, err := c.CoreV1().Secrets(adoptedNS).Get(t.Context(), name, metav1.GetOptions{})
			if err != nil || string(s.Data["a"]) != name {
				t.Errorf("%s: %+v, %v", name, s, err)
			}
		}
	}
	for _, path := range []string{"/api/v1/secrets", "/api/v1/configmaps", "/api/v1/serviceaccounts", "/api/v1/services", "/api/v1/pods"} {
		compare(t, path, up.clients, ours)
	}
}

func created[T any](_ T, err error) error { return err }

// mask is a KMS that encrypts by turning over all bits.
type mask struct{}

func (mask) turn(b []byte) []byte {
	b = bytes.Clone(b)
	for i := range b {
		b[i] ^= 0xff
	}
	return b
}

// Encrypt implements service.Service.
func (m mask) Encrypt(_ context.Context, _ string, data []byte) (*service.EncryptResponse, error) {
	return &service.EncryptResponse{Ciphertext: m.turn(data), KeyID: "1"}, nil
}

// Decrypt implements service.Service.
func (m mask) Decrypt(_ context.Context, _ string, req *service.DecryptRequest) ([]byte, error) {
	return m.turn(req.Ciphertext), nil
}

// Status implements service.Service.
func (mask) Status(context.Context) (*service.StatusResponse, error) {
	return &service.StatusResponse{Version: "v2", Healthz: "ok", KeyID: "1"}, nil
}
