package horizontalpodautoscaler_test

import (
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"net/url"
	"strings"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/metrics/pkg/apis/metrics/v1beta1"
	"k8s.io/utils/ptr"

	"fairlead.dev/client"
	"fairlead.dev/controller"
	"fairlead.dev/informer"
	"fairlead.dev/internal/controllers/horizontalpodautoscaler"
	"fairlead.dev/testenv"
)

// start starts a control plane with a short autoscaler period.
func start(t *testing.T) (*client.Client, *testenv.Env) {
	t.Helper()
	env := testenv.New(t, testenv.Options{Nodes: 1, Controllers: []string{"*", "-horizontalpodautoscaler"}})
	c := env.Client(t)
	run(t, c, horizontalpodautoscaler.Options{})
	return c, env
}

// run runs the controller with a client until the test ends.
func run(t *testing.T, c *client.Client, o horizontalpodautoscaler.Options) {
	t.Helper()
	o.Period, o.Stabilization = 100*time.Millisecond, time.Second
	informers := informer.NewSet(c)
	recorder := client.NewRecorder(c, "test")
	r := horizontalpodautoscaler.New(controller.Env{
		Client: c, Informers: informers, Recorder: recorder, Log: slog.New(slog.NewTextHandler(io.Discard, nil)),
	}, o)
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	informers.Start(ctx)
	go func() { done <- r.Run(ctx) }()
	t.Cleanup(func() {
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
		informers.Stop()
		recorder.Close()
	})
}

func await[T client.Object](t *testing.T, r client.Resource[T], name, what string, ok func(T) bool) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 60*time.Second)
	defer cancel()
	w, err := r.Watch(ctx, metav1.ListOptions{FieldSelector: "metadata.name=" + name})
	if err != nil {
		t.Fatal(err)
	}
	defer w.Stop()
	var last T
	for {
		ev, err := w.Next(ctx)
		if err != nil {
			text, _ := json.Marshal(last)
			t.Fatalf("%s: never %s: %v; last seen %s", name, what, err, text)
		}
		if last = ev.Object; ok(last) {
			return
		}
	}
}

func web(usage string) *appsv1.Deployment {
	labels := map[string]string{"app": "web"}
	return &appsv1.Deployment{
		ObjectMeta: metav1.ObjectMeta{Name: "web"},
		Spec: appsv1.DeploymentSpec{
			Selector: &metav1.LabelSelector{MatchLabels: labels},
			Template: corev1.PodTemplateSpec{
				ObjectMeta: metav1.ObjectMeta{Labels: labels, Annotations: map[string]string{"kwok.x-k8s.io/usage-cpu": usage}},
				Spec: corev1.PodSpec{Containers: []corev1.Container{{
					Name: "c", Image: "nginx",
					Resources: corev1.ResourceRequirements{Requests: corev1.ResourceList{
						corev1.ResourceCPU: resource.MustParse("100m"), corev1.ResourceMemory: resource.MustParse("64Mi"),
					}},
				}}},
			},
		},
	}
}

func scaler(metrics ...autoscalingv2.MetricSpec) *autoscalingv2.HorizontalPodAutoscaler {
	return &autoscalingv2.HorizontalPodAutoscaler{
		ObjectMeta: metav1.ObjectMeta{Name: "web"},
		Spec: autoscalingv2.HorizontalPodAutoscalerSpec{
			ScaleTargetRef: autoscalingv2.CrossVersionObjectReference{APIVersion: "apps/v1", Kind: "Deployment", Name: "web"},
			MinReplicas:    ptr.To(int32(1)), MaxReplicas: 4, Metrics: metrics,
		},
	}
}

func cpu(percent int32) autoscalingv2.MetricSpec {
	return autoscalingv2.MetricSpec{Type: autoscalingv2.ResourceMetricSourceType, Resource: &autoscalingv2.ResourceMetricSource{
		Name: corev1.ResourceCPU, Target: autoscalingv2.MetricTarget{Type: autoscalingv2.UtilizationMetricType, AverageUtilization: &percent},
	}}
}

func condition(h *autoscalingv2.HorizontalPodAutoscaler, t autoscalingv2.HorizontalPodAutoscalerConditionType) autoscalingv2.HorizontalPodAutoscalerCondition {
	for _, c := range h.Status.Conditions {
		if c.Type == t {
			return c
		}
	}
	return autoscalingv2.HorizontalPodAutoscalerCondition{}
}

