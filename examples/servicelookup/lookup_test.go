package main

import (
	"context"
	"net/http/httptest"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"

	"fairlead.dev/client"
	"fairlead.dev/testenv"
)

// The whole program against a whole control plane: Services are created and deleted, a Pod
// runs and is deleted, and each time the resource has the Pod's Services.
func TestServiceLookup(t *testing.T) {
	env := testenv.New(t, testenv.Options{CRDs: testenv.Objects{Paths: []string{"crd.yaml"}}})
	c := env.Client(t)
	l, err := newLookup(env.Config())
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- l.manager.Run(ctx) }()
	defer func() {
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
	}()
	results, err := l.results.API.Namespace("default").Watch(t.Context(), metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	defer results.Stop()
	var revision string
	until := func(services string) {
		t.Helper()
		for {
			e, err := results.Next(t.Context())
			if err != nil {
				t.Fatalf("waiting for %q: %v", services, err)
			}
			revision = e.Object.ResourceVersion
			if got := strings.Join(e.Object.Spec.Services, " "); e.Type == watch.Deleted && services == "gone" || e.Type != watch.Deleted && got == services {
				return
			}
		}
	}

	services := client.For[*corev1.Service](c).Namespace("default")
	serve := func(name string) {
		t.Helper()
		s := &corev1.Service{Spec: corev1.ServiceSpec{Selector: map[string]string{"app": "web"}, Ports: []corev1.ServicePort{{Port: 80}}}}
		s.Name = name
		if _, err := services.Create(t.Context(), s); err != nil {
			t.Fatal(err)
		}
	}
	pod := &corev1.Pod{Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "c", Image: "web"}}}}
	pod.Name, pod.Labels = "web-1", map[string]string{"app": "web"}
	pods := client.For[*corev1.Pod](c).Namespace("default")
	if _, err := pods.Create(t.Context(), pod); err != nil {
		t.Fatal(err)
	}
	serve("shop")
	until("shop")
	serve("admin")
	until("admin shop")
	if err := l.results.Store().WaitFor(t.Context(), revision); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]string{"/pods/default/web-1": `["admin","shop"]`, "/pods/default/none": "no service reaches a pod of that name", "/readyz": "ok"} {
		w := httptest.NewRecorder()
		l.handler().ServeHTTP(w, httptest.NewRequest("GET", path, nil))
		if got := strings.TrimSpace(w.Body.String()); got != want {
			t.Errorf("%s: %s, want %s", path, got, want)
		}
	}
	if err := services.Delete(t.Context(), "admin"); err != nil {
		t.Fatal(err)
	}
	until("shop")
	if err := pods.Delete(t.Context(), "web-1"); err != nil {
		t.Fatal(err)
	}
	until("gone")
}
