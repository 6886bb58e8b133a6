package horizontalpodautoscaler

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"net/url"
	"time"

	autoscalingv2 "k8s.io/api/autoscaling/v2"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"fairlead.dev/client"
)

// source reads the three metrics APIs.
type source struct{ c *client.Client }

type podMetrics struct {
	Items []struct {
		Metadata   metav1.ObjectMeta `json:"metadata"`
		Timestamp  metav1.Time       `json:"timestamp"`
		Window     metav1.Duration   `json:"window"`
		Containers []struct {
			Name  string              `json:"name"`
			Usage corev1.ResourceList `json:"usage"`
		} `json:"containers"`
	} `json:"items"`
}

type metricValues struct {
	Items []struct {
		DescribedObject corev1.ObjectReference `json:"describedObject"`
		Timestamp       metav1.Time            `json:"timestamp"`
		WindowSeconds   *int64                 `json:"windowSeconds"`
		Value           resource.Quantity      `json:"value"`
	} `json:"items"`
}

func (s source) get(ctx context.Context, path string, query url.Values, into any) error {
	res, err := s.c.REST().Do(ctx, client.Request{Path: path, Query: query})
	if err != nil {
		return err
	}
	return json.Unmarshal(res.Body, into)
}

// resource returns the pods' usage of a resource, or that of one container of each.
func (s source) resource(ctx context.Context, name corev1.ResourceName, namespace string, selector labels.Selector, container string) (readings, error) {
	var list podMetrics
	err := s.get(ctx, "/apis/metrics.k8s.io/v1beta1/namespaces/"+namespace+"/pods", url.Values{"labelSelector": {selector.String()}}, &list)
	if err != nil {
		return nil, fmt.Errorf("unable to fetch metrics from resource metrics API: %v", err)
	}
	if len(list.Items) == 0 {
		return nil, errors.New("no metrics returned from resource metrics API")
	}
	out := readings{}
	for _, pod := range list.Items {
		r := reading{at: pod.Timestamp.Time, window: pod.Window.Duration}
		known := container == "" && len(pod.Containers) > 0
		for _, c := range pod.Containers {
			q, has := c.Usage[name]
			if container == "" {
				known = known && has
			} else if c.Name != container {
				continue
			} else {
				known = has
			}
			r.value += q.MilliValue()
		}
		if known {
			out[pod.Metadata.Name] = r
		}
	}
	return out, nil
}

const customAPI = "/apis/custom.metrics.k8s.io/v1beta2/namespaces/"

// absent words an error of a metrics API; if the API is not served, its path does not exist.
func absent(err error, group string) error {
	if s := apierrors.APIStatus(nil); errors.As(err, &s) && s.Status().Code == 404 {
		return fmt.Errorf("unable to fetch metrics from custom metrics API: no custom metrics API (%s) registered", group)
	}
	return fmt.Errorf("unable to fetch metrics from custom metrics API: %v", err)
}

func selectors(pods, of labels.Selector) url.Values {
	q := url.Values{}
	if pods != nil && !pods.Empty() {
		q.Set("labelSelector", pods.String())
	}
	if !of.Empty() {
		q.Set("metricLabelSelector", of.String())
	}
	return q
}

// ofPods returns the values of a metric of pods.
func (s source) ofPods(ctx context.Context, metric, namespace string, pods, of labels.Selector) (readings, error) {
	var list metricValues
	if err := s.get(ctx, customAPI+namespace+"/pods/*/"+metric, selectors(pods, of), &list); err != nil {
		return nil, absent(err, "custom.metrics.k8s.io")
	}
	if len(list.Items) == 0 {
		return nil, errors.New("no metrics returned from custom metrics API")
	}
	out := readings{}
	for _, m := range list.Items {
		r := reading{at: m.Timestamp.Time, window: time.Minute, value: m.Value.MilliValue()}
		if m.WindowSeconds != nil {
			r.window = time.Duration(*m.WindowSeconds) * time.Second
		}
		out[m.DescribedObject.Name] = r
	}
	return out, nil
}

// ofObject returns the value of a metric of an object.
func (s source) ofObject(ctx context.Context, metric, namespace string, ref autoscalingv2.CrossVersionObjectReference, of labels.Selector) (int64, error) {
	mapping, err := s.c.Mapping(ctx, schema.FromAPIVersionAndKind(ref.APIVersion, ref.Kind))
	if err != nil {
		return 0, fmt.Errorf("unable to fetch metrics from custom metrics API: %v", err)
	}
	path := customAPI + namespace + "/" + mapping.GVR.GroupResource().String() + "/" + ref.Name + "/" + metric
	if ref.Kind == "Namespace" && mapping.GVR.Group == "" {
		path = customAPI + namespace + "/metrics/" + metric
	}
	var list metricValues
	if err := s.get(ctx, path, selectors(nil, of), &list); err != nil {
		return 0, absent(err, "custom.metrics.k8s.io")
	}
	if len(list.Items) == 0 {
		return 0, errors.New("unable to fetch metrics from custom metrics API: no metrics returned")
	}
	return list.Items[0].Value.MilliValue(), nil
}

// external returns the sum of the values of an external metric.
func (s source) external(ctx context.Context, metric, namespace string, of labels.Selector) (sum int64, err error) {
	var list metricValues
	query := url.Values{}
	if !of.Empty() {
		query.Set("labelSelector", of.String())
	}
	if err := s.get(ctx, "/apis/external.metrics.k8s.io/v1beta1/namespaces/"+namespace+"/"+metric, query, &list); err != nil {
		return 0, fmt.Errorf("unable to fetch metrics from external metrics API: %v", err)
	}
	if len(list.Items) == 0 {
		return 0, errors.New("no metrics returned from external metrics API")
	}
	for _, m := range list.Items {
		if v := m.Value.MilliValue(); v > 0 && sum > math.MaxInt64-v {
			return math.MaxInt64, nil
		} else {
			sum += v
		}
	}
	return sum, nil
}
