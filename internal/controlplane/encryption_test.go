package controlplane_test

import (
	"bytes"
	"context"
	"crypto/aes"
	"encoding/base64"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	migrationv1 "k8s.io/api/storagemigration/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/apiserver/pkg/storage/value"
	aestransformer "k8s.io/apiserver/pkg/storage/value/encrypt/aes"
	"k8s.io/client-go/kubernetes"
	"k8s.io/utils/ptr"

	"fairlead.dev/internal/controlplane"
	"fairlead.dev/internal/controlplane/controlplanetest"
	"fairlead.dev/storage"
	"fairlead.dev/storage/etcd"
	"fairlead.dev/storage/etcdserver"
	"fairlead.dev/storage/local"
)

// keyOf returns a key of 32 bytes as an EncryptionConfiguration has it.
func keyOf(letter string) string {
	return base64.StdEncoding.EncodeToString([]byte(strings.Repeat(letter, 32)))
}

// provider returns the configuration of a provider with keys of these names, of one letter each.
func provider(kind string, names ...string) string {
	if kind == "identity" {
		return "  - identity: {}\n"
	}
	text := "  - " + kind + ":\n      keys:\n"
	for _, name := range names {
		text += "      - {name: " + name + ", secret: " + keyOf(name) + "}\n"
	}
	return text
}

// encryptionConfig returns a configuration for resources, in YAML's flow style.
func encryptionConfig(resources string, providers ...string) string {
	return "apiVersion: apiserver.config.k8s.io/v1\nkind: EncryptionConfiguration\nresources:\n- resources: " + resources +
		"\n  providers:\n" + strings.Join(providers, "")
}

// vault is a store that outlives the control planes on it, with a configuration of its encryption.
type vault struct {
	*testing.T
	options controlplane.Options
	file    string
	// stored returns the stored value of a key.
	stored func(key string) string
}

// inVaults runs a test on both stores.
func inVaults(t *testing.T, test func(v *vault)) {
	t.Run("embedded", func(t *testing.T) {
		v := &vault{T: t, options: controlplane.Options{DataDir: t.TempDir(), EtcdListen: "127.0.0.1:0"}}
		v.file = filepath.Join(t.TempDir(), "encryption.yaml")
		test(v)
	})
	t.Run("etcd", func(t *testing.T) {
		s, err := local.Open("", local.Options{InMemory: true})
		if err != nil {
			t.Fatal(err)
		}
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		url := "http://" + l.Addr().String()
		server := etcdserver.New(etcdserver.Config{Store: s, ClientURLs: []string{url}})
		go server.Serve(l)
		t.Cleanup(func() { server.Close(); s.Close() })
		v := &vault{T: t, options: controlplane.Options{DataDir: t.TempDir(), Etcd: controlplane.Etcd{Servers: []string{url}, Prefix: "/other"}}}
		v.file = filepath.Join(t.TempDir(), "encryption.yaml")
		v.stored = func(key string) string { return valueOf(t, s, "/other"+strings.TrimPrefix(key, "/registry")) }
		test(v)
	})
}

func valueOf(t *testing.T, s storage.Store, key string) string {
	t.Helper()
	res, err := s.Range(t.Context(), storage.RangeRequest{Start: key})
	if err != nil {
		t.Fatal(err)
	}
	if len(res.KVs) == 0 {
		return ""
	}
	return string(res.KVs[0].Value)
}

// configure writes the configuration.
func (v *vault) configure(config string) {
	v.Helper()
	if err := os.WriteFile(v.file, []byte(config), 0o600); err != nil {
		v.Fatal(err)
	}
	v.options.Encryption.ConfigFile = v.file
}

// run runs a control plane on the store.
func (v *vault) run(during func(cp *controlplane.ControlPlane, c *kubernetes.Clientset)) {
	v.Helper()
	o := v.options
	o.Listen = "127.0.0.1:0"
	cp, err := controlplane.Start(v.Context(), o)
	if err != nil {
		v.Fatal(err)
	}
	defer func() {
		if err := cp.Stop(); err != nil {
			v.Error(err)
		}
	}()
	if url := cp.EtcdURL(); url != "" {
		s, err := etcd.Open(v.Context(), etcd.Options{Endpoints: []string{url}})
		if err != nil {
			v.Fatal(err)
		}
		defer s.Close()
		v.stored = func(key string) string { return valueOf(v.T, s, key) }
	}
	during(cp, controlplanetest.Clientset(v, cp))
}

