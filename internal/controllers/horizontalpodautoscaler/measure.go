package horizontalpodautoscaler

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	autoscalingv2 "k8s.io/api/autoscaling/v2"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"

	"fairlead.dev/controller"
)

// measure computes the size for each metric and returns the largest, with the metric that requires it. If no metric gives a size, size is below 0 and err has the reason.
func (p *pass) measure() (size int32, metric string, seen []autoscalingv2.MetricStatus, err error) {
	pods, selector, err := p.selected()
	if err != nil {
		return -1, "", nil, err
	}
	specs := p.hpa.Spec.Metrics
	seen = make([]autoscalingv2.MetricStatus, len(specs))
	invalid, reason := 0, ""
	var first, bare error
	for i := range specs {
		one := &metricPass{pass: p, pods: pods, selector: selector, status: &seen[i]}
		n, name, e := one.compute(&specs[i])
		if e != nil {
			p.warn(one.reason, one.bare)
			if invalid++; first == nil {
				first, bare, reason = e, one.bare, one.reason
			}
			continue
		}
		if size == 0 || n > size {
			size, metric = n, name
		}
	}
	if first != nil {
		err = fmt.Errorf("invalid metrics (%v invalid out of %v), first error is: %v", invalid, len(specs), first)
	}
	if invalid >= len(specs) || invalid > 0 && size < p.scale.Spec.Replicas {
		p.set(autoscalingv2.ScalingActive, false, reason, fmt.Sprintf("the HPA was unable to compute the replica count: %v", bare))
		return -1, "", seen, err
	}
	p.set(autoscalingv2.ScalingActive, true, "ValidMetricFound", "the HPA was able to successfully calculate a replica count from "+metric)
	return size, metric, seen, err
}

// selected returns the target's pods, and an error if another autoscaler has some of them.
func (p *pass) selected() ([]*corev1.Pod, labels.Selector, error) {
	fail := func(event, reason, message, condition string) error {
		err := errors.New(message)
		p.warn(event, err)
		p.set(autoscalingv2.ScalingActive, false, reason, condition)
		return err
	}
	text := p.scale.Status.Selector
	if text == "" {
		return nil, nil, fail("SelectorRequired", "InvalidSelector", "selector is required", "the HPA target's scale is missing a selector")
	}
	selector, err := labels.Parse(text)
	if err != nil {
		message := fmt.Sprintf("couldn't convert selector into a corresponding internal selector object: %v", err)
		return nil, nil, fail("InvalidSelector", "InvalidSelector", message, message)
	}
	var pods []*corev1.Pod
	for _, pod := range p.autoscalers.pods.Store().List(p.hpa.Namespace) {
		if selector.Matches(labels.Set(pod.Labels)) {
			pods = append(pods, pod)
		}
	}
	if others := p.rivals(selector, pods); len(others) > 1 {
		message := fmt.Sprintf("pods by selector %v are controlled by more than one HPA (e.g. %v)", text, others[:2])
		return nil, nil, fail("AmbiguousSelector", "AmbiguousSelector", message, message)
	}
	return pods, selector, nil
}

// rivals returns the autoscalers whose last known selectors match any of the pods.
func (p *pass) rivals(selector labels.Selector, pods []*corev1.Pod) (names []controller.Key) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.past.namespace, p.past.selector = p.hpa.Namespace, selector
	for k, other := range p.mu.past {
		if other.selector != nil && other.namespace == p.hpa.Namespace &&
			slices.ContainsFunc(pods, func(pod *corev1.Pod) bool { return other.selector.Matches(labels.Set(pod.Labels)) }) {
			names = append(names, k)
		}
	}
	slices.SortFunc(names, func(a, b controller.Key) int { return strings.Compare(a.String(), b.String()) })
	return names
}

// metricPass computes the size for one metric. If it fails, reason is the condition's reason and bare the error for
// the condition's message.
type metricPass struct {
	*pass
	pods     []*corev1.Pod
	selector labels.Selector
	status   *autoscalingv2.MetricStatus
	reason   string
	bare     error
}

