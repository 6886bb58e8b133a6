package controlplane_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	"fairlead.dev/internal/controlplane"
	"fairlead.dev/internal/controlplane/controlplanetest"
)

// TestEncryptionConfigErrors starts with files that kube-apiserver refuses.
func TestEncryptionConfigErrors(t *testing.T) {
	const kms = "  - kms: {name: %s, endpoint: 'unix:///nowhere', apiVersion: v2}\n"
	for _, c := range []struct{ config, want string }{
		{"", "is empty"},
		{"a: [", "error decoding encryption provider configuration file"},
		{"apiVersion: apiserver.config.k8s.io/v1\nkind: EncryptionConfiguration\nresources: []\n", "resources: Required value: at least one resources is required"},
		{encryptionConfig("[secrets]", provider("identity")) + "more: true\n", `strict decoding error: unknown field "more"`},
		{encryptionConfig("[Secrets]", provider("identity")), "resource name should not contain capital letters"},
		{encryptionConfig("['*']", provider("identity")), "use '*.' to encrypt all the resources from core API group"},
		{encryptionConfig("['secrets.*']", provider("identity")), "encrypting the same resource across groups is not supported"},
		{encryptionConfig("[secrets, '*.']", provider("identity")), "using overlapping resources such as 'secrets' and '*.' in the same resource list is not allowed"},
		{encryptionConfig("['*.*']", provider("identity")) + "- resources: [secrets]\n  providers:\n" + provider("identity"), `resource "secrets" is masked by earlier rule "*.*"`},
		{encryptionConfig("[secrets]", "  - aescbc: {keys: [{name: a, secret: c2hvcnQ=}]}\n"), "secret is not of the expected length, got 5, expected one of [16 24 32]"},
		{encryptionConfig("[secrets]", "  - secretbox: {keys: [{name: a, secret: '!'}]}\n"), "secrets must be base64 encoded"},
		{encryptionConfig("[secrets]", "  - {}\n"), "provider does not contain any of the expected providers"},
		{encryptionConfig("[secrets]", strings.ReplaceAll(kms, "%s", "a")+strings.ReplaceAll(kms, "%s", "a")), "duplicate KMS provider name a, names must be unique"},
		{encryptionConfig("[secrets]", "  - kms: {name: a, endpoint: 'unix:///nowhere', apiVersion: v1}\n"), "Use KMSv2 instead"},
		{encryptionConfig("[secrets]", "  - kms: {name: a, endpoint: 'tcp://nowhere', apiVersion: v2}\n"), `unsupported scheme "tcp" for KMS provider, only unix is supported`},
	} {
		file := filepath.Join(t.TempDir(), "encryption.yaml")
		if err := os.WriteFile(file, []byte(c.config), 0o600); err != nil {
			t.Fatal(err)
		}
		cp, err := controlplane.Start(t.Context(), controlplane.Options{
			DataDir: t.TempDir(), InMemory: true, Listen: "127.0.0.1:0", Encryption: controlplane.Encryption{ConfigFile: file},
		})
		if err == nil {
			cp.Stop()
		}
		if err == nil || !strings.HasPrefix(err.Error(), "--encryption-provider-config: ") || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", c.config, err, c.want)
		}
	}
}

// TestEncryptionWildcards: a resource is encrypted by the first rule of its name, its group, or all.
func TestEncryptionWildcards(t *testing.T) {
	inVaults(t, func(v *vault) {
		v.configure(encryptionConfig("[configmaps, events]", provider("identity")) +
			"- resources: ['*.apps', widgets.example.com]\n  providers:\n" + provider("aescbc", "a") +
			"- resources: ['*.*']\n  providers:\n" + provider("secretbox", "b"))
		v.run(func(cp *controlplane.ControlPlane, c *kubernetes.Clientset) {
			v.put(c, "one", "first")
			if _, err := c.CoreV1().ConfigMaps("default").Create(v.Context(), &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "one"}}, metav1.CreateOptions{}); err != nil {
				v.Fatal(err)
			}
			labels := map[string]string{"a": "b"}
			if _, err := c.AppsV1().Deployments("default").Create(v.Context(), &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Name: "one"}, Spec: appsv1.DeploymentSpec{
				Selector: &metav1.LabelSelector{MatchLabels: labels},
				Template: corev1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Labels: labels}, Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "a", Image: "a"}}}},
			}}, metav1.CreateOptions{}); err != nil {
				v.Fatal(err)
			}
			for _, plural := range []string{"widgets", "gadgets"} {
				v.define(c, plural)
				path := "/apis/example.com/v1/namespaces/default/" + plural
				object := map[string]any{"apiVersion": "example.com/v1", "kind": strings.ToUpper(plural[:1]) + plural[1:len(plural)-1], "metadata": map[string]any{"name": "one"}}
				body, err := json.Marshal(object)
				if err != nil {
					v.Fatal(err)
				}
				if err := c.RESTClient().Post().AbsPath(path).Body(body).Do(v.Context()).Error(); err != nil {
					v.Fatal(err)
				}
				if err := c.RESTClient().Get().AbsPath(path, "one").Do(v.Context()).Error(); err != nil {
					v.Error(err)
				}
			}
			for key, want := range map[string]string{
				"/registry/configmaps/default/one":                                             "{",
				"/registry/deployments/default/one":                                            "k8s:enc:aescbc:v1:a:",
				"/registry/secrets/default/one":                                                "k8s:enc:secretbox:v1:b:",
				"/registry/namespaces/default":                                                 "k8s:enc:secretbox:v1:b:",
				"/registry/services/specs/default/kubernetes":                                  "k8s:enc:secretbox:v1:b:",
				"/registry/example.com/widgets/default/one":                                    "k8s:enc:aescbc:v1:a:",
				"/registry/example.com/gadgets/default/one":                                    "k8s:enc:secretbox:v1:b:",
				"/registry/apiextensions.k8s.io/customresourcedefinitions/widgets.example.com": "k8s:enc:secretbox:v1:b:",
			} {
				v.storedAs(key, want)
			}
		})
		v.run(func(_ *controlplane.ControlPlane, c *kubernetes.Clientset) {
			v.reads(c, "one", "first")
			if err := c.RESTClient().Get().AbsPath("/apis/example.com/v1/namespaces/default/widgets/one").Do(v.Context()).Error(); err != nil {
				v.Error(err)
			}
		})
	})
}