func (v *vault) storedAs(key, prefix string) {
	v.Helper()
	if got := v.stored(key); !strings.HasPrefix(got, prefix) {
		v.Errorf("%s is stored as %.60q, want %q", key, got, prefix)
	}
}

func secretOf(name, value string) *corev1.Secret {
	return &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: name}, StringData: map[string]string{"password": value}}
}

// put creates or replaces a Secret in default.
func (v *vault) put(c *kubernetes.Clientset, name, value string) *corev1.Secret {
	v.Helper()
	secrets := c.CoreV1().Secrets("default")
	s, err := secrets.Create(v.Context(), secretOf(name, value), metav1.CreateOptions{})
	if apierrors.IsAlreadyExists(err) {
		s, err = secrets.Update(v.Context(), secretOf(name, value), metav1.UpdateOptions{})
	}
	if err != nil {
		v.Fatal(err)
	}
	return s
}

func (v *vault) reads(c *kubernetes.Clientset, name, value string) *corev1.Secret {
	v.Helper()
	s, err := c.CoreV1().Secrets("default").Get(v.Context(), name, metav1.GetOptions{})
	if err != nil {
		v.Fatal(err)
	}
	if got := string(s.Data["password"]); got != value {
		v.Errorf("the password in %s is %q, want %q", name, got, value)
	}
	return s
}

// rewrite updates a Secret without a change, and reports whether that has written it.
func (v *vault) rewrite(c *kubernetes.Clientset, name string) bool {
	v.Helper()
	secrets := c.CoreV1().Secrets("default")
	before, err := secrets.Get(v.Context(), name, metav1.GetOptions{})
	if err != nil {
		v.Fatal(err)
	}
	after, err := secrets.Update(v.Context(), before, metav1.UpdateOptions{})
	if err != nil {
		v.Fatal(err)
	}
	return after.ResourceVersion != before.ResourceVersion
}

// withoutChange returns writes of a Secret without a change, by verb. They report whether they have written it.
func (v *vault) withoutChange(c *kubernetes.Clientset, name string) map[string]func() bool {
	patch := func(kind types.PatchType, body string, o metav1.PatchOptions) func() bool {
		return func() bool {
			v.Helper()
			secrets := c.CoreV1().Secrets("default")
			before, err := secrets.Get(v.Context(), name, metav1.GetOptions{})
			if err != nil {
				v.Fatal(err)
			}
			after, err := secrets.Patch(v.Context(), name, kind, []byte(body), o)
			if err != nil {
				v.Fatal(err)
			}
			return after.ResourceVersion != before.ResourceVersion
		}
	}
	return map[string]func() bool{
		"update": func() bool { return v.rewrite(c, name) },
		"patch":  patch(types.MergePatchType, "{}", metav1.PatchOptions{}),
		"apply": patch(types.ApplyPatchType, "apiVersion: v1\nkind: Secret\nmetadata: {name: "+name+", labels: {a: b}}\n",
			metav1.PatchOptions{FieldManager: "test"}),
	}
}

func TestEncryptionProviders(t *testing.T) {
	for _, kind := range []string{"aescbc", "aesgcm", "secretbox"} {
		t.Run(kind, func(t *testing.T) {
			inVaults(t, func(v *vault) {
				v.configure(encryptionConfig("[secrets]", provider(kind, "a", "b")))
				v.run(func(_ *controlplane.ControlPlane, c *kubernetes.Clientset) {
					v.put(c, "one", "first")
					v.reads(c, "one", "first")
					v.put(c, "one", "second")
					v.storedAs("/registry/secrets/default/one", "k8s:enc:"+kind+":v1:a:")
					v.storedAs("/registry/namespaces/default", "{")
				})
				v.run(func(_ *controlplane.ControlPlane, c *kubernetes.Clientset) { v.reads(c, "one", "second") })
			})
		})
	}
}

