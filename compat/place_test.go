package compat

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"
	watchtools "k8s.io/client-go/tools/watch"
)

// listWatch reads objects of a resource: one, or all when name is empty.
func listWatch(c *kubernetes.Clientset, resource, ns, name string) cache.ListerWatcher {
	var from rest.Interface
	switch resource {
	case "deployments", "replicasets", "statefulsets", "daemonsets", "controllerrevisions":
		from = c.AppsV1().RESTClient()
	case "jobs", "cronjobs":
		from = c.BatchV1().RESTClient()
	case "endpointslices":
		from = c.DiscoveryV1().RESTClient()
	case "poddisruptionbudgets":
		from = c.PolicyV1().RESTClient()
	case "horizontalpodautoscalers":
		from = c.AutoscalingV2().RESTClient()
	case "clusterroles":
		from = c.RbacV1().RESTClient()
	case "servicecidrs":
		from = c.NetworkingV1().RESTClient()
	case "resourceclaims":
		from = c.ResourceV1().RESTClient()
	case "certificatesigningrequests":
		from = c.CertificatesV1().RESTClient()
	default:
		from = c.CoreV1().RESTClient()
	}
	selector := fields.Everything()
	if name != "" {
		selector = one(name)
	}
	return cache.NewListWatchFromClient(from, resource, ns, selector)
}

// see waits until an object is as wanted, and returns it so. With no name it is the first that is.
func see[T runtime.Object](p *place, resource, name, what string, done func(T) bool) T {
	p.Helper()
	ctx, cancel := context.WithTimeout(p.ctx, patience)
	defer cancel()
	var zero, last T
	_, err := watchtools.UntilWithSync(ctx, listWatch(p.c, resource, p.ns, name), zero, nil, func(e watchEvent) (bool, error) {
		o, ok := e.Object.(T)
		if !ok || e.Type == "DELETED" {
			return false, nil
		}
		last = o
		return done(o), nil
	})
	if err != nil {
		p.Fatalf("waiting for %s: %v; last: %+v", what, err, last)
	}
	return last
}

// away waits until an object, or with no name all of them, is gone.
func (p *place) away(resource, name string) {
	p.Helper()
	gone(p.T, listWatch(p.c, resource, p.ns, name), resource+" "+name+" gone")
}

// event waits for an event that begins with text, and records it. A text that ends in a
// newline is all of it.
func (p *place) event(kind, name, reason, text string) {
	p.Helper()
	e := see(p, "events", "", "the event "+reason+" "+text, func(e *corev1.Event) bool {
		return e.InvolvedObject.Kind == kind && strings.HasPrefix(e.InvolvedObject.Name, name) && e.Reason == reason && strings.HasPrefix(plain(e.Message)+"\n", text)
	})
	source := e.Source.Component
	if source == "" {
		source = e.ReportingController
	}
	p.saw("event of %s: %s %s %s", source, e.Type, e.Reason, e.Message)
}

// events waits until there are n events of a reason, and records the sorted messages of
// all. Events are written later than the changes that they report.
func (p *place) events(reason string, n int) {
	p.Helper()
	all := map[string]string{}
	see(p, "events", "", fmt.Sprintf("%d events of %s", n, reason), func(e *corev1.Event) bool {
		if e.Reason == reason {
			all[e.Name] = plain(e.Message)
		}
		return len(all) >= n
	})
	p.saw("events %s: %s", reason, strings.Join(slices.Sorted(maps.Values(all)), "; "))
}

// pods returns the pods with a label app of this value that are not on their way out.
func (p *place) pods(app string) (live []corev1.Pod) {
	p.Helper()
	list, err := p.c.CoreV1().Pods(p.ns).List(p.ctx, metav1.ListOptions{LabelSelector: "app=" + app})
	p.must(nil, err)
	for _, pod := range list.Items {
		if pod.DeletionTimestamp == nil {
			live = append(live, pod)
		}
	}
	return live
}

// podSpec is that of a pod of one small container.
func podSpec(image string) corev1.PodSpec {
	return corev1.PodSpec{Containers: []corev1.Container{{Name: "main", Image: image}}}
}

func template(app, image string) corev1.PodTemplateSpec {
	return corev1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Labels: map[string]string{"app": app}}, Spec: podSpec(image)}
}

func selecting(app string) *metav1.LabelSelector {
	return &metav1.LabelSelector{MatchLabels: map[string]string{"app": app}}
}

func named(name string) metav1.ObjectMeta { return metav1.ObjectMeta{Name: name} }

// condition is how a condition is recorded.
func condition(kind, status, reason, message any) string {
	return fmt.Sprintf("%v=%v %v %q", kind, status, reason, message)
}
