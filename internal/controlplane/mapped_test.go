package controlplane_test

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	policyv1 "k8s.io/api/policy/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/rest"

	"fairlead.dev/client"
	"fairlead.dev/internal/client/lives"
	"fairlead.dev/internal/controlplane"
	"fairlead.dev/internal/controlplane/controlplanetest"
)

// mapOf reads a map; the query is name and value in turns.
func mapOf(t *testing.T, c *client.Client, query ...string) (lives.Map, error) {
	q := map[string][]string{}
	for i := 0; i < len(query); i += 2 {
		q[query[i]] = []string{query[i+1]}
	}
	var m lives.Map
	res, err := c.REST().Do(t.Context(), client.Request{Path: lives.MapPath, Query: q})
	if err != nil {
		return m, err
	}
	return m, json.Unmarshal(res.Body, &m)
}

// lines are the relations of a map, as "Deployment web owns ReplicaSet web-*", without the suffixes of generated names.
func lines(m lives.Map) (all []string) {
	name := func(i int) string {
		o := m.Objects[i]
		if n := strings.Count(o.Name, "-"); n > 0 && (o.Kind == "ReplicaSet" || o.Kind == "Pod" || o.Kind == "EndpointSlice") {
			o.Name, _, _ = strings.Cut(o.Name, "-")
			o.Name += "-*"
		}
		return o.Kind + " " + o.Name
	}
	for _, e := range m.Edges {
		all = append(all, name(e.From)+" "+e.Verb+" "+name(e.To))
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// put creates an object.
func put[T client.Object](t *testing.T, c *client.Client, namespace string, o T) {
	t.Helper()
	if _, err := client.For[T](c).Namespace(namespace).Create(t.Context(), o); err != nil {
		t.Fatal(err)
	}
}

// settles repeats a check until it has no error.
func settles(t *testing.T, check func() error) {
	t.Helper()
	var last error
	if err := wait.PollUntilContextTimeout(t.Context(), 50*time.Millisecond, 2*time.Minute, true, func(context.Context) (bool, error) {
		last = check()
		return last == nil, nil
	}); err != nil {
		t.Fatal(last)
	}
}

// TestMap: the map of a namespace has the relations of its objects with their states, the map around an object those within
// its steps, and neither has anything that the user may not read.
func TestMap(t *testing.T) {
	cp := controlplanetest.Start(t, controlplane.Options{Controllers: []string{"*"}, Scheduler: true, Nodes: 1})
	as := func(user string) *client.Client {
		t.Helper()
		config := cp.Config()
		config.Impersonate = rest.ImpersonationConfig{UserName: user}
		c, err := client.New(config, client.Options{})
		if err != nil {
			t.Fatal(err)
		}
		return c
	}
	admin := as("")
	labels := map[string]string{"app": "web"}
	selector := &metav1.LabelSelector{MatchLabels: labels}
	port := networkingv1.ServiceBackendPort{Number: 80}
	put(t, admin, "default", &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "settings"}})
	put(t, admin, "default", &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: "password"}})
	put(t, admin, "default", &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: "registry"}})
	put(t, admin, "default", &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "alone"}})
	put(t, admin, "default", &corev1.PersistentVolumeClaim{ObjectMeta: metav1.ObjectMeta{Name: "disk"}, Spec: corev1.PersistentVolumeClaimSpec{
		AccessModes: []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce}, Resources: corev1.VolumeResourceRequirements{Requests: corev1.ResourceList{"storage": resource.MustParse("1Gi")}},
	}})
	put(t, admin, "default", &corev1.Service{ObjectMeta: metav1.ObjectMeta{Name: "front"}, Spec: corev1.ServiceSpec{Selector: labels, Ports: []corev1.ServicePort{{Port: 80}}}})
	put(t, admin, "default", &networkingv1.Ingress{ObjectMeta: metav1.ObjectMeta{Name: "door"}, Spec: networkingv1.IngressSpec{
		DefaultBackend: &networkingv1.IngressBackend{Service: &networkingv1.IngressServiceBackend{Name: "front", Port: port}}, TLS: []networkingv1.IngressTLS{{SecretName: "password"}},
	}})
	put(t, admin, "default", &autoscalingv2.HorizontalPodAutoscaler{ObjectMeta: metav1.ObjectMeta{Name: "sizes"}, Spec: autoscalingv2.HorizontalPodAutoscalerSpec{
		MaxReplicas: 1, ScaleTargetRef: autoscalingv2.CrossVersionObjectReference{APIVersion: "apps/v1", Kind: "Deployment", Name: "web"},
	}})
	put(t, admin, "default", &policyv1.PodDisruptionBudget{ObjectMeta: metav1.ObjectMeta{Name: "careful"}, Spec: policyv1.PodDisruptionBudgetSpec{Selector: selector}})
	put(t, admin, "default", &networkingv1.NetworkPolicy{ObjectMeta: metav1.ObjectMeta{Name: "closed"}, Spec: networkingv1.NetworkPolicySpec{PodSelector: *selector}})
	put(t, admin, "default", &rbacv1.RoleBinding{ObjectMeta: metav1.ObjectMeta{Name: "lets"}, RoleRef: rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: "view"},
		Subjects: []rbacv1.Subject{{Kind: "ServiceAccount", Name: "default", Namespace: "default"}}})
	volume := func(name string, source corev1.VolumeSource) corev1.Volume {
		return corev1.Volume{Name: name, VolumeSource: source}
	}
	one := int32(1)
	put(t, admin, "default", &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Name: "web"}, Spec: appsv1.DeploymentSpec{
		Replicas: &one, Selector: selector, Template: corev1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Labels: labels}, Spec: corev1.PodSpec{
			ImagePullSecrets: []corev1.LocalObjectReference{{Name: "registry"}, {Name: "not-there"}},
			Volumes: []corev1.Volume{
				volume("settings", corev1.VolumeSource{ConfigMap: &corev1.ConfigMapVolumeSource{LocalObjectReference: corev1.LocalObjectReference{Name: "settings"}}}),
				volume("disk", corev1.VolumeSource{PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: "disk"}}),
			},
			Containers: []corev1.Container{{Name: "c", Image: "nginx", EnvFrom: []corev1.EnvFromSource{
				{SecretRef: &corev1.SecretEnvSource{LocalObjectReference: corev1.LocalObjectReference{Name: "password"}}},
			}}},
		}},
	}})
	put(t, admin, "default", &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "lacking"}, Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "c", Image: "nginx", EnvFrom: []corev1.EnvFromSource{
		{ConfigMapRef: &corev1.ConfigMapEnvSource{LocalObjectReference: corev1.LocalObjectReference{Name: "absent"}}},
	}}}}})

	want := []string{
		"ConfigMap absent", "Deployment web owns ReplicaSet web-*", "HorizontalPodAutoscaler sizes scales Deployment web", "Ingress door reads Secret password",
		"Ingress door routes to Service front", "NetworkPolicy closed selects Pod web-*", "PersistentVolume", "PersistentVolumeClaim disk binds PersistentVolume",
		"PersistentVolumeClaim disk of class StorageClass standard", "Pod lacking reads ConfigMap absent", "Pod web-* mounts ConfigMap kube-root-ca.crt",
		"Pod web-* mounts ConfigMap settings", "Pod web-* mounts PersistentVolumeClaim disk", "Pod web-* reads Secret password", "Pod web-* reads Secret registry",
		"Pod web-* runs as ServiceAccount default", "Pod web-* runs on Node node-1", "PodDisruptionBudget careful selects Pod web-*", "ReplicaSet web-* owns Pod web-*",
		"RoleBinding lets binds ClusterRole view", "RoleBinding lets binds to ServiceAccount default", "Service front owns EndpointSlice front-*", "Service front selects Pod web-*",
	}
	settles(t, func() error {
		m, err := mapOf(t, admin, "namespace", "default")
		if err != nil {
			return err
		}
		got := lines(m)
		for _, w := range want {
			if !slices.ContainsFunc(got, func(l string) bool { return strings.Contains(l, w) }) {
				return fmt.Errorf("no %q in:\n%s", w, strings.Join(got, "\n"))
			}
		}
		for name, word := range map[string]string{"front": "1 of 1 ready", "web": "1 of 1 ready", "disk": "Bound", "lacking": "CreateContainerConfigError", "absent": "missing", "node-1": "Ready", "alone": ""} {
			i := slices.IndexFunc(m.Objects, func(o lives.MapObject) bool { return o.Name == name })
			if i < 0 || m.Objects[i].Word != word {
				return fmt.Errorf("%s is not %q: %+v", name, word, m.Objects)
			}
		}
		return nil
	})

	near, err := mapOf(t, admin, "resource", "services", "namespace", "default", "name", "front")
	if err != nil || near.Objects[0].Name != "front" || len(near.Forbidden) > 0 {
		t.Errorf("around the Service: %+v %v", near, err)
	}
	if got := strings.Join(lines(near), "; "); got != "Ingress door routes to Service front; Service front owns EndpointSlice front-*; Service front selects Pod web-*" {
		t.Error("one step from the Service: ", got)
	}
	far, err := mapOf(t, admin, "resource", "services", "namespace", "default", "name", "front", "steps", "3")
	if got := strings.Join(lines(far), "; "); err != nil || !strings.Contains(got, "Deployment web owns") || strings.Contains(got, "lacking") {
		t.Errorf("three steps from the Service: %s %v", got, err)
	}
	node, err := mapOf(t, admin, "resource", "nodes", "name", "node-1")
	if got := strings.Join(lines(node), "; "); err != nil || got != "Pod lacking runs on Node node-1; Pod web-* runs on Node node-1" {
		t.Errorf("around the node: %s %v", got, err)
	}
	pods, err := mapOf(t, admin, "resource", "pods", "namespace", "default", "name", "lacking")
	if err != nil || len(pods.Events) == 0 {
		t.Errorf("the Events of a pod: %+v %v", pods.Events, err)
	}
	for _, q := range [][]string{{}, {"resource", "pods"}, {"namespace", "../x"}, {"resource", "pods", "name", "lacking", "namespace", "default", "steps", "0"}, {"resource", "pods", "name", ".."}} {
		if _, err := mapOf(t, admin, q...); !apierrors.IsBadRequest(err) {
			t.Errorf("%v: %v", q, err)
		}
	}
	for _, q := range [][]string{{"resource", "wonders", "name", "x"}, {"resource", "pods", "namespace", "default", "name", "none"}} {
		if _, err := mapOf(t, admin, q...); !apierrors.IsNotFound(err) {
			t.Errorf("%v: %v", q, err)
		}
	}

	// A map lacks the objects that its user may not read.
	if _, err := mapOf(t, as("ann"), "namespace", "default"); !apierrors.IsForbidden(err) {
		t.Errorf("a user without any rights: %v", err)
	}
	put(t, admin, "", &rbacv1.ClusterRole{ObjectMeta: metav1.ObjectMeta{Name: "maps"}, Rules: []rbacv1.PolicyRule{
		{Verbs: []string{"get"}, NonResourceURLs: []string{lives.MapPath}},
		{Verbs: []string{"list"}, APIGroups: []string{"", "apps"}, Resources: []string{"pods", "replicasets"}},
	}})
	put(t, admin, "", &rbacv1.ClusterRoleBinding{ObjectMeta: metav1.ObjectMeta{Name: "maps"}, RoleRef: rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: "maps"},
		Subjects: []rbacv1.Subject{{Kind: "User", APIGroup: rbacv1.GroupName, Name: "ann"}}})
	settles(t, func() error {
		m, err := mapOf(t, as("ann"), "namespace", "default")
		if err != nil {
			return err
		}
		if got := lines(m); len(got) != 1 || got[0] != "ReplicaSet web-* owns Pod web-*" {
			return fmt.Errorf("relations %q", got)
		}
		for _, o := range m.Objects {
			if o.Kind != "Pod" && o.Kind != "ReplicaSet" {
				return fmt.Errorf("%+v, which the user may not read", o)
			}
		}
		for _, name := range []string{"secrets", "nodes", "configmaps", "deployments.apps"} {
			if !slices.Contains(m.Forbidden, name) {
				return fmt.Errorf("%s is not among the forbidden: %q", name, m.Forbidden)
			}
		}
		return nil
	})
	if _, err := mapOf(t, as("ann"), "resource", "services", "namespace", "default", "name", "front"); !apierrors.IsForbidden(err) {
		t.Errorf("around an object that the user may not get: %v", err)
	}
}