// TestEncryptedKeyIsAuthenticated opens a stored value as kube-apiserver does, whose authenticated data is the key in etcd.
func TestEncryptedKeyIsAuthenticated(t *testing.T) {
	inVaults(t, func(v *vault) {
		v.configure(encryptionConfig("[secrets]", provider("aesgcm", "a")))
		v.run(func(_ *controlplane.ControlPlane, c *kubernetes.Clientset) {
			v.put(c, "one", "first")
			block, err := aes.NewCipher([]byte(strings.Repeat("a", 32)))
			if err != nil {
				v.Fatal(err)
			}
			gcm, err := aestransformer.NewGCMTransformer(block)
			if err != nil {
				v.Fatal(err)
			}
			root := "/registry/"
			if prefix := v.options.Etcd.Prefix; prefix != "" {
				root = prefix + "/"
			}
			sealed := []byte(strings.TrimPrefix(v.stored("/registry/secrets/default/one"), "k8s:enc:aesgcm:v1:a:"))
			plain, _, err := gcm.TransformFromStorage(v.Context(), sealed, value.DefaultContext(root+"secrets/default/one"))
			if err != nil || !bytes.Contains(plain, []byte(`"password":"Zmlyc3Q="`)) {
				v.Errorf("%s, %v", plain, err)
			}
		})
	})
}

// TestEncryptionMigration goes from plain values to encrypted ones, through two keys, and back.
func TestEncryptionMigration(t *testing.T) {
	const key = "/registry/secrets/default/one"
	inVaults(t, func(v *vault) {
		v.run(func(_ *controlplane.ControlPlane, c *kubernetes.Clientset) {
			v.put(c, "one", "first")
			for verb, write := range v.withoutChange(c, "one") {
				write() // the first one owns the fields
				if write() {
					v.Errorf("without encryption %s without a change has written", verb)
				}
			}
		})
		for _, step := range []struct {
			providers  []string
			verb, want string
		}{
			{[]string{provider("aescbc", "a"), provider("identity")}, "update", "k8s:enc:aescbc:v1:a:"},
			{[]string{provider("aescbc", "b", "a")}, "patch", "k8s:enc:aescbc:v1:b:"},
			{[]string{provider("secretbox", "b"), provider("aescbc", "b")}, "apply", "k8s:enc:secretbox:v1:b:"},
			{[]string{provider("identity"), provider("secretbox", "b")}, "update", "{"},
			{[]string{provider("identity")}, "update", "{"},
		} {
			v.configure(encryptionConfig("[secrets]", step.providers...))
			v.run(func(_ *controlplane.ControlPlane, c *kubernetes.Clientset) {
				v.reads(c, "one", "first")
				stale := !strings.HasPrefix(v.stored(key), step.want)
				write := v.withoutChange(c, "one")[step.verb]
				if write() != stale {
					v.Errorf("%s without a change has written: %t, want %t", step.verb, !stale, stale)
				}
				v.storedAs(key, step.want)
				if write() {
					v.Errorf("a second %s without a change has written", step.verb)
				}
			})
		}
	})
}

// TestStorageVersionMigration writes all Secrets with a new key.
func TestStorageVersionMigration(t *testing.T) {
	inVaults(t, func(v *vault) {
		v.options.Controllers = []string{"storageversionmigrator"}
		v.configure(encryptionConfig("[secrets]", provider("aescbc", "a")))
		v.run(func(_ *controlplane.ControlPlane, c *kubernetes.Clientset) {
			v.put(c, "one", "first")
			v.put(c, "two", "second")
		})
		v.configure(encryptionConfig("[secrets]", provider("aescbc", "b", "a")))
		v.run(func(_ *controlplane.ControlPlane, c *kubernetes.Clientset) {
			v.storedAs("/registry/secrets/default/one", "k8s:enc:aescbc:v1:a:")
			migrations := c.StoragemigrationV1().StorageVersionMigrations()
			if _, err := migrations.Create(v.Context(), &migrationv1.StorageVersionMigration{
				ObjectMeta: metav1.ObjectMeta{Name: "secrets"},
				Spec:       migrationv1.StorageVersionMigrationSpec{Resource: metav1.GroupResource{Resource: "secrets"}},
			}, metav1.CreateOptions{}); err != nil {
				v.Fatal(err)
			}
			w, err := migrations.Watch(v.Context(), metav1.ListOptions{})
			if err != nil {
				v.Fatal(err)
			}
			defer w.Stop()
			for e := range w.ResultChan() {
				if meta.IsStatusConditionTrue(e.Object.(*migrationv1.StorageVersionMigration).Status.Conditions, "Succeeded") {
					break
				}
			}
			v.storedAs("/registry/secrets/default/one", "k8s:enc:aescbc:v1:b:")
			v.storedAs("/registry/secrets/default/two", "k8s:enc:aescbc:v1:b:")
		})
	})
}

