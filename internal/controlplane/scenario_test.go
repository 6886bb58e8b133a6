package controlplane_test

import (
	"encoding/json"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"fairlead.dev/client"
)

// A scenario is work of some controllers in a namespace, in stages.
type scenario struct {
	name        string
	controllers []string
	caches      []string // the resources whose watches are delayed, one after the other
	stages      []stage
	named       []string                                 // kinds with deterministic names, of which even two managers create no duplicates
	judge       func(*site, []client.Event[*corev1.Pod]) // checks all events of the pods; may be nil
	remove      func(*site)                              // deletes the objects that ask created
}

// A stage is one change that a user makes.
type stage struct {
	name string
	// ask makes the change. While the watches of the resource held are delayed, it may wait for
	// the controllers' first writes, and then trigger another reconcile, which must not repeat them.
	ask  func(s *site, held string)
	done func(*site)    // waits until the controllers have finished
	made map[string]int // the number of objects of each kind that were created in the namespace until then
}

var scenarios = []scenario{deployments, statefulSets, daemonSets, jobs, cronJobs, endpointSlices, namespaces, garbage}

// on is the client for a resource in the site's namespace.
func on[T client.Object](s *site) client.Resource[T] {
	return client.For[T](s.f.client).Namespace(s.ns)
}

func create[T client.Object](s *site, o T) T {
	s.Helper()
	made, err := on[T](s).Create(s.Context(), o)
	if err != nil {
		s.Fatal(err)
	}
	return made
}

func patch[T client.Object](s *site, name, patch string) {
	s.Helper()
	if _, err := on[T](s).Patch(s.Context(), name, client.MergePatch(json.RawMessage(patch))); err != nil {
		s.Fatal(err)
	}
}

// touch annotates an object so that its controllers reconcile it again.
func touch[T client.Object](s *site, name string) {
	s.Helper()
	for _, n := range []string{"1", "2", "3"} {
		patch[T](s, name, `{"metadata":{"annotations":{"touched":"`+n+`"}}}`)
	}
}

// remove deletes an object if it exists.
func remove[T client.Object](name string) func(*site) {
	return func(s *site) {
		s.Helper()
		background := metav1.DeletePropagationBackground
		if err := on[T](s).Delete(s.Context(), name, metav1.DeleteOptions{PropagationPolicy: &background}); err != nil && !apierrors.IsNotFound(err) {
			s.Fatal(err)
		}
	}
}

func named(name string) metav1.ObjectMeta { return metav1.ObjectMeta{Name: name} }

var (
	app      = map[string]string{"app": "web"}
	selector = &metav1.LabelSelector{MatchLabels: app}
	webPods  = corev1.PodTemplateSpec{
		ObjectMeta: metav1.ObjectMeta{Labels: app},
		Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "main", Image: "web:1"}}},
	}
)

const newImage = `"template":{"spec":{"containers":[{"name":"main","image":"web:2"}]}}`
