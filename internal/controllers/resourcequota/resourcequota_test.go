package resourcequota_test

import (
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"fairlead.dev/client"
	"fairlead.dev/internal/controllers/podcontrol/waittest"
	"fairlead.dev/testenv"
)

func amounts(s string) corev1.ResourceList {
	l := corev1.ResourceList{}
	for _, item := range strings.Fields(s) {
		name, value, _ := strings.Cut(item, "=")
		l[corev1.ResourceName(name)] = resource.MustParse(value)
	}
	return l
}

// uses reports whether a quota's status has the given usage.
func uses(s string) func(*corev1.ResourceQuota) bool {
	return func(q *corev1.ResourceQuota) bool {
		for name, want := range amounts(s) {
			if got, ok := q.Status.Used[name]; !ok || got.Cmp(want) != 0 {
				return false
			}
		}
		return true
	}
}

// A quota is counted, charged, exhausted, and released.
func TestAQuotasLife(t *testing.T) {
	env := testenv.New(t, testenv.Options{})
	c, ctx := env.Client(t), t.Context()
	quotas := client.For[*corev1.ResourceQuota](c).Namespace("default")
	maps := client.For[*corev1.ConfigMap](c).Namespace("default")
	pods := client.For[*corev1.Pod](c).Namespace("default")
	deployments := client.For[*appsv1.Deployment](c).Namespace("default")
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	refused := func(err error, why string) {
		t.Helper()
		if !apierrors.IsForbidden(err) || !strings.Contains(err.Error(), why) {
			t.Errorf("got %v, want it refused for %q", err, why)
		}
	}
	small := corev1.PodSpec{Containers: []corev1.Container{{Name: "c", Image: "i", Resources: corev1.ResourceRequirements{Requests: amounts("cpu=100m")}}}}
	_, err := maps.Create(ctx, &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "before"}})
	must(err)
	waittest.One(t, maps, "kube-root-ca.crt", "the namespace's own map", func(*corev1.ConfigMap) bool { return true })
	_, err = quotas.Create(ctx, &corev1.ResourceQuota{ObjectMeta: metav1.ObjectMeta{Name: "q"},
		Spec: corev1.ResourceQuotaSpec{Hard: amounts("pods=3 requests.cpu=1 configmaps=3 count/deployments.apps=1 services.nodeports=0 count/nothings.example.com=1")}})
	must(err)
	waittest.One(t, quotas, "q", "the first count", uses("pods=0 requests.cpu=0 configmaps=2 count/deployments.apps=0 services.nodeports=0"))

	_, err = maps.Create(ctx, &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "third"}})
	must(err)
	_, err = maps.Create(ctx, &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "fourth"}})
	refused(err, "exceeded quota: q, requested: configmaps=1, used: configmaps=3, limited: configmaps=3")
	must(maps.Delete(ctx, "before"))
	waittest.One(t, quotas, "q", "the map given back", uses("configmaps=2"))
	_, err = maps.Create(ctx, &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "fourth"}})
	must(err)

	_, err = pods.Create(ctx, &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "silent"}, Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "c", Image: "i"}}}})
	refused(err, "failed quota: q: must specify requests.cpu for: c")
	_, err = pods.Create(ctx, &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "wrong"}, Spec: corev1.PodSpec{
		Containers: []corev1.Container{{Name: "NOT A NAME", Image: "i", Resources: small.Containers[0].Resources}}}})
	if !apierrors.IsInvalid(err) {
		t.Errorf("an invalid pod: %v", err)
	}
	waittest.One(t, quotas, "q", "nothing kept for what was never written", uses("pods=0 requests.cpu=0"))

	five := int32(5)
	labels := map[string]string{"app": "web"}
	_, err = deployments.Create(ctx, &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Name: "web"}, Spec: appsv1.DeploymentSpec{
		Replicas: &five, Selector: &metav1.LabelSelector{MatchLabels: labels},
		Template: corev1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Labels: labels}, Spec: small},
	}})
	must(err)
	waittest.One(t, deployments, "web", "three of five running, and why no more", func(d *appsv1.Deployment) bool {
		for _, cond := range d.Status.Conditions {
			if cond.Type == appsv1.DeploymentReplicaFailure && strings.Contains(cond.Message, "exceeded quota: q") {
				return d.Status.AvailableReplicas == 3
			}
		}
		return false
	})
	waittest.One(t, quotas, "q", "the pods charged", uses("pods=3 requests.cpu=300m count/deployments.apps=1"))
	must(deployments.Delete(ctx, "web"))
	waittest.One(t, quotas, "q", "all of it given back", uses("pods=0 requests.cpu=0 count/deployments.apps=0 configmaps=3"))
}