// TestEncryptedConflict reads encrypted values where they are not read as objects of the present.
func TestEncryptedConflict(t *testing.T) {
	inVaults(t, func(v *vault) {
		v.configure(encryptionConfig("[secrets]", provider("aescbc", "a")))
		v.run(func(_ *controlplane.ControlPlane, c *kubernetes.Clientset) {
			s := secretOf("held", "x")
			s.Finalizers = []string{"example.com/hold"}
			secrets := c.CoreV1().Secrets("default")
			if _, err := secrets.Create(v.Context(), s, metav1.CreateOptions{}); err != nil {
				v.Fatal(err)
			}
			if err := secrets.Delete(v.Context(), "held", metav1.DeleteOptions{}); err != nil {
				v.Fatal(err)
			}
			_, err := secrets.Create(v.Context(), secretOf("held", "y"), metav1.CreateOptions{})
			if !apierrors.IsAlreadyExists(err) || !strings.HasPrefix(err.Error(), "object is being deleted") {
				v.Errorf("the creation of a Secret that is being deleted: %v", err)
			}
		})
	})
}

// TestUndecryptable loses a key: one Secret cannot be read, and everything else can. The key comes back.
func TestUndecryptable(t *testing.T) {
	inVaults(t, func(v *vault) {
		v.options.Encryption.Reloads = true
		v.configure(encryptionConfig("[secrets]", provider("aescbc", "a")))
		var started string
		v.run(func(_ *controlplane.ControlPlane, c *kubernetes.Clientset) {
			list, err := c.CoreV1().Secrets("default").List(v.Context(), metav1.ListOptions{})
			if err != nil {
				v.Fatal(err)
			}
			started = list.ResourceVersion
			v.put(c, "old", "first")
		})
		v.configure(encryptionConfig("[secrets]", provider("aescbc", "b")))
		v.run(func(_ *controlplane.ControlPlane, c *kubernetes.Clientset) {
			secrets := c.CoreV1().Secrets("default")
			v.put(c, "new", "second")
			v.reads(c, "new", "second")
			const why = "data from the storage is not transformable revision=0: no matching key was found for the provided AES transformer"
			_, err := secrets.Get(v.Context(), "old", metav1.GetOptions{})
			if !apierrors.IsInternalError(err) || !strings.Contains(err.Error(), why) {
				v.Errorf("get: %v", err)
			}
			_, err = secrets.List(v.Context(), metav1.ListOptions{})
			if apierrors.ReasonForError(err) != metav1.StatusReasonStoreReadError || !strings.Contains(err.Error(), why) {
				v.Errorf("list: %v", err)
			}
			_, err = secrets.Update(v.Context(), secretOf("old", "third"), metav1.UpdateOptions{})
			if !apierrors.IsInternalError(err) || !strings.Contains(err.Error(), why) {
				v.Errorf("update: %v", err)
			}
			w, err := secrets.Watch(v.Context(), metav1.ListOptions{})
			if err != nil {
				v.Fatal(err)
			}
			defer w.Stop()
			if e := <-w.ResultChan(); e.Type != watch.Error || !strings.Contains(apierrors.FromObject(e.Object).Error(), why) {
				v.Errorf("watch: %v", e)
			}
			if _, err := c.CoreV1().Namespaces().List(v.Context(), metav1.ListOptions{}); err != nil {
				v.Error(err)
			}
			v.configure(encryptionConfig("[secrets]", provider("aescbc", "b", "a")))
			v.until("the key is back", func() bool {
				list, err := secrets.List(v.Context(), metav1.ListOptions{})
				return err == nil && len(list.Items) == 2
			})
			old := v.reads(c, "old", "first")
			again, err := secrets.Watch(v.Context(), metav1.ListOptions{ResourceVersion: started})
			if err != nil {
				v.Fatal(err)
			}
			defer again.Stop()
			if e := <-again.ResultChan(); e.Type != watch.Added || e.Object.(*corev1.Secret).ResourceVersion != old.ResourceVersion {
				v.Errorf("a watch from before the Secret: %v", e)
			}
			v.rewrite(c, "old")
			v.storedAs("/registry/secrets/default/old", "k8s:enc:aescbc:v1:b:")
		})
	})
}