func (m *metricPass) compute(spec *autoscalingv2.MetricSpec) (size int32, name string, err error) {
	var about string
	switch spec.Type {
	case autoscalingv2.ResourceMetricSourceType:
		m.reason, about = "FailedGetResourceMetric", fmt.Sprintf("failed to get %s resource metric value", spec.Resource.Name)
		m.status.Type, m.status.Resource = spec.Type, &autoscalingv2.ResourceMetricStatus{Name: spec.Resource.Name}
		size, name, err = m.resource(spec.Resource.Name, "", spec.Resource.Target, &m.status.Resource.Current)
	case autoscalingv2.ContainerResourceMetricSourceType:
		s := spec.ContainerResource
		m.reason, about = "FailedGetContainerResourceMetric", fmt.Sprintf("failed to get %s container metric value", s.Container)
		m.status.Type, m.status.ContainerResource = spec.Type, &autoscalingv2.ContainerResourceMetricStatus{Name: s.Name, Container: s.Container}
		size, name, err = m.resource(s.Name, s.Container, s.Target, &m.status.ContainerResource.Current)
	case autoscalingv2.PodsMetricSourceType:
		m.reason, about = "FailedGetPodsMetric", "failed to get pods metric value"
		m.status.Type, m.status.Pods = spec.Type, &autoscalingv2.PodsMetricStatus{Metric: spec.Pods.Metric}
		size, name, err = m.custom(spec.Pods)
	case autoscalingv2.ObjectMetricSourceType:
		m.reason, about = "FailedGetObjectMetric", "failed to get object metric value"
		m.status.Type, m.status.Object = spec.Type, &autoscalingv2.ObjectMetricStatus{Metric: spec.Object.Metric, DescribedObject: spec.Object.DescribedObject}
		size, name, err = m.object(spec.Object)
	case autoscalingv2.ExternalMetricSourceType:
		m.reason, about = "FailedGetExternalMetric", fmt.Sprintf("failed to get %s external metric value", spec.External.Metric.Name)
		m.status.Type, m.status.External = spec.Type, &autoscalingv2.ExternalMetricStatus{Metric: spec.External.Metric}
		size, name, err = m.external(spec.External)
	default:
		m.reason = "InvalidMetricSourceType"
		m.bare = fmt.Errorf("unknown metric source type %q", string(spec.Type))
		return 0, "", m.bare
	}
	if m.bare = err; err != nil {
		*m.status = autoscalingv2.MetricStatus{}
		err = fmt.Errorf("%s: %v", about, err)
	}
	return size, name, err
}

// resource evaluates containers' usage of a resource.
func (m *metricPass) resource(name corev1.ResourceName, container string, target autoscalingv2.MetricTarget, current *autoscalingv2.MetricValueStatus) (int32, string, error) {
	quantity := func(n int64) *resource.Quantity {
		format := resource.DecimalSI
		if name == corev1.ResourceMemory {
			format = resource.BinarySI
		}
		return resource.NewMilliQuantity(n, format)
	}
	word := "utilization"
	if target.AverageValue != nil {
		word = "usage"
	} else if target.AverageUtilization == nil {
		return 0, "", errors.New("invalid resource metric source: neither an average utilization target nor an average value (usage) target was set")
	}
	got, err := m.metrics.resource(m.ctx, name, m.hpa.Namespace, m.selector, container)
	if err != nil {
		return 0, "", fmt.Errorf("failed to get %s %s: unable to get metrics for resource %s: %v", name, word, name, err)
	}
	g, err := m.options.group(m.pods, got, name, time.Now())
	if err != nil {
		return 0, "", fmt.Errorf("failed to get %s %s: %v", name, word, err)
	}
	var requests map[string]int64
	var wanted int64
	if target.AverageValue != nil {
		wanted = target.AverageValue.MilliValue()
	} else {
		wanted = int64(*target.AverageUtilization)
		if requests, err = requestsOf(m.pods, container, name); err != nil {
			return 0, "", fmt.Errorf("failed to get %s %s: %v", name, word, err)
		}
	}
	out, err := byPods(g, got, requests, wanted, m.scale.Spec.Replicas, m.tolerance())
	if err != nil {
		return 0, "", fmt.Errorf("failed to get %s %s: %v", name, word, err)
	}
	current.AverageValue = quantity(out.average)
	if requests == nil {
		return out.replicas, name.String() + " resource", nil
	}
	current.AverageUtilization = &out.utilization
	what := " resource utilization (percentage of request)"
	if container != "" {
		what = " container" + what
	}
	return out.replicas, name.String() + what, nil
}

