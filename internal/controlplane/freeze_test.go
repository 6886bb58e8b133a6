package controlplane_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	authenticationv1 "k8s.io/api/authentication/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"fairlead.dev/client"
	"fairlead.dev/internal/controlplane"
	"fairlead.dev/internal/controlplane/controlplanetest"
	"fairlead.dev/internal/memnet"
)

// frozen is a control plane with kinds and ConfigMaps of its own.
func frozen(t testing.TB, o controlplane.Options, kinds, maps int) *controlplane.Frozen {
	t.Helper()
	o.DataDir, o.InMemory, o.Network = t.TempDir(), true, new(memnet.Network)
	cp, err := controlplane.Start(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	c := controlplanetest.Client(t, cp)
	crds, configMaps := client.For[*apiextensionsv1.CustomResourceDefinition](c), client.For[*corev1.ConfigMap](c).Namespace("default")
	var group sync.WaitGroup
	for i := range kinds {
		group.Go(func() {
			if _, err := crds.Create(t.Context(), widget(i)); err != nil {
				t.Error(err)
			}
		})
	}
	for i := range maps {
		if _, err := configMaps.Create(t.Context(), &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprintf("map-%d", i)}}); err != nil {
			t.Fatal(err)
		}
	}
	group.Wait()
	f, err := cp.Freeze(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	return f
}

func widget(i int) *apiextensionsv1.CustomResourceDefinition {
	plural, kind := fmt.Sprintf("widget%ds", i), fmt.Sprintf("Widget%d", i)
	text := apiextensionsv1.JSONSchemaProps{Type: "string", MaxLength: new(int64(100))}
	return &apiextensionsv1.CustomResourceDefinition{
		ObjectMeta: metav1.ObjectMeta{Name: plural + ".example.com"},
		Spec: apiextensionsv1.CustomResourceDefinitionSpec{
			Group: "example.com", Scope: apiextensionsv1.NamespaceScoped,
			Names: apiextensionsv1.CustomResourceDefinitionNames{Plural: plural, Kind: kind},
			Versions: []apiextensionsv1.CustomResourceDefinitionVersion{{
				Name: "v1", Served: true, Storage: true,
				Schema: &apiextensionsv1.CustomResourceValidation{OpenAPIV3Schema: &apiextensionsv1.JSONSchemaProps{
					Type: "object", Properties: map[string]apiextensionsv1.JSONSchemaProps{"spec": {
						Type: "object", Properties: map[string]apiextensionsv1.JSONSchemaProps{"a": text, "b": text, "c": text},
						XValidations: apiextensionsv1.ValidationRules{{Rule: "!has(self.a) || self.a != 'forbidden'"}},
					}},
				}},
			}},
		},
	}
}

func forkOf(t testing.TB, f *controlplane.Frozen, dir string) *controlplane.ControlPlane {
	t.Helper()
	cp, err := f.Fork(context.Background(), controlplane.Place{DataDir: dir, Network: new(memnet.Network)})
	if err != nil {
		t.Fatal(err)
	}
	return cp
}

// state returns the objects of all kinds that a control plane's client may list, as they are stored.
func state(t testing.TB, cp *controlplane.ControlPlane) map[string]string {
	t.Helper()
	c, err := kubernetes.NewForConfig(cp.Config())
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]string{}
	for _, path := range []string{
		"/api/v1/configmaps", "/api/v1/namespaces", "/api/v1/secrets", "/api/v1/services", "/apis/rbac.authorization.k8s.io/v1/clusterroles",
		"/apis/apiextensions.k8s.io/v1/customresourcedefinitions", "/apis/discovery.k8s.io/v1/endpointslices", "/apis/example.com/v1/widget0s",
	} {
		raw, err := c.CoreV1().RESTClient().Get().AbsPath(path).DoRaw(t.Context())
		if err != nil {
			t.Fatal(path, ": ", err)
		}
		all[path] = string(raw)
	}
	return all
}