// TestUndecryptableIsDeleted removes a value whose key is lost, on request.
func TestUndecryptableIsDeleted(t *testing.T) {
	inVaults(t, func(v *vault) {
		v.configure(encryptionConfig("[secrets]", provider("aescbc", "a")))
		v.run(func(_ *controlplane.ControlPlane, c *kubernetes.Clientset) { v.put(c, "old", "first") })
		v.configure(encryptionConfig("[secrets]", provider("aescbc", "b")))
		v.run(func(_ *controlplane.ControlPlane, c *kubernetes.Clientset) {
			secrets := c.CoreV1().Secrets("default")
			if err := secrets.Delete(v.Context(), "old", metav1.DeleteOptions{}); !apierrors.IsInternalError(err) {
				v.Errorf("delete: %v", err)
			}
			if err := secrets.Delete(v.Context(), "old", metav1.DeleteOptions{IgnoreStoreReadErrorWithClusterBreakingPotential: ptr.To(true)}); err != nil {
				v.Error(err)
			}
			if list, err := secrets.List(v.Context(), metav1.ListOptions{}); err != nil || len(list.Items) != 0 {
				v.Errorf("%v, %v", list, err)
			}
		})
	})
}

// until waits for a condition.
func (v *vault) until(what string, is func() bool) {
	v.Helper()
	for !is() {
		if v.Context().Err() != nil {
			v.Fatalf("%s: %v", what, context.Cause(v.Context()))
		}
	}
}

// TestNothingPlainOnDisk: a value that was written, replaced, deleted, and is kept by the history and in a saved cluster
// is in no file.
func TestNothingPlainOnDisk(t *testing.T) {
	const first, second = "correct-horse-battery-staple-0001", "another-recognizable-password-002"
	v := &vault{T: t, options: controlplane.Options{DataDir: t.TempDir(), History: 1 << 40, EtcdListen: "127.0.0.1:0"}}
	v.file = filepath.Join(t.TempDir(), "encryption.yaml")
	v.configure(encryptionConfig("['*.*']", provider("secretbox", "a")))
	v.run(func(_ *controlplane.ControlPlane, c *kubernetes.Clientset) {
		v.put(c, "one", first)
		v.put(c, "one", second)
		v.put(c, "kept", first)
		if err := c.CoreV1().Secrets("default").Delete(t.Context(), "one", metav1.DeleteOptions{}); err != nil {
			t.Fatal(err)
		}
	})
	v.run(func(cp *controlplane.ControlPlane, c *kubernetes.Clientset) {
		v.reads(c, "kept", first)
		v.put(c, "kept", second)
		page, err := pasts{t, cp}.read("", "default", "kept")
		if err != nil || len(page.States) != 2 || !bytes.Contains(page.States[1].Object, []byte(base64.StdEncoding.EncodeToString([]byte(first)))) {
			t.Errorf("the history of the Secret: %+v, %v", page, err)
		}
		state, err := cp.State(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if _, err := state.Save(t.Context(), filepath.Join(v.options.DataDir, "saved.db"), nil); err != nil {
			t.Fatal(err)
		}
	})
	var traces [][]byte
	for _, text := range []string{first, second} {
		encoded := base64.StdEncoding.EncodeToString([]byte(text))
		for _, one := range []string{text, encoded} {
			traces = append(traces, []byte(one), []byte(one[:len(one)/2]), []byte(one[len(one)/2:len(one)-2]))
		}
	}
	files := 0
	err := filepath.WalkDir(v.options.DataDir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		content, err := os.ReadFile(path)
		files++
		for _, trace := range traces {
			if bytes.Contains(content, trace) {
				t.Errorf("%s has %s", path, trace)
			}
		}
		return err
	})
	if err != nil || files < 5 {
		t.Errorf("%d files, %v", files, err)
	}
}
