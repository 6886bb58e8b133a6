package controlplane_test

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	internalv1alpha1 "k8s.io/api/apiserverinternal/v1alpha1"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/version"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/utils/ptr"

	"fairlead.dev/client"
	"fairlead.dev/internal/controllers/podcontrol/waittest"
	"fairlead.dev/internal/controlplane"
	"fairlead.dev/internal/controlplane/controlplanetest"
	"fairlead.dev/internal/memnet"
	"fairlead.dev/internal/resource/gates"
)

const versionsHook = "poststarthook/built-in-resources-storage-version-updater"

// versionsAPI is the API with StorageVersionAPI, in which StorageVersions are served or not.
func versionsAPI(t *testing.T, served bool) gates.API {
	t.Helper()
	all, err := gates.New(version.MustParse(gates.Newest))
	if err == nil {
		err = all.Set("StorageVersionAPI=true")
	}
	if err != nil {
		t.Fatal(err)
	}
	api := gates.API{Gates: all}
	if served {
		api.Asked = []schema.GroupVersionResource{internalv1alpha1.SchemeGroupVersion.WithResource("storageversions")}
	}
	return api
}

// TestStorageVersions: when Start returns, each stored kind has a StorageVersion with the server's entry, and writes pass. Every
// ten minutes the server repairs them, and leaves right ones alone.
func TestStorageVersions(t *testing.T) {
	dir, api := t.TempDir(), versionsAPI(t, true)
	name, _ := serverName(t)
	synctest.Test(t, func(t *testing.T) {
		cp, err := controlplane.Start(t.Context(), controlplane.Options{DataDir: dir, InMemory: true, Network: new(memnet.Network), API: api, Controllers: []string{"*"}})
		if err != nil {
			t.Fatal(err)
		}
		defer cp.Stop()
		c := kubernetes.NewForConfigOrDie(cp.Config())
		if _, err := c.CoreV1().ConfigMaps("default").Create(t.Context(), &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "a"}}, metav1.CreateOptions{}); err != nil {
			t.Errorf("at the start: %v", err)
		}
		for _, path := range []string{"/readyz/", "/healthz/", "/livez/"} {
			if text, err := c.RESTClient().Get().AbsPath(path + versionsHook).DoRaw(t.Context()); err != nil {
				t.Errorf("%s: %s, %v", path, text, err)
			}
		}

		all := c.InternalV1alpha1().StorageVersions()
		list := func() map[string]internalv1alpha1.StorageVersion {
			t.Helper()
			l, err := all.List(t.Context(), metav1.ListOptions{})
			if err != nil {
				t.Fatal(err)
			}
			by := map[string]internalv1alpha1.StorageVersion{}
			for _, v := range l.Items {
				by[v.Name] = v
			}
			return by
		}
		first := list()
		want := storedKinds(t, c)
		if got := slices.Sorted(maps.Keys(first)); !slices.Equal(got, want) {
			t.Errorf("StorageVersions of\n%v\nwant\n%v", got, want)
		}
		for _, v := range first {
			s, conditions := v.Status.StorageVersions, v.Status.Conditions
			if len(s) != 1 || s[0].APIServerID != name || ptr.Deref(v.Status.CommonEncodingVersion, "") != s[0].EncodingVersion {
				t.Errorf("%s: %+v", v.Name, v.Status)
			}
			if len(conditions) != 1 || conditions[0].LastTransitionTime.IsZero() {
				t.Fatalf("%s: %+v", v.Name, conditions)
			}
			conditions[0].LastTransitionTime = metav1.Time{}
			if conditions[0] != (internalv1alpha1.StorageVersionCondition{Type: "AllEncodingVersionsEqual", Status: "True", Reason: "CommonEncodingVersionSet", Message: "Common encoding version set"}) {
				t.Errorf("%s: %+v", v.Name, conditions[0])
			}
		}
		for of, want := range map[string]string{
			"core.pods":   "v1 [v1] [v1]",
			"core.events": "v1 [v1 events.k8s.io/v1] [v1]",
			"admissionregistration.k8s.io.mutatingadmissionpolicies": "admissionregistration.k8s.io/v1 [admissionregistration.k8s.io/v1 admissionregistration.k8s.io/v1beta1 admissionregistration.k8s.io/v1alpha1] [admissionregistration.k8s.io/v1]",
			"autoscaling.horizontalpodautoscalers":                   "autoscaling/v2 [autoscaling/v2 autoscaling/v1] [autoscaling/v2 autoscaling/v1]",
			"internal.apiserver.k8s.io.storageversions":              "internal.apiserver.k8s.io/v1alpha1 [internal.apiserver.k8s.io/v1alpha1] [internal.apiserver.k8s.io/v1alpha1]",
		} {
			got := ""
			for _, s := range first[of].Status.StorageVersions {
				got += fmt.Sprint(s.EncodingVersion, " ", s.DecodableVersions, " ", s.ServedVersions)
			}
			if got != want {
				t.Fatalf("%s: %q, want %s", of, got, want)
			}
		}

		if err := all.Delete(t.Context(), "core.pods", metav1.DeleteOptions{}); err != nil {
			t.Fatal(err)
		}
		changed := first["core.secrets"]
		changed.Status.StorageVersions[0].EncodingVersion, changed.Status.StorageVersions[0].DecodableVersions = "v2", []string{"v2", "v1"}
		changed.Status.CommonEncodingVersion = ptr.To("v2")
		if _, err := all.UpdateStatus(t.Context(), &changed, metav1.UpdateOptions{}); err != nil {
			t.Fatal(err)
		}
		time.Sleep(11 * time.Minute)
		second := list()
		if v := second["core.pods"]; len(v.Status.StorageVersions) != 1 || v.UID == first["core.pods"].UID {
			t.Errorf("after a delete: %+v", v)
		}
		if v := second["core.secrets"]; *v.Status.CommonEncodingVersion != "v1" || v.Status.StorageVersions[0].EncodingVersion != "v1" || !v.Status.Conditions[0].LastTransitionTime.After(changed.CreationTimestamp.Time) {
			t.Errorf("after a change: %+v", v.Status)
		}
		if a, b := first["core.nodes"].ResourceVersion, second["core.nodes"].ResourceVersion; a != b {
			t.Errorf("a right one was written: %s, %s", a, b)
		}
	})
}

