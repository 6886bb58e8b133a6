package replicaset_test

import (
	"bytes"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"fairlead.dev/client"
	"fairlead.dev/internal/controllers/podcontrol/waittest"
	"fairlead.dev/testenv"
)

// TestNamespaceThatGoes checks that a create rejected by a terminating namespace is not repeated for each deleted
// pod.
func TestNamespaceThatGoes(t *testing.T) {
	env := testenv.New(t, testenv.Options{})
	c := env.Client(t)
	namespaces := client.For[*corev1.Namespace](c)
	if _, err := namespaces.Create(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "short"}}); err != nil {
		t.Fatal(err)
	}
	accounts := client.For[*corev1.ServiceAccount](c).Namespace("short")
	waittest.One(t, accounts, "default", "the account", func(*corev1.ServiceAccount) bool { return true })
	sets := client.For[*appsv1.ReplicaSet](c).Namespace("short")
	n := int32(60)
	if _, err := sets.Create(t.Context(), &appsv1.ReplicaSet{
		ObjectMeta: metav1.ObjectMeta{Name: "web"},
		Spec:       appsv1.ReplicaSetSpec{Replicas: &n, Selector: &metav1.LabelSelector{MatchLabels: labels}, Template: template()},
	}); err != nil {
		t.Fatal(err)
	}
	waittest.One(t, sets, "web", "all replicas", func(rs *appsv1.ReplicaSet) bool { return rs.Status.AvailableReplicas == n })
	if err := namespaces.Delete(t.Context(), "short"); err != nil {
		t.Fatal(err)
	}
	waittest.Gone(t, namespaces, "short")
	got, err := c.REST().Do(t.Context(), client.Request{Path: "/metrics"})
	if err != nil {
		t.Fatal(err)
	}
	for line := range bytes.Lines(got.Body) {
		if bytes.HasPrefix(line, []byte("apiserver_request_total")) && bytes.Contains(line, []byte(`code="403"`)) &&
			bytes.Contains(line, []byte(`resource="pods"`)) && bytes.Contains(line, []byte(`verb="POST"`)) && !bytes.HasSuffix(line, []byte(" 1\n")) {
			t.Errorf("pods refused: %s", line)
		}
	}
}
