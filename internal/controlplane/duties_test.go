package controlplane_test

import (
	"encoding/json"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"fairlead.dev/client"
)

// A duty is what some controllers have to do in a namespace.
type duty struct {
	name        string
	controllers []string
	caches      []string // the resources whose watches are held back, by turns
	stages      []stage
	named       []string                                 // kinds whose names keep even two who don't know of each other from making one twice
	judge       func(*site, []client.Event[*corev1.Pod]) // looks at the whole life of the pods; nil is nothing
	remove      func(*site)                              // deletes what was applied
}

// A stage is something that a user asks for.
type stage struct {
	name string
	// ask asks for it. While the watches of a resource are held back, it may wait for what
	// is done nonetheless, and give cause to do it again.
	ask  func(s *site, held string)
	done func(*site)    // waits until everything is as wanted
	made map[string]int // how many objects of each kind there have been in the namespace by then
}

var duties = []duty{deployments, statefulSets, daemonSets, jobs, cronJobs, endpointSlices, namespaces, garbage}

// on are the objects of the site's namespace.
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

// touch has the controllers look at an object again.
func touch[T client.Object](s *site, name string) {
	s.Helper()
	for _, n := range []string{"1", "2", "3"} {
		patch[T](s, name, `{"metadata":{"annotations":{"touched":"`+n+`"}}}`)
	}
}

// remove deletes an object, if it is there.
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
