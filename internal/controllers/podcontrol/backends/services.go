package backends

import (
	"maps"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"

	"fairlead.dev/controller"
	"fairlead.dev/informer"
	"fairlead.dev/internal/condition"
	"fairlead.dev/internal/controllers/podcontrol"
)

// bySelector is the index of Services by the first pair of their selector.
const bySelector = "selector"

// Services finds Services and the pods behind them.
type Services struct {
	All  *informer.Informer[*corev1.Service]
	Pods *informer.Informer[*corev1.Pod]
}

// New returns the Services of the set, with the index in place.
func New(s *informer.Set) Services {
	all := informer.For[*corev1.Service](s)
	all.Index(bySelector, selectorKeys)
	return Services{All: all, Pods: informer.For[*corev1.Pod](s)}
}

// Watch enqueues the Service's key for each change of a Service or of a pod that it selects. Changes of pods within
// pace share a pass.
func (s Services) Watch(loop *controller.Controller, pace *podcontrol.Pace) {
	enqueue := func(p *corev1.Pod) {
		for _, svc := range s.Of(p) {
			k := controller.Key{Namespace: svc.Namespace, Name: svc.Name}
			if d := pace.Delay(k); d > 0 {
				loop.EnqueueForAfter(k, p, d)
			} else {
				loop.EnqueueFor(k, p)
			}
		}
	}
	loop.Watch(controller.For(s.All), controller.Handles(s.Pods, informer.Handler[*corev1.Pod]{
		Add: func(p *corev1.Pod, _ bool) { enqueue(p) },
		Update: func(old, p *corev1.Pod) {
			relabelled := !maps.Equal(old.Labels, p.Labels)
			if !relabelled && sameBackend(old, p) {
				return
			}
			enqueue(p)
			if relabelled {
				enqueue(old)
			}
		},
		Delete: enqueue,
	}))
}

// Of returns the Services whose selector matches the pod.
func (s Services) Of(p *corev1.Pod) []*corev1.Service {
	var out []*corev1.Service
	for k, v := range p.Labels {
		for _, svc := range s.All.Store().ByIndex(bySelector, selectorKey(p.Namespace, k, v)) {
			if Selects(svc, p) {
				out = append(out, svc)
			}
		}
	}
	return out
}

// Behind returns the pods that the Service selects and that have an address, sorted by name; terminating ones only
// if requested.
func (s Services) Behind(svc *corev1.Service, withTerminating bool) []*corev1.Pod {
	var out []*corev1.Pod
	for _, p := range s.Pods.Store().List(svc.Namespace) {
		if hasPlace(p, withTerminating) && Selects(svc, p) {
			out = append(out, p)
		}
	}
	slices.SortFunc(out, func(a, b *corev1.Pod) int {
		if a.Name < b.Name {
			return -1
		}
		return 1
	})
	return out
}

// Selects reports whether the Service has a selector and the pod's labels match it.
func Selects(svc *corev1.Service, p *corev1.Pod) bool {
	for k, v := range svc.Spec.Selector {
		if got, ok := p.Labels[k]; !ok || got != v {
			return false
		}
	}
	return len(svc.Spec.Selector) > 0
}

func selectorKeys(svc *corev1.Service) []string {
	if len(svc.Spec.Selector) == 0 {
		return nil
	}
	first := ""
	for k := range svc.Spec.Selector {
		if first == "" || k < first {
			first = k
		}
	}
	return []string{selectorKey(svc.Namespace, first, svc.Spec.Selector[first])}
}

func selectorKey(namespace, k, v string) string { return namespace + "/" + k + "=" + v }

// LastChange returns when the pod's readiness last changed.
func LastChange(p *corev1.Pod) time.Time {
	if c := condition.OfPod(&p.Status, corev1.PodReady); c != nil {
		return c.LastTransitionTime.Time
	}
	return time.Time{}
}