func (m *metricPass) custom(s *autoscalingv2.PodsMetricSource) (int32, string, error) {
	of, err := metav1.LabelSelectorAsSelector(s.Metric.Selector)
	if err != nil {
		return 0, "", err
	}
	got, err := m.metrics.ofPods(m.ctx, s.Metric.Name, m.hpa.Namespace, m.selector, of)
	if err != nil {
		return 0, "", fmt.Errorf("unable to get metric %s: %v", s.Metric.Name, err)
	}
	g, err := m.options.group(m.pods, got, "", time.Now())
	if err != nil {
		return 0, "", err
	}
	out, err := byPods(g, got, nil, s.Target.AverageValue.MilliValue(), m.scale.Spec.Replicas, m.tolerance())
	if err != nil {
		return 0, "", err
	}
	m.status.Pods.Current.AverageValue = resource.NewMilliQuantity(out.average, resource.DecimalSI)
	return out.replicas, "pods metric " + s.Metric.Name, nil
}

func (m *metricPass) object(s *autoscalingv2.ObjectMetricSource) (int32, string, error) {
	of, err := metav1.LabelSelectorAsSelector(s.Metric.Selector)
	if err != nil {
		return 0, "", err
	}
	if s.Target.Value == nil && s.Target.AverageValue == nil {
		return 0, "", errors.New("invalid object metric source: neither a value target nor an average value target was set")
	}
	value, err := m.metrics.ofObject(m.ctx, s.Metric.Name, m.hpa.Namespace, s.DescribedObject, of)
	if err != nil {
		return 0, "", fmt.Errorf("unable to get metric %s: %v on %s %s/%s", s.Metric.Name, s.DescribedObject.Kind, m.hpa.Namespace, s.DescribedObject.Name, err)
	}
	if s.Target.Type == autoscalingv2.ValueMetricType {
		m.status.Object.Current.Value = resource.NewMilliQuantity(value, resource.DecimalSI)
		n, err := byWhole(m.pods, value, s.Target.Value.MilliValue(), m.scale.Spec.Replicas, m.tolerance())
		return n, fmt.Sprintf("%s metric %s", s.DescribedObject.Kind, s.Metric.Name), err
	}
	n, average := perPod(value, s.Target.AverageValue.MilliValue(), m.scale.Status.Replicas, m.tolerance())
	m.status.Object.Current.AverageValue = resource.NewMilliQuantity(average, resource.DecimalSI)
	return n, fmt.Sprintf("external metric %s(%+v)", s.Metric.Name, s.Metric.Selector), nil
}

func (m *metricPass) external(s *autoscalingv2.ExternalMetricSource) (int32, string, error) {
	of, err := metav1.LabelSelectorAsSelector(s.Metric.Selector)
	if err != nil {
		return 0, "", err
	}
	if s.Target.Value == nil && s.Target.AverageValue == nil {
		return 0, "", errors.New("invalid external metric source: neither a value target nor an average value target was set")
	}
	name := fmt.Sprintf("external metric %s(%+v)", s.Metric.Name, s.Metric.Selector)
	value, err := m.metrics.external(m.ctx, s.Metric.Name, m.hpa.Namespace, of)
	if err != nil {
		err = fmt.Errorf("unable to get external metric %s/%s/%+v: %s", m.hpa.Namespace, s.Metric.Name, s.Metric.Selector, err)
		if s.Target.AverageValue != nil {
			return 0, "", fmt.Errorf("failed to get %s external metric: %v", s.Metric.Name, err)
		}
		return 0, "", fmt.Errorf("failed to get external metric %s: %v", s.Metric.Name, err)
	}
	if s.Target.AverageValue != nil {
		n, average := perPod(value, s.Target.AverageValue.MilliValue(), m.scale.Status.Replicas, m.tolerance())
		m.status.External.Current.AverageValue = resource.NewMilliQuantity(average, resource.DecimalSI)
		return n, name, nil
	}
	m.status.External.Current.Value = resource.NewMilliQuantity(value, resource.DecimalSI)
	n, err := byWhole(m.pods, value, s.Target.Value.MilliValue(), m.scale.Spec.Replicas, m.tolerance())
	return n, name, err
}
