package controlplane_test

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"fairlead.dev/client"
	"fairlead.dev/internal/controllers/podcontrol/waittest"
)

var endpointSlices = scenario{
	name:        "endpointslice",
	controllers: []string{"endpointslice"},
	caches:      []string{"pods", "services", "endpointslices"},
	remove: func(s *site) {
		remove[*corev1.Service]("web")(s)
		for i := range 4 {
			remove[*corev1.Pod](fmt.Sprint("web-", i))(s)
		}
	},
	stages: []stage{{
		name: "create",
		ask: func(s *site, _ string) {
			for i := range 3 {
				webPod(s, i)
			}
			waittest.For(s, on[*corev1.Pod](s), "pods that run", "app=web", func(have map[string]*corev1.Pod) bool {
				for _, p := range have {
					if p.Status.PodIP == "" {
						return false
					}
				}
				return len(have) == 3
			})
			create(s, &corev1.Service{ObjectMeta: named("web"), Spec: corev1.ServiceSpec{Selector: app, Ports: []corev1.ServicePort{{Port: 80}}}})
		},
		done: func(s *site) { behind(s, 80, 3) },
		made: map[string]int{"EndpointSlice": 1},
	}, {
		name: "ports",
		ask: func(s *site, held string) {
			patch[*corev1.Service](s, "web", `{"spec":{"ports":[{"port":81}]}}`)
			if held == "endpointslices" {
				sliceOf(s, 81, 3)
			}
			webPod(s, 3)
			touch[*corev1.Service](s, "web")
		},
		done: func(s *site) { behind(s, 81, 4) },
		made: map[string]int{"EndpointSlice": 1},
	}},
}

func webPod(s *site, n int) {
	s.Helper()
	create(s, &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprint("web-", n), Labels: app}, Spec: webPods.Spec})
}

func isSlice(e *discoveryv1.EndpointSlice, port int32, ready int) bool {
	if len(e.Ports) != 1 || *e.Ports[0].Port != port {
		return false
	}
	for _, a := range e.Endpoints {
		if ptr.Deref(a.Conditions.Ready, false) {
			ready--
		}
	}
	return ready == 0
}

// sliceOf waits for a slice with that port and number of ready endpoints.
func sliceOf(s *site, port int32, ready int) {
	s.Helper()
	waittest.For(s, on[*discoveryv1.EndpointSlice](s), "a slice", "", func(have map[string]*discoveryv1.EndpointSlice) bool {
		for _, e := range have {
			if isSlice(e, port, ready) {
				return true
			}
		}
		return false
	})
}

// behind waits until such a slice is the only one.
func behind(s *site, port int32, ready int) {
	s.Helper()
	waittest.For(s, on[*discoveryv1.EndpointSlice](s), "one slice", "", func(have map[string]*discoveryv1.EndpointSlice) bool {
		for _, e := range have {
			if len(have) > 1 || !isSlice(e, port, ready) {
				return false
			}
		}
		return len(have) == 1
	})
}

// A namespace is deleted with its objects of several kinds.
var namespaces = scenario{
	name:        "namespace",
	controllers: []string{"namespace"},
	caches:      nil, // it lists the remaining objects from the server
	stages: []stage{{
		name: "delete",
		ask: func(s *site, _ string) {
			for i := range 3 {
				name := fmt.Sprint("held-", i)
				create(s, &corev1.ConfigMap{ObjectMeta: named(name)})
				create(s, &corev1.Secret{ObjectMeta: named(name)})
				create(s, &corev1.Service{ObjectMeta: named(name), Spec: corev1.ServiceSpec{Ports: []corev1.ServicePort{{Port: 80}}}})
				webPod(s, i)
			}
			if err := client.For[*corev1.Namespace](s.f.client).Delete(s.Context(), s.ns); err != nil {
				s.Fatal(err)
			}
		},
		done: func(s *site) {
			s.Helper()
			waittest.Gone(s, client.For[*corev1.Namespace](s.f.client), s.ns)
			none[*corev1.Pod](s)
			none[*corev1.ConfigMap](s)
			none[*corev1.Secret](s)
			none[*corev1.Service](s)
			none[*corev1.ServiceAccount](s)
		},
	}},
}

func none[T client.Object](s *site) {
	s.Helper()
	list, err := on[T](s).List(s.Context())
	if err != nil {
		s.Fatal(err)
	}
	for _, o := range list.Items {
		s.Errorf("the namespace is gone, and %T %s is not", o, o.GetName())
	}
}

// Dependents are deleted after their owner (background), before it (foreground), or stay
// (orphan). A dependent of another owner stays.
var garbage = scenario{
	name:        "garbagecollector",
	controllers: []string{"garbagecollector"},
	caches:      []string{"configmaps"},
	stages: []stage{{
		name: "background",
		ask:  func(s *site, _ string) { disown(s, metav1.DeletePropagationBackground) },
		done: func(s *site) { left(s, "keeper", "kept") },
	}, {
		name: "foreground",
		ask:  func(s *site, _ string) { disown(s, metav1.DeletePropagationForeground) },
		done: func(s *site) { left(s, "keeper", "kept") },
	}, {
		name: "orphan",
		ask:  func(s *site, _ string) { disown(s, metav1.DeletePropagationOrphan) },
		done: func(s *site) {
			left(s, "keeper", "kept", "child-0", "child-1", "child-2")
			waittest.For(s, on[*corev1.ConfigMap](s), "orphans", "", func(have map[string]*corev1.ConfigMap) bool {
				return len(have["child-0"].OwnerReferences)+len(have["child-1"].OwnerReferences)+len(have["child-2"].OwnerReferences) == 0
			})
		},
	}},
	remove: func(s *site) {
		for _, name := range []string{"keeper", "child-0", "child-1", "child-2"} {
			remove[*corev1.ConfigMap](name)(s)
		}
	},
}

// disown makes an owner with dependents, and deletes it.
func disown(s *site, how metav1.DeletionPropagation) {
	s.Helper()
	own := func(owner *corev1.ConfigMap, name string) {
		create(s, &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: name, OwnerReferences: []metav1.OwnerReference{
			{APIVersion: "v1", Kind: "ConfigMap", Name: owner.Name, UID: owner.UID, BlockOwnerDeletion: ptr.To(true)}}}})
	}
	if _, err := on[*corev1.ConfigMap](s).Get(s.Context(), "keeper"); err != nil {
		own(create(s, &corev1.ConfigMap{ObjectMeta: named("keeper")}), "kept")
	}
	owner := create(s, &corev1.ConfigMap{ObjectMeta: named("owner")})
	for i := range 3 {
		own(owner, fmt.Sprint("child-", i))
	}
	if err := on[*corev1.ConfigMap](s).Delete(s.Context(), "owner", metav1.DeleteOptions{PropagationPolicy: &how}); err != nil {
		s.Fatal(err)
	}
}

// left waits until the namespace has only these ConfigMaps, besides kube-root-ca.crt.
func left(s *site, names ...string) {
	s.Helper()
	waittest.For(s, on[*corev1.ConfigMap](s), fmt.Sprint(names, " alone"), "", func(have map[string]*corev1.ConfigMap) bool {
		n := len(have)
		if have["kube-root-ca.crt"] != nil {
			n--
		}
		for _, name := range names {
			if have[name] == nil {
				return false
			}
		}
		return n == len(names)
	})
}