func TestForkIsIndependent(t *testing.T) {
	f := frozen(t, controlplane.Options{}, 2, 20)
	a, b := forkOf(t, f, t.TempDir()), forkOf(t, f, t.TempDir())
	was := state(t, b)
	if diff := cmp.Diff(state(t, a), was); diff != "" {
		t.Fatalf("two forks differ: %s", diff)
	}
	ca, ctx := controlplanetest.Client(t, a), t.Context()
	maps := client.For[*corev1.ConfigMap](ca).Namespace("default")
	if err := maps.Delete(ctx, "map-1"); err != nil {
		t.Fatal(err)
	}
	if _, err := maps.Create(ctx, &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "of-a"}}); err != nil {
		t.Fatal(err)
	}
	if err := client.For[*apiextensionsv1.CustomResourceDefinition](ca).Delete(ctx, "widget0s.example.com"); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(state(t, b), was); diff != "" {
		t.Errorf("a write to one fork changed the other: %s", diff)
	}
	if err := a.Stop(); err != nil {
		t.Error(err)
	}
	if diff := cmp.Diff(state(t, b), was); diff != "" {
		t.Errorf("the end of one fork changed the other: %s", diff)
	}
	// The kinds of the base can be written, and are validated.
	widgets := client.Dynamic(controlplanetest.Client(t, b), schema.GroupVersionResource{Group: "example.com", Version: "v1", Resource: "widget1s"}, true).Namespace("default")
	w := &unstructured.Unstructured{Object: map[string]any{"apiVersion": "example.com/v1", "kind": "Widget1", "metadata": map[string]any{"name": "w"}, "spec": map[string]any{"a": "forbidden"}}}
	if _, err := widgets.Create(ctx, w); !apierrors.IsInvalid(err) {
		t.Errorf("an invalid object: %v", err)
	}
	w.Object["spec"] = map[string]any{"a": "b"}
	if _, err := widgets.Create(ctx, w); err != nil {
		t.Error(err)
	}
	if err := b.Stop(); err != nil {
		t.Error(err)
	}
	// A fork of later still begins with the frozen state.
	c := forkOf(t, f, t.TempDir())
	if diff := cmp.Diff(state(t, c), was); diff != "" {
		t.Errorf("a third fork: %s", diff)
	}
	if err := c.Stop(); err != nil {
		t.Error(err)
	}
}

