package podsecurity_test

import (
	"context"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"fairlead.dev/testenv"
)

// TestPodSecurity checks that a namespace's labels are enforced and produce warnings.
func TestPodSecurity(t *testing.T) {
	ctx := context.Background()
	c := kubernetes.NewForConfigOrDie(testenv.New(t, testenv.Options{}).Config())
	namespace := func(name string, labels map[string]string) error {
		_, err := c.CoreV1().Namespaces().Create(ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: labels}}, metav1.CreateOptions{})
		return err
	}
	create := func(ns string, privileged bool) rest.Result {
		pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "p"}, Spec: corev1.PodSpec{
			HostNetwork: privileged, Containers: []corev1.Container{{Name: "c", Image: "i"}}}}
		return c.CoreV1().RESTClient().Post().AbsPath("/api/v1/namespaces/" + ns + "/pods").Body(pod).Do(ctx)
	}
	const label = "pod-security.kubernetes.io/"
	for name, labels := range map[string]map[string]string{
		"free": nil, "base": {label + "enforce": "baseline", label + "warn": "restricted"},
	} {
		if err := namespace(name, labels); err != nil {
			t.Fatal(err)
		}
	}
	err := namespace("wrong", map[string]string{label + "enforce": "strict"})
	if err == nil || err.Error() != `Namespace "wrong" is invalid: metadata.labels[pod-security.kubernetes.io/enforce]: Invalid value: "strict": must be one of privileged, baseline, restricted` {
		t.Errorf("a wrong label: %v", err)
	}
	if r := create("free", true); r.Error() != nil || len(r.Warnings()) > 0 {
		t.Errorf("without labels: %v %v", r.Error(), r.Warnings())
	}
	if err := create("base", true).Error(); err == nil || err.Error() != `pods "p" is forbidden: violates PodSecurity "baseline:latest": host namespaces (hostNetwork=true)` {
		t.Errorf("enforced: %v", err)
	}
	r := create("base", false)
	if w := r.Warnings(); r.Error() != nil || len(w) != 1 || !strings.HasPrefix(w[0].Text, `would violate PodSecurity "restricted:latest": allowPrivilegeEscalation != false (container "c" must set securityContext.allowPrivilegeEscalation=false), `) {
		t.Errorf("warned: %v %v", r.Error(), w)
	}
	r = c.CoreV1().RESTClient().Patch("application/merge-patch+json").AbsPath("/api/v1/namespaces/free").
		Body([]byte(`{"metadata":{"labels":{"` + label + `enforce":"baseline"}}}`)).Do(ctx)
	if w := r.Warnings(); r.Error() != nil || len(w) != 2 ||
		w[0].Text != `existing pods in namespace "free" violate the new PodSecurity enforce level "baseline:latest"` || w[1].Text != "p: host namespaces" {
		t.Errorf("existing pods: %v %v", r.Error(), w)
	}
}