// define defines a kind in example.com.
func (v *vault) define(c *kubernetes.Clientset, plural string) {
	v.Helper()
	kind := strings.ToUpper(plural[:1]) + plural[1:len(plural)-1]
	definition := map[string]any{
		"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition", "metadata": map[string]any{"name": plural + ".example.com"},
		"spec": map[string]any{
			"group": "example.com", "scope": "Namespaced", "names": map[string]any{"plural": plural, "kind": kind, "singular": strings.ToLower(kind)},
			"versions": []any{map[string]any{
				"name": "v1", "served": true, "storage": true, "schema": map[string]any{"openAPIV3Schema": map[string]any{"type": "object"}},
			}},
		},
	}
	body, err := json.Marshal(definition)
	if err != nil {
		v.Fatal(err)
	}
	if err := c.RESTClient().Post().AbsPath("/apis/apiextensions.k8s.io/v1/customresourcedefinitions").Body(body).Do(v.Context()).Error(); err != nil {
		v.Fatal(err)
	}
}

// TestEncryptionReload replaces the file of a running server: a broken one is reported and has no effect, a good one
// encrypts the next write.
func TestEncryptionReload(t *testing.T) {
	inVaults(t, func(v *vault) {
		v.options.Encryption.Reloads = true
		v.configure(encryptionConfig("[secrets]", provider("aescbc", "a")))
		v.run(func(cp *controlplane.ControlPlane, c *kubernetes.Clientset) {
			get := controlplanetest.Getter(v, cp.Config())
			counted := func(result string) bool {
				_, text := get("/metrics")
				return strings.Contains(text, `fairlead_config_reloads_total{config="encryption",result="`+result+`"}`) &&
					strings.Contains(text, `,status="`+result+`"}`)
			}
			v.put(c, "one", "first")
			v.configure("broken")
			v.until("the broken file is counted", func() bool { return counted("failure") })
			v.put(c, "two", "second")
			v.storedAs("/registry/secrets/default/two", "k8s:enc:aescbc:v1:a:")
			v.configure(encryptionConfig("[secrets]", provider("secretbox", "b"), provider("aescbc", "a")))
			v.until("the new file is counted", func() bool { return counted("success") })
			v.put(c, "three", "third")
			v.storedAs("/registry/secrets/default/three", "k8s:enc:secretbox:v1:b:")
			if !v.rewrite(c, "one") {
				v.Error("an update without a change has not written a stale value")
			}
			v.storedAs("/registry/secrets/default/one", "k8s:enc:secretbox:v1:b:")
			for _, path := range []string{"/readyz/kms-providers", "/livez/kms-providers", "/healthz/poststarthook/start-encryption-provider-config-automatic-reload"} {
				if code, text := get(path); code != 200 {
					v.Errorf("%s: %d %s", path, code, text)
				}
			}
			_, text := get("/metrics")
			for _, family := range []string{
				`apiserver_storage_transformation_operations_total{resource="secrets",status="OK",transformation_type="to_storage",transformer_prefix="k8s:enc:secretbox:v1:"}`,
				`apiserver_storage_transformation_duration_seconds_count{`, `apiserver_encryption_config_controller_automatic_reload_last_timestamp_seconds{`,
				`apiserver_encryption_config_controller_last_config_info{`,
			} {
				if !strings.Contains(text, family) {
					v.Errorf("/metrics has no %s", family)
				}
			}
		})
	})
}

// TestEncryptedForks: forks read the values of their base, also after its end, and write encrypted ones.
func TestEncryptedForks(t *testing.T) {
	v := &vault{T: t, file: filepath.Join(t.TempDir(), "encryption.yaml")}
	v.configure(encryptionConfig("[secrets]", provider("aesgcm", "a")))
	base := controlplanetest.Start(t, controlplane.Options{Encryption: v.options.Encryption})
	v.put(controlplanetest.Clientset(t, base), "one", "first")
	frozen, err := base.Freeze(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(v.file); err != nil {
		t.Fatal(err)
	}
	fork, err := frozen.Fork(t.Context(), controlplane.Place{DataDir: t.TempDir(), Listen: "127.0.0.1:0"})
	if err != nil {
		t.Fatal(err)
	}
	defer fork.Stop()
	if err := frozen.Close(); err != nil {
		t.Fatal(err)
	}
	c := controlplanetest.Clientset(t, fork)
	v.reads(c, "one", "first")
	v.put(c, "one", "second")
	v.reads(c, "one", "second")
}
