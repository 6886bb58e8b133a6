package storageversionmigrator_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	migrationv1 "k8s.io/api/storagemigration/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"fairlead.dev/client"
	"fairlead.dev/internal/controllers/podcontrol/waittest"
	"fairlead.dev/testenv"
)

type migrations = client.Resource[*migrationv1.StorageVersionMigration]

func start(t *testing.T) (*client.Client, migrations) {
	t.Helper()
	c := testenv.New(t, testenv.Options{NoScheduler: true, NoNodes: true, Controllers: []string{"storageversionmigrator"}}).Client(t)
	return c, client.For[*migrationv1.StorageVersionMigration](c)
}

func create(t *testing.T, api migrations, name, group, resource string) {
	t.Helper()
	_, err := api.Create(t.Context(), &migrationv1.StorageVersionMigration{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec:       migrationv1.StorageVersionMigrationSpec{Resource: metav1.GroupResource{Group: group, Resource: resource}},
	})
	if err != nil {
		t.Fatal(err)
	}
}

// ended waits for the end of a migration, and returns the condition of the outcome and that of its running.
func ended(t *testing.T, api migrations, name string) (outcome, running metav1.Condition) {
	t.Helper()
	s := waittest.One(t, api, name, "the end of "+name, func(s *migrationv1.StorageVersionMigration) bool {
		return meta.IsStatusConditionFalse(s.Status.Conditions, string(migrationv1.MigrationRunning))
	})
	for _, c := range s.Status.Conditions {
		if c.Type == string(migrationv1.MigrationRunning) {
			running = c
		} else {
			outcome = c
		}
	}
	return outcome, running
}

// definition has the kinds Gadget in the versions v1 and v2, of which one is stored.
func definition(stored string) *apiextensionsv1.CustomResourceDefinition {
	d := &apiextensionsv1.CustomResourceDefinition{
		ObjectMeta: metav1.ObjectMeta{Name: "gadgets.example.com"},
		Spec: apiextensionsv1.CustomResourceDefinitionSpec{
			Group: "example.com", Scope: apiextensionsv1.NamespaceScoped,
			Names: apiextensionsv1.CustomResourceDefinitionNames{Plural: "gadgets", Kind: "Gadget"},
		},
	}
	for _, v := range []string{"v1", "v2"} {
		d.Spec.Versions = append(d.Spec.Versions, apiextensionsv1.CustomResourceDefinitionVersion{
			Name: v, Served: true, Storage: v == stored,
			Schema: &apiextensionsv1.CustomResourceValidation{OpenAPIV3Schema: &apiextensionsv1.JSONSchemaProps{Type: "object"}},
		})
	}
	return d
}

func migrating(d *apiextensionsv1.CustomResourceDefinition) (c apiextensionsv1.CustomResourceDefinitionCondition) {
	for _, c = range d.Status.Conditions {
		if c.Type == apiextensionsv1.StorageMigrating {
			return c
		}
	}
	return apiextensionsv1.CustomResourceDefinitionCondition{}
}

// TestCustomResource changes the storage version of a definition: a migration writes each object once, after which the
// definition lists the new version only, and another migration writes nothing.
func TestCustomResource(t *testing.T) {
	t.Parallel()
	c, api := start(t)
	definitions := client.For[*apiextensionsv1.CustomResourceDefinition](c)
	if _, err := definitions.Create(t.Context(), definition("v1")); err != nil {
		t.Fatal(err)
	}
	waittest.One(t, definitions, "gadgets.example.com", "the kind", func(d *apiextensionsv1.CustomResourceDefinition) bool {
		return slices.ContainsFunc(d.Status.Conditions, func(c apiextensionsv1.CustomResourceDefinitionCondition) bool {
			return c.Type == apiextensionsv1.Established && c.Status == apiextensionsv1.ConditionTrue
		})
	})
	gadgets := client.Dynamic(c, schema.GroupVersionResource{Group: "example.com", Version: "v1", Resource: "gadgets"}, true).Namespace("default")
	const many = 600 // more than a page
	for i := range many {
		u := &unstructured.Unstructured{Object: map[string]any{
			"apiVersion": "example.com/v1", "kind": "Gadget", "metadata": map[string]any{"name": fmt.Sprintf("g%d", i)},
		}}
		if _, err := gadgets.Create(t.Context(), u); err != nil {
			t.Fatal(err)
		}
	}
	versions := func() map[string]string {
		t.Helper()
		list, err := gadgets.List(t.Context(), metav1.ListOptions{})
		if err != nil {
			t.Fatal(err)
		}
		all := map[string]string{}
		for _, u := range list.Items {
			all[u.GetName()] = u.GetResourceVersion()
		}
		return all
	}
	before := versions()
	if _, err := definitions.Patch(t.Context(), "gadgets.example.com", client.MergePatch(map[string]any{"spec": definition("v2").Spec})); err != nil {
		t.Fatal(err)
	}
	waittest.One(t, definitions, "gadgets.example.com", "both versions", func(d *apiextensionsv1.CustomResourceDefinition) bool {
		return len(d.Status.StoredVersions) == 2
	})
	create(t, api, "gadgets", "example.com", "gadgets")
	outcome, running := ended(t, api, "gadgets")
	if outcome.Type != "Succeeded" || outcome.Reason != "StorageVersionMigrationSucceeded" || running.Reason != "MigrationCompleted" {
		t.Fatalf("the outcome is %+v, after %+v", outcome, running)
	}
	after := versions()
	for name, v := range before {
		if after[name] == v {
			t.Errorf("%s is not written", name)
		}
	}
	d, err := definitions.Get(t.Context(), "gadgets.example.com")
	if err != nil {
		t.Fatal(err)
	}
	m := migrating(d)
	if !slices.Equal(d.Status.StoredVersions, []string{"v2"}) || m.Status != "False" || m.Reason != "MigrationSucceeded" || m.ObservedGeneration != d.Generation {
		text, _ := json.Marshal(d.Status)
		t.Errorf("the definition's status is %s", text)
	}
	create(t, api, "again", "example.com", "gadgets")
	if outcome, _ := ended(t, api, "again"); outcome.Type != "Succeeded" {
		t.Errorf("a second migration: %+v", outcome)
	}
	for name, v := range versions() {
		if after[name] != v {
			t.Errorf("a second migration has written %s", name)
		}
	}
}