// TestFollowsUsage checks that a deployment scales up under high usage and down under low usage.
func TestFollowsUsage(t *testing.T) {
	c, _ := start(t)
	deployments := client.For[*appsv1.Deployment](c).Namespace("default")
	scalers := client.For[*autoscalingv2.HorizontalPodAutoscaler](c).Namespace("default")
	if _, err := deployments.Create(t.Context(), web("150m")); err != nil {
		t.Fatal(err)
	}
	if _, err := scalers.Create(t.Context(), scaler(cpu(50))); err != nil {
		t.Fatal(err)
	}
	await(t, deployments, "web", "4 ready", func(d *appsv1.Deployment) bool { return d.Status.ReadyReplicas == 4 })
	await(t, scalers, "web", "at its most", func(h *autoscalingv2.HorizontalPodAutoscaler) bool {
		return h.Status.CurrentReplicas == 4 && condition(h, autoscalingv2.ScalingLimited).Reason == "TooManyReplicas" &&
			condition(h, autoscalingv2.ScalingActive).Reason == "ValidMetricFound" &&
			len(h.Status.CurrentMetrics) == 1 && *h.Status.CurrentMetrics[0].Resource.Current.AverageUtilization == 150
	})
	pods := client.For[*corev1.Pod](c).Namespace("default")
	list, err := pods.List(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range list.Items {
		if _, err := pods.Patch(t.Context(), p.Name, client.MergePatch(map[string]any{
			"metadata": map[string]any{"annotations": map[string]string{"kwok.x-k8s.io/usage-cpu": "10m"}},
		})); err != nil && !apierrors.IsNotFound(err) { // it may have been removed already
			t.Fatal(err)
		}
	}
	await(t, deployments, "web", "1 left", func(d *appsv1.Deployment) bool { return *d.Spec.Replicas == 1 && d.Status.Replicas == 1 })
}

// TestConditions checks the conditions that explain why there is no scaling.
func TestConditions(t *testing.T) {
	c, _ := start(t)
	deployments := client.For[*appsv1.Deployment](c).Namespace("default")
	scalers := client.For[*autoscalingv2.HorizontalPodAutoscaler](c).Namespace("default")
	one := resource.MustParse("1")
	average := autoscalingv2.MetricTarget{Type: autoscalingv2.AverageValueMetricType, AverageValue: &one}
	for _, k := range []struct {
		name   string
		metric autoscalingv2.MetricSpec
		zero   bool
		reason string
		has    string
	}{
		{"pods", autoscalingv2.MetricSpec{Type: autoscalingv2.PodsMetricSourceType, Pods: &autoscalingv2.PodsMetricSource{
			Metric: autoscalingv2.MetricIdentifier{Name: "requests"}, Target: average,
		}}, false, "FailedGetPodsMetric", "the HPA was unable to compute the replica count: unable to get metric requests: unable to fetch metrics from custom metrics API: "},
		{"external", autoscalingv2.MetricSpec{Type: autoscalingv2.ExternalMetricSourceType, External: &autoscalingv2.ExternalMetricSource{
			Metric: autoscalingv2.MetricIdentifier{Name: "queue"}, Target: average,
		}}, false, "FailedGetExternalMetric", "unable to fetch metrics from external metrics API: "},
		{"object", autoscalingv2.MetricSpec{Type: autoscalingv2.ObjectMetricSourceType, Object: &autoscalingv2.ObjectMetricSource{
			Metric:          autoscalingv2.MetricIdentifier{Name: "hits"},
			DescribedObject: autoscalingv2.CrossVersionObjectReference{APIVersion: "v1", Kind: "Service", Name: "web"}, Target: average,
		}}, false, "FailedGetObjectMetric", "unable to get metric hits: Service on default web/unable to fetch metrics from custom metrics API: "},
		{"zero", cpu(50), true, "ScalingDisabled", "scaling is disabled since the replica count of the target is zero"},
	} {
		d := web("1m")
		d.Name, d.Spec.Selector.MatchLabels = k.name, map[string]string{"app": k.name}
		d.Spec.Template.Labels = d.Spec.Selector.MatchLabels
		if k.zero {
			d.Spec.Replicas = ptr.To(int32(0))
		}
		if _, err := deployments.Create(t.Context(), d); err != nil {
			t.Fatal(err)
		}
		h := scaler(k.metric)
		h.Name, h.Spec.ScaleTargetRef.Name = k.name, k.name
		if _, err := scalers.Create(t.Context(), h); err != nil {
			t.Fatal(err)
		}
		await(t, scalers, k.name, k.reason, func(h *autoscalingv2.HorizontalPodAutoscaler) bool {
			got := condition(h, autoscalingv2.ScalingActive)
			return got.Status == corev1.ConditionFalse && got.Reason == k.reason && strings.Contains(got.Message, k.has)
		})
	}
	for _, k := range []struct{ name, target, version, kind, reason, has string }{
		{"absent", "absent", "apps/v1", "Deployment", "FailedGetScale", `deployments.apps "absent" not found`},
		{"unknown", "pods", "example.com/v1", "Wagon", "FailedGetScale", `current scale: no matches for kind "Wagon" in group "example.com"`},
		{"older", "zero", "apps/v1beta1", "Deployment", "SucceededGetScale", "the HPA controller was able to get the target's current scale"},
	} {
		h := scaler(cpu(50))
		h.Name = k.name
		h.Spec.ScaleTargetRef = autoscalingv2.CrossVersionObjectReference{APIVersion: k.version, Kind: k.kind, Name: k.target}
		if _, err := scalers.Create(t.Context(), h); err != nil {
			t.Fatal(err)
		}
		await(t, scalers, k.name, k.reason, func(h *autoscalingv2.HorizontalPodAutoscaler) bool {
			got := condition(h, autoscalingv2.AbleToScale)
			return got.Reason == k.reason && strings.Contains(got.Message, k.has)
		})
	}
	for _, name := range []string{"rival", "third"} {
		h := scaler(cpu(50))
		h.Name, h.Spec.ScaleTargetRef.Name = name, "pods"
		if _, err := scalers.Create(t.Context(), h); err != nil {
			t.Fatal(err)
		}
	}
	await(t, scalers, "third", "ambiguous", func(h *autoscalingv2.HorizontalPodAutoscaler) bool {
		got := condition(h, autoscalingv2.ScalingActive)
		return got.Reason == "AmbiguousSelector" && got.Message == "pods by selector app=pods are controlled by more than one HPA (e.g. [default/pods default/rival])"
	})
}

// TestMetricsAPI reads metrics.k8s.io as kubectl top and kubectl get do.
func TestMetricsAPI(t *testing.T) {
	c, _ := start(t)
	deployments := client.For[*appsv1.Deployment](c).Namespace("default")
	if _, err := deployments.Create(t.Context(), web("150m")); err != nil {
		t.Fatal(err)
	}
	await(t, deployments, "web", "ready", func(d *appsv1.Deployment) bool { return d.Status.ReadyReplicas == 1 })
	get := func(path, accept string, into any) {
		t.Helper()
		res, err := c.REST().Do(t.Context(), client.Request{Path: "/apis/metrics.k8s.io/v1beta1/" + path, Accept: accept, Query: url.Values{"labelSelector": {"app!=x"}}})
		if err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal(res.Body, into); err != nil {
			t.Fatal(err)
		}
	}
	var pods v1beta1.PodMetricsList
	get("namespaces/default/pods", "", &pods)
	if len(pods.Items) != 1 || pods.Items[0].Containers[0].Usage.Cpu().String() != "150m" || pods.Items[0].Containers[0].Usage.Memory().String() != "32Mi" {
		t.Errorf("pods: %+v", pods)
	}
	var node v1beta1.NodeMetrics
	get("nodes/node-1", "", &node)
	if node.Kind != "NodeMetrics" || node.Usage.Cpu().String() != "150m" {
		t.Errorf("node: %+v", node)
	}
	var table metav1.Table
	get("nodes", "application/json;as=Table;v=v1;g=meta.k8s.io", &table)
	if len(table.Rows) != 1 || table.Rows[0].Cells[1] != "150m" || table.ColumnDefinitions[1].Name != "cpu" {
		t.Errorf("table: %+v", table)
	}
}
