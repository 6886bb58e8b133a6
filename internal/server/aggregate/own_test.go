package aggregate_test

import (
	"context"
	"io"
	"maps"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/rest"
	apiregistrationv1 "k8s.io/kube-aggregator/pkg/apis/apiregistration/v1"

	"fairlead.dev/client"
	"fairlead.dev/internal/controlplane"
	"fairlead.dev/internal/controlplane/controlplanetest"
	"fairlead.dev/testenv"
)

func services(c *client.Client) client.Resource[*apiregistrationv1.APIService] {
	return client.For[*apiregistrationv1.APIService](c)
}

// await returns the first state of the named API service that satisfies wanted; nil stands for a deleted one.
func await(t *testing.T, c *client.Client, name string, wanted func(*apiregistrationv1.APIService) bool) *apiregistrationv1.APIService {
	t.Helper()
	list, err := services(c).List(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	var now *apiregistrationv1.APIService
	for _, s := range list.Items {
		if s.Name == name {
			now = s
		}
	}
	w, err := services(c).Watch(t.Context(), metav1.ListOptions{ResourceVersion: list.ResourceVersion, FieldSelector: "metadata.name=" + name})
	if err != nil {
		t.Fatal(err)
	}
	defer w.Stop()
	for !wanted(now) {
		e, err := w.Next(t.Context())
		if err != nil {
			t.Fatalf("%s stays %+v: %v", name, now, err)
		}
		if now = e.Object; e.Type == watch.Deleted {
			now = nil
		}
	}
	return now
}

func there(s *apiregistrationv1.APIService) bool { return s != nil }
func gone(s *apiregistrationv1.APIService) bool  { return s == nil }

func define(t *testing.T, c *client.Client) *apiextensionsv1.CustomResourceDefinition {
	t.Helper()
	version := func(name string) apiextensionsv1.CustomResourceDefinitionVersion {
		return apiextensionsv1.CustomResourceDefinitionVersion{Name: name, Served: true, Storage: name == "v1",
			Schema: &apiextensionsv1.CustomResourceValidation{OpenAPIV3Schema: &apiextensionsv1.JSONSchemaProps{Type: "object"}}}
	}
	d, err := client.For[*apiextensionsv1.CustomResourceDefinition](c).Create(t.Context(), &apiextensionsv1.CustomResourceDefinition{
		ObjectMeta: metav1.ObjectMeta{Name: "gadgets.shop.example.com"},
		Spec: apiextensionsv1.CustomResourceDefinitionSpec{
			Group: "shop.example.com", Scope: apiextensionsv1.ClusterScoped,
			Names:    apiextensionsv1.CustomResourceDefinitionNames{Plural: "gadgets", Kind: "Gadget"},
			Versions: []apiextensionsv1.CustomResourceDefinitionVersion{version("v1"), version("v1beta1")},
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// TestDefinitions checks that the API services of a definition come and go with it, and are restored in between.
func TestDefinitions(t *testing.T) {
	c := testenv.New(t, testenv.Options{}).Client(t)
	define(t, c)
	await(t, c, "v1beta1.shop.example.com", there)
	first := await(t, c, "v1.shop.example.com", there)
	want := apiregistrationv1.APIServiceSpec{Group: "shop.example.com", Version: "v1", GroupPriorityMinimum: 1000, VersionPriority: 100}
	if diff := cmp.Diff(want, first.Spec); diff != "" || first.Labels["kube-aggregator.kubernetes.io/automanaged"] != "true" {
		t.Errorf("labels %v, spec %s", first.Labels, diff)
	}
	if s := first.Status.Conditions; len(s) != 1 || s[0].Type != "Available" || s[0].Status != "True" || s[0].Reason != "Local" {
		t.Errorf("conditions are %+v", s)
	}
	patch(t, c, first.Name, `{"spec":{"versionPriority":7}}`)
	await(t, c, first.Name, func(s *apiregistrationv1.APIService) bool { return s != nil && s.Spec.VersionPriority == 100 })
	if err := services(c).Delete(t.Context(), first.Name, metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	await(t, c, first.Name, func(s *apiregistrationv1.APIService) bool { return s != nil && s.UID != first.UID })
	// Without its label it is left alone.
	patch(t, c, "v1beta1.shop.example.com", `{"metadata":{"labels":null},"spec":{"versionPriority":7}}`)
	if err := client.For[*apiextensionsv1.CustomResourceDefinition](c).Delete(t.Context(), "gadgets.shop.example.com", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	await(t, c, first.Name, gone)
	if s, err := services(c).Get(t.Context(), "v1beta1.shop.example.com"); err != nil || s.Spec.VersionPriority != 7 {
		t.Errorf("%v, priority %d", err, s.Spec.VersionPriority)
	}
}

func patch(t *testing.T, c *client.Client, name, text string) *apiregistrationv1.APIService {
	t.Helper()
	s, err := services(c).Patch(t.Context(), name, client.Patch{Type: types.MergePatchType, Data: []byte(text)})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// TestRestart checks that a start creates and restores the API services of built-in versions, and does not write unchanged ones.
func TestRestart(t *testing.T) {
	o := controlplane.Options{DataDir: t.TempDir(), Listen: "127.0.0.1:0"}
	start := func() (*controlplane.ControlPlane, *client.Client) {
		cp, err := controlplane.Start(t.Context(), o)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { cp.Stop() })
		c, err := client.New(cp.Config(), client.Options{})
		if err != nil {
			t.Fatal(err)
		}
		return cp, c
	}
	all := func(c *client.Client) map[string]*apiregistrationv1.APIService {
		list, err := services(c).List(context.WithoutCancel(t.Context()))
		if err != nil {
			t.Fatal(err)
		}
		m := map[string]*apiregistrationv1.APIService{}
		for _, s := range list.Items {
			m[s.Name] = s
		}
		return m
	}
	cp, c := start()
	before := all(c)
	for _, name := range []string{"v1.", "v1.apps", "v2.autoscaling", "v1.apiextensions.k8s.io"} {
		if s := before[name]; s == nil || s.Labels["kube-aggregator.kubernetes.io/automanaged"] != "onstart" {
			t.Errorf("%s is %+v", name, s)
		}
	}
	if before["v1.apiregistration.k8s.io"] != nil {
		t.Error("that of their own group is there")
	}
	if err := services(c).Delete(t.Context(), "v1.batch", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	patch(t, c, "v1.policy", `{"spec":{"versionPriority":7}}`)
	// One of a version of another release, and one of a user's own.
	for name, label := range map[string]string{"v9.apps": "onstart", "v8.apps": ""} {
		s := &apiregistrationv1.APIService{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{"kube-aggregator.kubernetes.io/automanaged": label}}}
		s.Spec = apiregistrationv1.APIServiceSpec{Group: "apps", Version: name[:2], GroupPriorityMinimum: 17800, VersionPriority: 1}
		if _, err := services(c).Create(t.Context(), s); err != nil {
			t.Fatal(err)
		}
	}
	define(t, c)
	await(t, c, "v1beta1.shop.example.com", there)
	if now := all(c); now["v1.batch"] != nil || now["v1.policy"].Spec.VersionPriority != 7 || now["v9.apps"] == nil {
		t.Error("what users did was undone before the next start")
	}
	if err := cp.Stop(); err != nil {
		t.Fatal(err)
	}
	_, c = start()
	await(t, c, "v9.apps", gone)
	now := all(c)
	if now["v1.batch"] == nil || now["v1.policy"].Spec.VersionPriority != 15 || now["v8.apps"] == nil || now["v1.shop.example.com"] == nil {
		t.Errorf("after the restart there are %v", now)
	}
	for name, s := range before {
		if !strings.HasSuffix(name, ".batch") && !strings.HasSuffix(name, ".policy") && now[name].ResourceVersion != s.ResourceVersion {
			t.Errorf("%s was written again", name)
		}
	}
}

// TestTrust checks that the trusted certificates are restored after a user deletes or changes them, and that other
// keys of the ConfigMap stay.
func TestTrust(t *testing.T) {
	c := testenv.New(t, testenv.Options{}).Client(t)
	all := client.For[*corev1.ConfigMap](c).Namespace("kube-system")
	const name = "extension-apiserver-authentication"
	first, err := all.Get(t.Context(), name)
	if err != nil {
		t.Fatal(err)
	}
	w, err := all.Watch(t.Context(), metav1.ListOptions{ResourceVersion: first.ResourceVersion, FieldSelector: "metadata.name=" + name})
	if err != nil {
		t.Fatal(err)
	}
	defer w.Stop()
	until := func(wanted func(*corev1.ConfigMap) bool) {
		t.Helper()
		for {
			e, err := w.Next(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			if e.Type != watch.Deleted && wanted(e.Object) {
				return
			}
		}
	}
	if err := all.Delete(t.Context(), name); err != nil {
		t.Fatal(err)
	}
	until(func(m *corev1.ConfigMap) bool { return m.UID != first.UID && maps.Equal(m.Data, first.Data) })
	change := client.MergePatch(map[string]any{"data": map[string]string{"requestheader-client-ca-file": "nobody", "more": "x"}})
	if _, err := all.Patch(t.Context(), name, change); err != nil {
		t.Fatal(err)
	}
	const ca = "requestheader-client-ca-file"
	until(func(m *corev1.ConfigMap) bool { return m.Data["more"] == "x" && m.Data[ca] == first.Data[ca] })
}

// TestUnlisted checks that a built-in version whose API service is deleted disappears from the list of groups, in
// the older form, and is still served and described.
func TestUnlisted(t *testing.T) {
	env := testenv.New(t, testenv.Options{})
	c := env.Client(t)
	api, err := rest.HTTPClientFor(env.Config())
	if err != nil {
		t.Fatal(err)
	}
	get := func(path, accept string) string {
		t.Helper()
		req, err := http.NewRequestWithContext(t.Context(), "GET", env.Config().Host+path, nil)
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Accept", accept)
		resp, err := api.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		text, err := io.ReadAll(resp.Body)
		if err != nil || resp.StatusCode != http.StatusOK {
			t.Errorf("%s: %d %s %v", path, resp.StatusCode, text, err)
		}
		return string(text)
	}
	const older, newer = "application/json", "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"
	get("/readyz/autoregister-completion", older)
	for _, name := range []string{"v1.batch", "v1.autoscaling"} {
		if err := services(c).Delete(t.Context(), name, metav1.DeleteOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	groups := get("/apis", older)
	for part, want := range map[string]bool{`"batch"`: false, `"autoscaling/v1"`: false, `"autoscaling/v2"`: true} {
		if strings.Contains(groups, part) != want {
			t.Errorf("%s is listed: %v", part, !want)
		}
	}
	if one := get("/apis/autoscaling", older); strings.Contains(one, `"autoscaling/v1"`) || !strings.Contains(one, `"autoscaling/v2"`) {
		t.Errorf("the group that has another: %s", one)
	}
	if one := get("/apis/batch", older); !strings.Contains(one, `"batch/v1"`) {
		t.Errorf("the group that has no other: %s", one)
	}
	if all := get("/apis", newer); !strings.Contains(all, `"name":"batch"`) {
		t.Error("the newer form does not list it")
	}
	get("/apis/batch/v1", older)
	get("/apis/batch/v1/jobs", older)
	get("/readyz/autoregister-completion", older)
	s := apiregistrationv1.APIService{ObjectMeta: metav1.ObjectMeta{Name: "v1.batch"}}
	s.Spec = apiregistrationv1.APIServiceSpec{Group: "batch", Version: "v1", GroupPriorityMinimum: 17400, VersionPriority: 15}
	if _, err := services(c).Create(t.Context(), &s); err != nil {
		t.Fatal(err)
	}
	if groups := get("/apis", older); !strings.Contains(groups, `"batch/v1"`) {
		t.Error("it is back, and not listed")
	}
}

// TestMetricsServer checks that metrics-server's API service can be created, takes the place of the built-in metrics.k8s.io,
// also after a restart, and gives it back.
func TestMetricsServer(t *testing.T) {
	o := controlplane.Options{DataDir: t.TempDir(), Scheduler: true}
	cp := controlplanetest.Start(t, o)
	const path = "/apis/metrics.k8s.io/v1beta1/nodes"
	served := func(want int) {
		t.Helper()
		get := controlplanetest.Getter(t, cp.Config())
		if code, text := get(path); code != want {
			t.Errorf("%s: %d %s, want %d", path, code, text, want)
		}
		if code, text := get("/apis", "Accept", "application/json"); code != 200 || !strings.Contains(text, `"metrics.k8s.io/v1beta1"`) {
			t.Errorf("the groups are %s", text)
		}
	}
	served(200)
	s := &apiregistrationv1.APIService{ObjectMeta: metav1.ObjectMeta{Name: "v1beta1.metrics.k8s.io"}, Spec: apiregistrationv1.APIServiceSpec{
		Group: "metrics.k8s.io", Version: "v1beta1", GroupPriorityMinimum: 100, VersionPriority: 100, InsecureSkipTLSVerify: true,
		Service: &apiregistrationv1.ServiceReference{Namespace: "kube-system", Name: "metrics-server"},
	}}
	if _, err := services(controlplanetest.Client(t, cp)).Create(t.Context(), s); err != nil {
		t.Fatal(err)
	}
	served(503) // because its Service does not exist
	if err := cp.Stop(); err != nil {
		t.Fatal(err)
	}
	cp = controlplanetest.Start(t, o)
	served(503)
	if err := services(controlplanetest.Client(t, cp)).Delete(t.Context(), s.Name, metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	served(200)
}
