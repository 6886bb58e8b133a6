package horizontalpodautoscaler

import (
	"errors"
	"fmt"
	"math"
	"time"

	corev1 "k8s.io/api/core/v1"

	"fairlead.dev/internal/condition"
)

// reading is the usage of one pod, in thousandths.
type reading struct {
	at     time.Time
	window time.Duration
	value  int64
}

// readings are by the pods' names.
type readings map[string]reading

// tolerance is how much a ratio may differ from 1, below and above.
type tolerance struct{ down, up float64 }

func (t tolerance) within(ratio float64) bool { return 1-t.down <= ratio && ratio <= 1+t.up }

func (p *pass) tolerance() tolerance {
	t := tolerance{p.options.Tolerance, p.options.Tolerance}
	if b := p.hpa.Spec.Behavior; b != nil && b.ScaleDown != nil && b.ScaleDown.Tolerance != nil {
		t.down = b.ScaleDown.Tolerance.AsApproximateFloat64()
	}
	if b := p.hpa.Spec.Behavior; b != nil && b.ScaleUp != nil && b.ScaleUp.Tolerance != nil {
		t.up = b.ScaleUp.Tolerance.AsApproximateFloat64()
	}
	return t
}

// groups divides pods by how they count. Readings of pods that do not count are removed.
type groups struct {
	ready            int
	unready, missing []string
}

// group returns an error if no pod counts.
func (o *Options) group(pods []*corev1.Pod, m readings, resource corev1.ResourceName, now time.Time) (g groups, err error) {
	if len(pods) == 0 {
		return g, errors.New("no pods returned by selector while calculating replica count")
	}
	for _, pod := range pods {
		r, known := m[pod.Name]
		switch {
		case pod.DeletionTimestamp != nil || pod.Status.Phase == corev1.PodFailed:
			delete(m, pod.Name)
		case pod.Status.Phase == corev1.PodPending:
			g.unready = append(g.unready, pod.Name)
			delete(m, pod.Name)
		case !known:
			g.missing = append(g.missing, pod.Name)
		case resource == corev1.ResourceCPU && o.initializing(pod, r, now):
			g.unready = append(g.unready, pod.Name)
			delete(m, pod.Name)
		default:
			g.ready++
		}
	}
	if len(m) == 0 {
		return g, errors.New("did not receive metrics for targeted pods (pods might be unready)")
	}
	return g, nil
}

// initializing reports whether a pod's CPU usage is that of its start, and so not representative.
func (o *Options) initializing(pod *corev1.Pod, r reading, now time.Time) bool {
	c := condition.OfPod(&pod.Status, corev1.PodReady)
	if c == nil || pod.Status.StartTime == nil {
		return true
	}
	started, unready := pod.Status.StartTime.Time, c.Status == corev1.ConditionFalse
	if started.Add(o.Initialization).After(now) {
		return unready || r.at.Before(c.LastTransitionTime.Add(r.window))
	}
	return unready && started.Add(o.InitialReadiness).After(c.LastTransitionTime.Time)
}

// measured is the result of evaluating readings of pods.
type measured struct {
	replicas    int32
	utilization int32 // in percent of the requests, if there are
	average     int64 // of a pod, in thousandths
}

// byPods computes a size from readings of grouped pods. With requests, the target is a percentage of them;
// otherwise it is the average usage of a pod.
func byPods(g groups, m readings, requests map[string]int64, target int64, current int32, t tolerance) (measured, error) {
	first, err := ratioOf(m, requests, target)
	if err != nil {
		return measured{}, err
	}
	out := measured{current, first.utilization, first.average}
	grows := first.ratio > 1
	if !(grows && len(g.unready) > 0) && len(g.missing) == 0 {
		if !t.within(first.ratio) {
			out.replicas = ceil(first.ratio * float64(g.ready))
		}
		return out, nil
	}
	// Unknown readings are assumed to be such as to change the size least.
	for _, name := range g.missing {
		switch {
		case first.ratio < 1 && requests != nil:
			m[name] = reading{value: requests[name] * max(100, target) / 100}
		case first.ratio < 1:
			m[name] = reading{value: target}
		case grows:
			m[name] = reading{}
		}
	}
	if grows {
		for _, name := range g.unready {
			m[name] = reading{}
		}
	}
	second, err := ratioOf(m, requests, target)
	if err != nil {
		return measured{}, err
	}
	if t.within(second.ratio) || first.ratio < 1 && second.ratio > 1 || grows && second.ratio < 1 {
		return out, nil
	}
	if n := ceil(second.ratio * float64(len(m))); (second.ratio < 1) == (n <= current) || n == current {
		out.replicas = n
	}
	return out, nil
}