// TestForksChangeAKind checks that two forks which change the same definition, each in its own way, each show the objects
// of their base by their own.
func TestForksChangeAKind(t *testing.T) {
	cp, err := controlplane.Start(t.Context(), controlplane.Options{DataDir: t.TempDir(), InMemory: true, Network: new(memnet.Network)})
	if err != nil {
		t.Fatal(err)
	}
	widgets := schema.GroupVersionResource{Group: "example.com", Version: "v1", Resource: "widget0s"}
	definitions := func(cp *controlplane.ControlPlane) client.Resource[*apiextensionsv1.CustomResourceDefinition] {
		return client.For[*apiextensionsv1.CustomResourceDefinition](controlplanetest.Client(t, cp))
	}
	if _, err := definitions(cp).Create(t.Context(), widget(0)); err != nil {
		t.Fatal(err)
	}
	one := &unstructured.Unstructured{Object: map[string]any{"apiVersion": "example.com/v1", "kind": "Widget0", "metadata": map[string]any{"name": "one"}, "spec": map[string]any{}}}
	if _, err := dynamic.NewForConfigOrDie(cp.Config()).Resource(widgets).Namespace("default").Create(t.Context(), one, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	f, err := cp.Freeze(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	for _, value := range []string{"first", "second"} {
		fork := forkOf(t, f, t.TempDir())
		t.Cleanup(func() { fork.Stop() })
		if _, err := definitions(fork).Patch(t.Context(), "widget0s.example.com", client.JSONPatch([]map[string]any{
			{"op": "add", "path": "/spec/versions/0/schema/openAPIV3Schema/properties/spec/properties/a/default", "value": value},
		})); err != nil {
			t.Fatal(err)
		}
		all, err := dynamic.NewForConfigOrDie(fork.Config()).Resource(widgets).Namespace("default").List(t.Context(), metav1.ListOptions{})
		if err != nil {
			t.Fatal(err)
		}
		if got, _, _ := unstructured.NestedString(all.Items[0].Object, "spec", "a"); got != value {
			t.Errorf("spec.a is %q, want the default %q", got, value)
		}
	}
}

// A credential of the base is one of its forks: the user's certificate and a token of a service account.
func TestForkKeepsCredentials(t *testing.T) {
	o := controlplane.Options{DataDir: t.TempDir(), InMemory: true, Network: new(memnet.Network)}
	cp, err := controlplane.Start(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	c, err := kubernetes.NewForConfig(cp.Config())
	if err != nil {
		t.Fatal(err)
	}
	account := &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Name: "bot"}}
	if _, err := c.CoreV1().ServiceAccounts("default").Create(t.Context(), account, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	token, err := c.CoreV1().ServiceAccounts("default").CreateToken(t.Context(), "bot", &authenticationv1.TokenRequest{}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	user := cp.Config()
	f, err := cp.Freeze(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if _, err := c.CoreV1().Namespaces().Get(t.Context(), "default", metav1.GetOptions{}); err == nil {
		t.Error("the frozen control plane answers")
	}
	n := new(memnet.Network)
	fork, err := f.Fork(t.Context(), controlplane.Place{DataDir: t.TempDir(), Network: n})
	if err != nil {
		t.Fatal(err)
	}
	defer fork.Stop()
	user.Dial = n.Dial
	bot := rest.AnonymousClientConfig(user)
	bot.Dial, bot.BearerToken = n.Dial, token.Status.Token
	for config, want := range map[*rest.Config]string{user: "kubernetes-admin", bot: "system:serviceaccount:default:bot"} {
		c, err := kubernetes.NewForConfig(config)
		if err != nil {
			t.Fatal(err)
		}
		self, err := c.AuthenticationV1().SelfSubjectReviews().Create(t.Context(), &authenticationv1.SelfSubjectReview{}, metav1.CreateOptions{})
		if err != nil {
			t.Fatal(err)
		}
		if got := self.Status.UserInfo.Username; got != want {
			t.Errorf("the server takes %s for %s", want, got)
		}
	}
}

func TestForkRuns(t *testing.T) {
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		o := controlplane.Options{Controllers: []string{"*"}, Scheduler: true, Nodes: 2, VirtualTime: true}
		f := frozen(t, o, 1, 0)
		for range 3 {
			cp := forkOf(t, f, dir)
			jobs := client.For[*batchv1.Job](controlplanetest.Client(t, cp)).Namespace("default")
			_, err := jobs.Create(t.Context(), &batchv1.Job{ObjectMeta: metav1.ObjectMeta{Name: "work"}, Spec: batchv1.JobSpec{
				Template: corev1.PodTemplateSpec{Spec: corev1.PodSpec{RestartPolicy: corev1.RestartPolicyNever, Containers: []corev1.Container{{Name: "work", Image: "work"}}}},
			}})
			if err != nil {
				t.Fatal(err)
			}
			time.Sleep(time.Minute)
			if j, err := jobs.Get(t.Context(), "work"); err != nil || j.Status.Succeeded != 1 {
				t.Errorf("after a minute: %+v, %v", j.Status, err)
			}
			if err := cp.Stop(); err != nil {
				t.Error(err)
			}
		}
	})
}

func TestFreezeRefused(t *testing.T) {
	cp := controlplanetest.Start(t, controlplane.Options{DataDir: t.TempDir()})
	if _, err := cp.Freeze(t.Context()); err == nil || !strings.Contains(err.Error(), "in memory") {
		t.Errorf("a control plane on disk: %v", err)
	}
	if _, err := client.For[*corev1.Namespace](controlplanetest.Client(t, cp)).Get(t.Context(), "default"); err != nil {
		t.Errorf("the control plane that was not frozen: %v", err)
	}
}

// BenchmarkForkFrozen measures the time from the fork of a control plane with 1,000 ConfigMaps, and as many kinds of its
// own as it names, to the response to its first request.
func BenchmarkForkFrozen(b *testing.B) {
	for _, kinds := range []int{0, 100} {
		b.Run(fmt.Sprintf("crds=%d", kinds), func(b *testing.B) {
			f := frozen(b, controlplane.Options{Controllers: []string{"*"}, Scheduler: true, Nodes: 3, Sleeps: true}, kinds, 1000)
			dir := b.TempDir()
			var ms []float64
			for b.Loop() {
				began := time.Now()
				cp := forkOf(b, f, dir)
				if _, err := client.For[*corev1.ConfigMap](controlplanetest.Client(b, cp)).Namespace("default").Get(b.Context(), "map-1"); err != nil {
					b.Fatal(err)
				}
				ms = append(ms, time.Since(began).Seconds()*1000)
				b.StopTimer()
				if err := cp.Stop(); err != nil {
					b.Fatal(err)
				}
				b.StartTimer()
			}
			slices.Sort(ms)
			b.ReportMetric(ms[len(ms)/2], "ms/median")
		})
	}
}