// storedKinds returns the names of the StorageVersions of all built-in resources that discovery says are stored.
func storedKinds(t *testing.T, c *kubernetes.Clientset) (names []string) {
	t.Helper()
	groups, err := c.ServerGroups()
	if err != nil {
		t.Fatal(err)
	}
	for _, g := range groups.Groups {
		for _, gv := range g.Versions {
			l, err := c.ServerResourcesForGroupVersion(gv.GroupVersion)
			if err != nil {
				t.Fatal(err)
			}
			for _, r := range l.APIResources {
				if name := cmp.Or(g.Name, "core") + "." + r.Name; r.StorageVersionHash != "" && name != "events.k8s.io.events" && !slices.Contains(names, name) {
					names = append(names, name)
				}
			}
		}
	}
	slices.Sort(names)
	return names
}

// TestWriteBarrier: without served StorageVersions the server does not become ready, and refuses the writes that kube-apiserver
// refuses; the messages are kube-apiserver's.
func TestWriteBarrier(t *testing.T) {
	cp := controlplanetest.Start(t, controlplane.Options{API: versionsAPI(t, false)})
	h, err := rest.HTTPClientFor(cp.Config())
	if err != nil {
		t.Fatal(err)
	}
	do := func(method, path, body string) (int, string) {
		t.Helper()
		req, err := http.NewRequestWithContext(t.Context(), method, cp.URL()+path, strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Content-Type", "application/json")
		if method == "PATCH" {
			req.Header.Set("Content-Type", "application/merge-patch+json")
		}
		resp, err := h.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		text, err := io.ReadAll(resp.Body)
		if err != nil {
			t.Fatal(err)
		}
		return resp.StatusCode, string(text)
	}
	for _, path := range []string{"/readyz", "/healthz", "/livez"} {
		if code, text := do("GET", path, ""); code != 500 || !strings.Contains(text, "[-]"+versionsHook+" failed: reason withheld") {
			t.Errorf("%s: %d %s", path, code, text)
		}
	}
	const waits = "wait for storage version registration to complete for resource: "
	for _, r := range []struct{ method, path, body, waits string }{
		{"POST", "/api/v1/namespaces/default/configmaps", `{"metadata":{"name":"a"}}`, "configmaps"},
		{"POST", "/api/v1/namespaces/default/configmaps?dryRun=All", `{"metadata":{"name":"a"}}`, "configmaps"},
		{"POST", "/api/v1/namespaces", `{"metadata":{"name":"a"}}`, "namespaces"},
		{"PUT", "/apis/apps/v1/namespaces/default/deployments/a", `{}`, "deployments.apps"},
		{"PATCH", "/api/v1/namespaces/default", `{}`, "namespaces"},
		{"PATCH", "/api/v1/namespaces/default/status", `{}`, "namespaces"},
		{"DELETE", "/api/v1/namespaces/default/secrets/a", ``, "secrets"},
		{"DELETE", "/api/v1/namespaces/default/secrets", ``, "secrets"},
		{"POST", "/api/v1/namespaces/default/serviceaccounts/default/token", `{}`, "serviceaccounts"},
		{"POST", "/api/v1/namespaces/default/pods/a/eviction", `{}`, "pods"},
		{"POST", "/api/v1/namespaces/default/pods/a/exec?command=b", ``, "pods"},
		{"POST", "/apis/events.k8s.io/v1/namespaces/default/events", `{}`, "events.events.k8s.io"},
		{"POST", "/apis/apps/v9/namespaces/default/deployments", `{}`, "deployments.apps"},
		{"POST", "/apis/apiextensions.k8s.io/v1/customresourcedefinitions", `{}`, "customresourcedefinitions.apiextensions.k8s.io"},
		{"POST", "/apis/apiregistration.k8s.io/v1/apiservices", `{}`, "apiservices.apiregistration.k8s.io"},
		{"DELETE", "/apis/coordination.k8s.io/v1/namespaces/default/leases", ``, "leases.coordination.k8s.io"},
		{"DELETE", "/apis/coordination.k8s.io/v1/namespaces/kube-system/leases/a", ``, ""},
		{"POST", "/api/v1/namespaces/default/bindings", `{}`, ""},
		{"POST", "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews", `{"spec":{"resourceAttributes":{"verb":"get","resource":"pods"}}}`, ""},
		{"POST", "/apis/internal.apiserver.k8s.io/v1alpha1/storageversions", `{}`, ""},
		{"POST", "/apis/example.com/v1/things", `{}`, ""},
		{"GET", "/api/v1/namespaces/default/pods/a", ``, ""},
		{"GET", "/api/v1/pods", ``, ""},
		{"GET", "/version", ``, ""},
	} {
		code, text := do(r.method, r.path, r.body)
		if refused := code == 503 && strings.Contains(text, waits); refused != (r.waits != "") {
			t.Errorf("%s %s: %d %s", r.method, r.path, code, text)
		}
		if r.waits != "" && (!strings.Contains(text, waits+r.waits+", last seen error: ") || !strings.Contains(text, `"reason":"ServiceUnavailable","code":503`)) {
			t.Errorf("%s %s: %s", r.method, r.path, text)
		}
	}
	for path, want := range map[string]string{
		"/api/v1/namespaces/default/configmaps": "the server could not find the requested resource (post storageversions.internal.apiserver.k8s.io)", // the first that is tried
		"/apis/storage.k8s.io/v1/csinodes":      `\u003cnil\u003e`,
	} {
		if _, text := do("DELETE", path, ""); !strings.Contains(text, "last seen error: "+want+`"`) {
			t.Errorf("%s: %s", path, text)
		}
	}
}

// TestStorageVersionsOfOthers: the reports of other servers stay while their Leases do. Where they differ there is no common
// version.
func TestStorageVersionsOfOthers(t *testing.T) {
	cp := controlplanetest.Start(t, controlplane.Options{API: versionsAPI(t, true), Controllers: []string{"storageversion-garbage-collector-controller"}})
	c, ctx := controlplanetest.Client(t, cp), t.Context()
	versions, leases := client.For[*internalv1alpha1.StorageVersion](c), client.For[*coordinationv1.Lease](c).Namespace(metav1.NamespaceSystem)
	own, _ := serverName(t)
	lease := func(name, of string) {
		t.Helper()
		if _, err := leases.Create(ctx, &coordinationv1.Lease{
			ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{"apiserver.kubernetes.io/identity": of}}, Spec: renewedAt(time.Now(), 3600),
		}); err != nil {
			t.Fatal(err)
		}
	}
	lease("older", "kube-apiserver")
	lease("same", "kube-apiserver")
	lease("stranger", "sample-apiserver")
	report := func(name string, add ...internalv1alpha1.ServerStorageVersion) {
		t.Helper()
		v, err := versions.Get(ctx, name)
		if apierrors.IsNotFound(err) {
			v, err = versions.Create(ctx, &internalv1alpha1.StorageVersion{ObjectMeta: metav1.ObjectMeta{Name: name}})
		}
		if err == nil {
			v = v.DeepCopy()
			v.Status.StorageVersions = append(v.Status.StorageVersions, add...)
			if v.Status.CommonEncodingVersion = &v.Status.StorageVersions[0].EncodingVersion; slices.ContainsFunc(add, func(s internalv1alpha1.ServerStorageVersion) bool {
				return s.EncodingVersion != v.Status.StorageVersions[0].EncodingVersion
			}) {
				v.Status.CommonEncodingVersion = nil
			}
			_, err = versions.UpdateStatus(ctx, v)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	entry := func(server, version string) internalv1alpha1.ServerStorageVersion {
		return internalv1alpha1.ServerStorageVersion{APIServerID: server, EncodingVersion: version, DecodableVersions: []string{version}}
	}
	has := func(name, common string, servers ...string) {
		t.Helper()
		waittest.One(t, versions, name, fmt.Sprintf("%s in the StorageVersion", servers), func(v *internalv1alpha1.StorageVersion) bool {
			var got []string
			for _, s := range v.Status.StorageVersions {
				got = append(got, s.APIServerID)
			}
			return slices.Equal(got, servers) && ptr.Deref(v.Status.CommonEncodingVersion, "") == common
		})
	}

	// An entry without a Lease, and one with the Lease of a server that is no kube-apiserver, go.
	report("core.secrets", entry("older", "v1"), entry("ended", "v2"), entry("stranger", "v1"))
	has("core.secrets", "v1", own, "older")
	report("core.things", entry("ended", "v1"))
	waittest.Gone(t, versions, "core.things")
	// Entries that differ.
	report("core.pods", entry("older", "v0"), entry("same", "v1"))
	report("core.things", entry("older", "v0"), entry("same", "v1"))
	report("core.others", entry("same", "v1"))
	has("core.pods", "", own, "older", "same")
	if err := leases.Delete(ctx, "older"); err != nil {
		t.Fatal(err)
	}
	has("core.pods", "v1", own, "same")
	has("core.things", "v1", "same")
	has("core.secrets", "v1", own)
	v, err := versions.Get(ctx, "core.pods")
	if err != nil {
		t.Fatal(err)
	}
	if l := v.Status.Conditions; len(l) != 1 || l[0].Status != "True" || l[0].Reason != "CommonEncodingVersionSet" {
		t.Errorf("the condition: %+v", l)
	}
	if err := leases.Delete(ctx, "same"); err != nil {
		t.Fatal(err)
	}
	waittest.Gone(t, versions, "core.things")
	waittest.Gone(t, versions, "core.others")
	has("core.pods", "v1", own)
}
