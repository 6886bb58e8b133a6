package controlplane

import (
	"context"
	"maps"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/metrics/pkg/apis/metrics/v1beta1"

	"fairlead.dev/internal/node/kwok"
	"fairlead.dev/internal/nodekind"
	"fairlead.dev/internal/server/auth"
	measured "fairlead.dev/internal/server/usage"
	"fairlead.dev/server"
)

// usageWindow is the window over which the usage of simulated pods is reported to be
// measured. The usage is exact at each moment, so the window is the shortest possible.
const usageWindow = time.Second

// usage computes the usage of simulated pods and nodes, and has that of others from a meter, for metrics.k8s.io.
type usage struct {
	objects auth.Lookup
	defs    *kwok.Definitions
	meter   *measured.Meter
}

func (u usage) reads() map[schema.GroupResource]server.ReadFunc {
	return map[schema.GroupResource]server.ReadFunc{v1beta1.Resource("pods"): u.pods, v1beta1.Resource("nodes"): u.nodes}
}

func (u usage) pods(ctx context.Context, namespace, name string) (out []runtime.Object, err error) {
	pods, err := u.found(ctx, corev1.Resource("pods"), namespace, name)
	for _, obj := range pods {
		pod := obj.(*corev1.Pod)
		if pod.Status.Phase != corev1.PodRunning || pod.Spec.NodeName == "" {
			continue
		}
		simulated, err := u.isSimulated(ctx, pod.Spec.NodeName)
		if err != nil {
			return nil, err
		}
		m := &v1beta1.PodMetrics{ObjectMeta: metav1.ObjectMeta{Name: pod.Name, Namespace: pod.Namespace, Labels: pod.Labels, CreationTimestamp: metav1.Now()}}
		if simulated {
			m.Timestamp, m.Window = metav1.Now(), metav1.Duration{Duration: usageWindow}
			for i := range pod.Spec.Containers {
				c := &pod.Spec.Containers[i]
				m.Containers = append(m.Containers, v1beta1.ContainerMetrics{Name: c.Name, Usage: u.defs.Use(pod, c)})
			}
		} else if !u.measure(pod, m) {
			continue
		}
		out = append(out, m)
	}
	return out, err
}

// measure sets the metrics of a pod from the meter; false if it has no figures of it. The pod's time is its earliest container's.
func (u usage) measure(pod *corev1.Pod, m *v1beta1.PodMetrics) bool {
	containers, ok := u.meter.Pod(pod.Spec.NodeName, pod.Namespace, pod.Name)
	for _, name := range slices.Sorted(maps.Keys(containers)) {
		c := containers[name]
		m.Containers = append(m.Containers, v1beta1.ContainerMetrics{Name: name, Usage: c.Resources})
		if m.Timestamp.IsZero() || c.At.Before(m.Timestamp.Time) {
			m.Timestamp, m.Window = metav1.NewTime(c.At), metav1.Duration{Duration: c.Window}
		}
	}
	return ok
}

func (u usage) nodes(ctx context.Context, _, name string) (out []runtime.Object, err error) {
	nodes, err := u.found(ctx, corev1.Resource("nodes"), "", name)
	if err != nil || len(nodes) == 0 {
		return nil, err
	}
	pods, err := u.objects.List(ctx, corev1.Resource("pods"), "")
	if err != nil {
		return nil, err
	}
	used := map[string]corev1.ResourceList{}
	for _, obj := range pods {
		pod := obj.(*corev1.Pod)
		if pod.Status.Phase != corev1.PodRunning || name != "" && pod.Spec.NodeName != name {
			continue
		}
		total := used[pod.Spec.NodeName]
		if total == nil {
			total = corev1.ResourceList{}
			used[pod.Spec.NodeName] = total
		}
		for i := range pod.Spec.Containers {
			for resource, q := range u.defs.Use(pod, &pod.Spec.Containers[i]) {
				sum := total[resource]
				sum.Add(q)
				total[resource] = sum
			}
		}
	}
	for _, obj := range nodes {
		n := obj.(*corev1.Node)
		m := &v1beta1.NodeMetrics{ObjectMeta: metav1.ObjectMeta{Name: n.Name, Labels: n.Labels, CreationTimestamp: metav1.Now()}}
		if nodekind.IsSimulated(n) {
			m.Timestamp, m.Window, m.Usage = metav1.Now(), metav1.Duration{Duration: usageWindow}, corev1.ResourceList{}
			for _, resource := range []corev1.ResourceName{corev1.ResourceCPU, corev1.ResourceMemory} {
				m.Usage[resource] = used[n.Name][resource]
			}
		} else if now, ok := u.meter.Node(n.Name); ok {
			m.Timestamp, m.Window, m.Usage = metav1.NewTime(now.At), metav1.Duration{Duration: now.Window}, now.Resources
		} else {
			continue
		}
		out = append(out, m)
	}
	return out, nil
}

// isSimulated reports whether a node is simulated; false if it does not exist.
func (u usage) isSimulated(ctx context.Context, name string) (bool, error) {
	nodes, err := u.found(ctx, corev1.Resource("nodes"), "", name)
	return len(nodes) > 0 && nodekind.IsSimulated(nodes[0].(*corev1.Node)), err
}

// found is the object of a name, or all of a namespace.
func (u usage) found(ctx context.Context, gr schema.GroupResource, namespace, name string) ([]runtime.Object, error) {
	if name == "" {
		return u.objects.List(ctx, gr, namespace)
	}
	obj, err := u.objects.Get(ctx, gr, namespace, name)
	if apierrors.IsNotFound(err) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return []runtime.Object{obj}, nil
}
