package namespace_test

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	apiregistrationv1 "k8s.io/kube-aggregator/pkg/apis/apiregistration/v1"

	"fairlead.dev/client"
	"fairlead.dev/internal/controllers/podcontrol/waittest"
	"fairlead.dev/testenv"
)

// The reasons that hold a namespace are reported in upstream's words: pods beyond their grace period, a group whose
// discovery fails, and, when the namespace is empty, other finalizers.
func TestWhyNamespacesStay(t *testing.T) {
	t.Parallel() // it waits
	c := testenv.New(t, testenv.Options{NoScheduler: true, NoNodes: true, Controllers: []string{"namespace", "serviceaccount"}}).Client(t)
	namespaces, ctx := client.For[*corev1.Namespace](c), t.Context()
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	says := func(name string, kind corev1.NamespaceConditionType, status corev1.ConditionStatus, message string) {
		t.Helper()
		waittest.One(t, namespaces, name, message, func(ns *corev1.Namespace) bool {
			for _, c := range ns.Status.Conditions {
				if c.Type == kind {
					return c.Status == status && c.Message == message
				}
			}
			return false
		})
	}
	for name, finalizers := range map[string][]string{"stuck": nil, "held": {"example.com/hold"}, "blind": nil} {
		_, err := namespaces.Create(ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name, Finalizers: finalizers}})
		must(err)
		waittest.One(t, client.For[*corev1.ServiceAccount](c).Namespace(name), "default", "the account", func(*corev1.ServiceAccount) bool { return true })
	}
	pods, short := client.For[*corev1.Pod](c).Namespace("stuck"), int64(1)
	_, err := pods.Create(ctx, &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "p"}, Spec: corev1.PodSpec{
		NodeName: "far", TerminationGracePeriodSeconds: &short, Containers: []corev1.Container{{Name: "c", Image: "i"}}}})
	must(err)
	must(namespaces.Delete(ctx, "stuck"))
	must(namespaces.Delete(ctx, "held"))
	says("held", corev1.NamespaceContentRemaining, corev1.ConditionFalse, "All content successfully removed")
	_, err = namespaces.Patch(ctx, "held", client.MergePatch(map[string]any{"metadata": map[string]any{"finalizers": nil}}))
	must(err)
	waittest.Gone(t, namespaces, "held")

	says("stuck", corev1.NamespaceDeletionContentFailure, corev1.ConditionTrue,
		"Failed to delete all resource types, 1 remaining: unexpected items still remain in namespace: stuck for gvr: /v1, Resource=pods")
	must(pods.Delete(ctx, "p", metav1.DeleteOptions{GracePeriodSeconds: new(int64)}))
	waittest.Gone(t, namespaces, "stuck")

	services := client.For[*apiregistrationv1.APIService](c)
	_, err = services.Create(ctx, &apiregistrationv1.APIService{ObjectMeta: metav1.ObjectMeta{Name: "v1.gone.example.com"}, Spec: apiregistrationv1.APIServiceSpec{
		Group: "gone.example.com", Version: "v1", GroupPriorityMinimum: 100, VersionPriority: 100, InsecureSkipTLSVerify: true,
		Service: &apiregistrationv1.ServiceReference{Namespace: "default", Name: "nobody"}}})
	must(err)
	waittest.One(t, services, "v1.gone.example.com", "not available", func(s *apiregistrationv1.APIService) bool { return len(s.Status.Conditions) > 0 })
	must(namespaces.Delete(ctx, "blind"))
	says("blind", corev1.NamespaceDeletionDiscoveryFailure, corev1.ConditionTrue,
		"Discovery failed for some groups, 1 failing: unable to retrieve the complete list of server APIs: gone.example.com/v1: stale GroupVersion discovery: gone.example.com/v1")
	must(services.Delete(ctx, "v1.gone.example.com"))
	waittest.Gone(t, namespaces, "blind")
}