// ratio is the ratio of usage to target.
type ratio struct {
	ratio       float64
	utilization int32
	average     int64
}

func ratioOf(m readings, requests map[string]int64, target int64) (ratio, error) {
	var used, wanted, n int64
	for name, r := range m {
		request, known := requests[name]
		if requests != nil && !known {
			continue
		}
		used += r.value
		wanted += request
		n++
	}
	if requests == nil {
		average := used / n
		return ratio{ratio: float64(average) / float64(target), average: average}, nil
	}
	if wanted == 0 {
		return ratio{}, errors.New("no metrics returned matched known pods")
	}
	percent := int32(used * 100 / wanted)
	return ratio{float64(percent) / float64(target), percent, used / n}, nil
}

func ceil(x float64) int32 { return int32(min(math.Ceil(x), math.MaxInt32)) }

// requestsOf returns the requests of pods, or of one of their containers, for a resource.
func requestsOf(pods []*corev1.Pod, container string, resource corev1.ResourceName) (map[string]int64, error) {
	out := map[string]int64{}
	for _, pod := range pods {
		if whole := pod.Spec.Resources; whole != nil && len(whole.Requests) > 0 && container == "" {
			q, ok := whole.Requests[resource]
			if !ok {
				return nil, fmt.Errorf("missing pod-level request for %s in Pod %s", resource, pod.Name)
			}
			out[pod.Name] = q.MilliValue()
			continue
		}
		total, found := int64(0), false
		for _, c := range longRunning(pod) {
			if container != "" && c.Name != container {
				continue
			}
			q, ok := c.Resources.Requests[resource]
			if !ok {
				return nil, fmt.Errorf("missing request for %s in container %s of Pod %s", resource, c.Name, pod.Name)
			}
			total, found = total+q.MilliValue(), true
		}
		if container != "" && !found {
			return nil, fmt.Errorf("container %s not found in Pod %s", container, pod.Name)
		}
		out[pod.Name] = total
	}
	return out, nil
}

// longRunning returns a pod's containers and sidecars.
func longRunning(pod *corev1.Pod) []corev1.Container {
	all := append([]corev1.Container(nil), pod.Spec.Containers...)
	for _, c := range pod.Spec.InitContainers {
		if c.RestartPolicy != nil && *c.RestartPolicy == corev1.ContainerRestartPolicyAlways {
			all = append(all, c)
		}
	}
	return all
}

// byWhole computes a size from one value for all pods. From zero, the ratio is the size.
func byWhole(pods []*corev1.Pod, value, target int64, current int32, t tolerance) (int32, error) {
	r := float64(value) / float64(target)
	if current == 0 {
		return ceil(r), nil
	}
	if t.within(r) {
		return current, nil
	}
	if len(pods) == 0 {
		return 0, errors.New("unable to calculate ready pods: no pods returned by selector while calculating replica count")
	}
	ready := 0
	for _, pod := range pods {
		if c := condition.OfPod(&pod.Status, corev1.PodReady); pod.Status.Phase == corev1.PodRunning && c != nil && c.Status == corev1.ConditionTrue {
			ready++
		}
	}
	return ceil(r * float64(ready)), nil
}

// perPod computes a size from one value that the pods share; average is the value per pod.
func perPod(value, target int64, pods int32, t tolerance) (size int32, average int64) {
	size = pods
	if r := float64(value) / (float64(target) * float64(pods)); !t.within(r) {
		size = ceil(float64(value) / float64(target))
	}
	return size, int64(math.Ceil(float64(value) / float64(max(pods, 1))))
}
