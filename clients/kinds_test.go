package clients_test

import (
	"os"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/rand"
	"k8s.io/client-go/kubernetes"
	"sigs.k8s.io/yaml"

	"fairlead.dev/testenv"
)

// quiet is a control plane in which only the test writes: without controllers, scheduler and
// nodes. That of CLIENTS_QUIET_KUBECONFIG should be the same.
func quiet(t *testing.T) (g target, ns, run string) {
	t.Helper()
	if path := os.Getenv("CLIENTS_QUIET_KUBECONFIG"); path != "" {
		t.Setenv("CLIENTS_KUBECONFIG", path)
		g = newTarget(t)
	} else {
		env := testenv.New(t, testenv.Options{NoControllers: true, NoScheduler: true, NoNodes: true})
		g = target{kubeconfig: env.KubeconfigPath(), config: env.Config(), ours: true}
	}
	clients, err := kubernetes.NewForConfig(g.config)
	if err != nil {
		t.Fatal(err)
	}
	id := rand.String(6)
	ns, run = "clients-"+id, "w"+id
	for _, o := range []func() error{
		func() error {
			_, err := clients.CoreV1().Namespaces().Create(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: ns}}, metav1.CreateOptions{})
			return err
		},
		func() error {
			_, err := clients.CoreV1().ServiceAccounts(ns).Create(t.Context(), &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Name: "default"}}, metav1.CreateOptions{})
			return err
		},
	} {
		if err := o(); err != nil && !apierrors.IsAlreadyExists(err) {
			t.Fatal(err)
		}
	}
	return g, ns, run
}

// kind is a kind that can be written, with an object of it.
type kind struct {
	metav1.APIResource
	gvr         schema.GroupVersionResource
	obj         *unstructured.Unstructured
	subresource map[string]bool
}

// object is a copy of the kind's object.
func (k kind) object() *unstructured.Unstructured { return k.obj.DeepCopy() }

// kinds are the kinds of testdata/kinds.yaml that the server has. The test fails if the
// server has a writable kind that the file lacks.
func kinds(t *testing.T, g target, ns, run string) (list []kind) {
	t.Helper()
	objects := map[schema.GroupVersionKind]*unstructured.Unstructured{}
	for _, text := range strings.Split(kindsText(t, ns, run), "\n---\n") {
		o := &unstructured.Unstructured{}
		if err := yaml.Unmarshal([]byte(text), &o.Object); err != nil {
			t.Fatalf("%v in %s", err, text)
		}
		objects[o.GroupVersionKind()] = o
	}
	clients, err := kubernetes.NewForConfig(g.config)
	if err != nil {
		t.Fatal(err)
	}
	_, lists, err := clients.Discovery().ServerGroupsAndResources()
	if err != nil {
		t.Fatal(err)
	}
	for _, l := range lists {
		gv, err := schema.ParseGroupVersion(l.GroupVersion)
		if err != nil {
			t.Fatal(err)
		}
		from := len(list)
		for _, r := range l.APIResources {
			if strings.Contains(r.Name, "/") || gv.Group == "example.com" || !contains(r.Verbs, "create", "list") {
				continue
			}
			if o := objects[gv.WithKind(r.Kind)]; o != nil {
				if r.Namespaced {
					o.SetNamespace(ns)
				}
				list = append(list, kind{r, gv.WithResource(r.Name), o, map[string]bool{}})
			} else if r.Kind != "PodCertificateRequest" {
				// Its objects need a signature by a pod's key.
				t.Errorf("testdata/kinds.yaml has no %s of %s", r.Kind, gv)
			}
		}
		for _, r := range l.APIResources {
			for _, k := range list[from:] {
				if sub, ok := strings.CutPrefix(r.Name, k.Name+"/"); ok {
					k.subresource[sub] = true
				}
			}
		}
	}
	return list
}

func kindsText(t *testing.T, ns, run string) string {
	t.Helper()
	text, err := os.ReadFile("testdata/kinds.yaml")
	if err != nil {
		t.Fatal(err)
	}
	return printed{ns: "$ns", run: "$run"}.expand(string(text))
}

func contains(list []string, words ...string) bool {
	for _, w := range words {
		found := false
		for _, l := range list {
			found = found || l == w
		}
		if !found {
			return false
		}
	}
	return true
}