// TestOneAtATime makes several migrations of one resource, and one of a resource that is not stored.
func TestOneAtATime(t *testing.T) {
	t.Parallel()
	_, api := start(t)
	for _, name := range []string{"b", "a", "c"} {
		create(t, api, name, "", "configmaps")
	}
	create(t, api, "reviews", "authorization.k8s.io", "subjectaccessreviews")
	waittest.For(t, api, "the end of all", "", func(have map[string]*migrationv1.StorageVersionMigration) bool {
		running, done := 0, 0
		for _, s := range have {
			if s.Spec.Resource.Resource == "configmaps" && meta.IsStatusConditionTrue(s.Status.Conditions, "Running") {
				running++
			}
			if meta.IsStatusConditionFalse(s.Status.Conditions, "Running") {
				done++
			}
		}
		if running > 1 {
			t.Errorf("%d migrations of config maps are running", running)
		}
		return done == 4
	})
	for _, name := range []string{"a", "b", "c"} {
		if outcome, _ := ended(t, api, name); outcome.Type != "Succeeded" || outcome.Message != "Migration completed" {
			t.Errorf("%s: %+v", name, outcome)
		}
	}
	const want = `resource "authorization.k8s.io/v1, Resource=subjectaccessreviews" does not support discovery operations: [update patch list]`
	if outcome, _ := ended(t, api, "reviews"); outcome.Type != "Failed" || outcome.Message != want {
		t.Errorf("of a resource that is not stored: %+v", outcome)
	}
}

// TestEveryResource migrates each resource of a new cluster with pods: the controller's rights and the rules of all kinds let it
// write what is there.
func TestEveryResource(t *testing.T) {
	t.Parallel()
	env := testenv.New(t, testenv.Options{Nodes: 1})
	c := env.Client(t)
	api := client.For[*migrationv1.StorageVersionMigration](c)
	deployments := client.For[*appsv1.Deployment](c).Namespace("default")
	labels := map[string]string{"app": "web"}
	if _, err := deployments.Create(t.Context(), &appsv1.Deployment{
		ObjectMeta: metav1.ObjectMeta{Name: "web"},
		Spec: appsv1.DeploymentSpec{Selector: &metav1.LabelSelector{MatchLabels: labels}, Template: corev1.PodTemplateSpec{
			ObjectMeta: metav1.ObjectMeta{Labels: labels}, Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "web", Image: "web"}}},
		}},
	}); err != nil {
		t.Fatal(err)
	}
	waittest.One(t, deployments, "web", "its pod", func(d *appsv1.Deployment) bool { return d.Status.AvailableReplicas == 1 })
	all, err := c.ServerResources(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	names := map[string]bool{}
	for _, r := range all {
		if name := r.GVR.Resource + "." + r.GVR.Group + "x"; r.Can("update", "patch", "list") && !names[name] {
			names[name] = true
			create(t, api, name, r.GVR.Group, r.GVR.Resource)
		}
	}
	for name := range names {
		if outcome, _ := ended(t, api, name); outcome.Type != "Succeeded" {
			t.Errorf("%s: %+v", name, outcome)
		}
	}
}
