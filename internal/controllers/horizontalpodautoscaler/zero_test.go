package horizontalpodautoscaler_test

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/util/version"
	"k8s.io/utils/ptr"

	"fairlead.dev/client"
	"fairlead.dev/internal/controllers/horizontalpodautoscaler"
	"fairlead.dev/internal/controlplane"
	"fairlead.dev/internal/controlplane/controlplanetest"
	"fairlead.dev/internal/resource/gates"
	"fairlead.dev/testenv"
)

// queue is a transport that answers for the external metrics API, with the length of a queue.
type queue struct {
	to     http.RoundTripper
	length *atomic.Int64
}

func (q queue) RoundTrip(r *http.Request) (*http.Response, error) {
	if !strings.HasPrefix(r.URL.Path, "/apis/external.metrics.k8s.io/") {
		return q.to.RoundTrip(r)
	}
	body := fmt.Sprintf(`{"kind":"ExternalMetricValueList","apiVersion":"external.metrics.k8s.io/v1beta1","items":[{"metricName":"queue","timestamp":"2026-01-01T00:00:00Z","value":"%d"}]}`, q.length.Load())
	return &http.Response{
		StatusCode: http.StatusOK, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1, Request: r,
		Header: http.Header{"Content-Type": {"application/json"}}, Body: io.NopCloser(strings.NewReader(body)), ContentLength: int64(len(body)),
	}, nil
}

// byQueue is the metric of the queue, with a target of 1.
func byQueue() autoscalingv2.MetricSpec {
	one := resource.MustParse("1")
	return autoscalingv2.MetricSpec{Type: autoscalingv2.ExternalMetricSourceType, External: &autoscalingv2.ExternalMetricSource{
		Metric: autoscalingv2.MetricIdentifier{Name: "queue"}, Target: autoscalingv2.MetricTarget{Type: autoscalingv2.ValueMetricType, Value: &one},
	}}
}

// TestScalesToZeroAndBack checks that an autoscaler with minReplicas 0 scales to zero and back by an external metric,
// raises a size of zero when minReplicas is raised, and leaves a target alone that a user has scaled to zero.
func TestScalesToZeroAndBack(t *testing.T) {
	env := testenv.New(t, testenv.Options{Nodes: 1, Controllers: []string{"*", "-horizontalpodautoscaler"}})
	var length atomic.Int64
	config := env.Config()
	config.Wrap(func(to http.RoundTripper) http.RoundTripper { return queue{to, &length} })
	c, err := client.New(config, client.Options{})
	if err != nil {
		t.Fatal(err)
	}
	run(t, c, horizontalpodautoscaler.Options{})
	deployments := client.For[*appsv1.Deployment](c).Namespace("default")
	scalers := client.For[*autoscalingv2.HorizontalPodAutoscaler](c).Namespace("default")
	size := func(n int32) {
		t.Helper()
		await(t, deployments, "web", fmt.Sprint("of size ", n), func(d *appsv1.Deployment) bool { return *d.Spec.Replicas == n && d.Status.Replicas == n })
	}
	is := func(kind autoscalingv2.HorizontalPodAutoscalerConditionType, status corev1.ConditionStatus, reason string) {
		t.Helper()
		await(t, scalers, "web", reason, func(h *autoscalingv2.HorizontalPodAutoscaler) bool {
			got := condition(h, kind)
			return got.Status == status && got.Reason == reason && ptr.Deref(h.Status.ObservedGeneration, 0) == h.Generation
		})
	}
	if _, err := deployments.Create(t.Context(), web("1m")); err != nil {
		t.Fatal(err)
	}
	size(1)
	h := scaler(byQueue())
	h.Spec.MinReplicas, h.Spec.MaxReplicas = ptr.To[int32](0), 3
	if _, err := scalers.Create(t.Context(), h); err != nil {
		t.Fatal(err)
	}
	size(0)
	is(autoscalingv2.ScaledToZero, corev1.ConditionTrue, "ScaledToZero")

	length.Store(3)
	size(3)
	is(autoscalingv2.ScaledToZero, corev1.ConditionFalse, "NotScaledToZero")

	length.Store(0)
	size(0)
	is(autoscalingv2.ScaledToZero, corev1.ConditionTrue, "ScaledToZero")
	set := func(field string, n int) {
		t.Helper()
		if _, err := scalers.Patch(t.Context(), "web", client.MergePatch(map[string]any{"spec": map[string]any{field: n}})); err != nil {
			t.Fatal(err)
		}
	}
	set("minReplicas", 2)
	size(2)
	is(autoscalingv2.ScaledToZero, corev1.ConditionFalse, "NotScaledToZero")

	// A pass that observes a new generation has read the status that the passes before it wrote.
	set("maxReplicas", 9)
	is(autoscalingv2.ScaledToZero, corev1.ConditionFalse, "NotScaledToZero")
	if _, err := deployments.Patch(t.Context(), "web", client.MergePatch(map[string]any{"spec": map[string]any{"replicas": 0}})); err != nil {
		t.Fatal(err)
	}
	is(autoscalingv2.ScalingActive, corev1.ConditionFalse, "ScalingDisabled")
	length.Store(3)
	set("maxReplicas", 8)
	is(autoscalingv2.ScalingActive, corev1.ConditionFalse, "ScalingDisabled")
	size(0)
}

// TestScalesBefore137 checks that without HPAScaleToZero and HPAGeneration, as in Kubernetes 1.36, an autoscaler gets
// neither the condition ScaledToZero nor an observed generation.
func TestScalesBefore137(t *testing.T) {
	of, err := gates.New(version.MustParse("1.36"))
	if err != nil {
		t.Fatal(err)
	}
	api := gates.API{Gates: of}
	cp := controlplanetest.Start(t, controlplane.Options{Controllers: []string{"*", "-horizontalpodautoscaler"}, Scheduler: true, Nodes: 1, API: api})
	var length atomic.Int64
	config := cp.Config()
	config.Wrap(func(to http.RoundTripper) http.RoundTripper { return queue{to, &length} })
	c, err := client.New(config, client.Options{})
	if err != nil {
		t.Fatal(err)
	}
	run(t, c, horizontalpodautoscaler.Options{NoScaleToZero: true, NoGeneration: true})
	deployments := client.For[*appsv1.Deployment](c).Namespace("default")
	scalers := client.For[*autoscalingv2.HorizontalPodAutoscaler](c).Namespace("default")
	if _, err := deployments.Create(t.Context(), web("1m")); err != nil {
		t.Fatal(err)
	}
	length.Store(3)
	if _, err := scalers.Create(t.Context(), scaler(byQueue())); err != nil {
		t.Fatal(err)
	}
	await(t, scalers, "web", "scaled to 3", func(h *autoscalingv2.HorizontalPodAutoscaler) bool {
		if condition(h, autoscalingv2.ScaledToZero).Type != "" || h.Status.ObservedGeneration != nil {
			t.Errorf("status %+v", h.Status)
		}
		return h.Status.DesiredReplicas == 3
	})
	if _, err := deployments.Patch(t.Context(), "web", client.MergePatch(map[string]any{"spec": map[string]any{"replicas": 0}})); err != nil {
		t.Fatal(err)
	}
	await(t, scalers, "web", "disabled", func(h *autoscalingv2.HorizontalPodAutoscaler) bool {
		return condition(h, autoscalingv2.ScalingActive).Reason == "ScalingDisabled" && condition(h, autoscalingv2.ScaledToZero).Type == ""
	})
}
