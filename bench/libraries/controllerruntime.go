//go:build !fairlead && !clientgo

package main

import (
	"context"
	"net/http"
	"time"

	"github.com/go-logr/logr"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	toolscache "k8s.io/client-go/tools/cache"
	upstream "k8s.io/client-go/util/workqueue"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/priorityqueue"
	"sigs.k8s.io/controller-runtime/pkg/log"
)

func init() {
	log.SetLogger(logr.Discard())
	libraries["controller-runtime"] = controllerRuntime{}
}

type controllerRuntime struct{}

// controllerRuntimeCopy reads without deep copies, the cheaper of controller-runtime's two
// ways, as the other libraries do.
type controllerRuntimeCopy struct {
	cache.Cache
	kept toolscache.Indexer
}

func (controllerRuntime) informer(cfg *rest.Config, updates []func(*corev1.Pod)) copied {
	ctx := context.Background()
	pods := schema.GroupVersion{Version: "v1"}
	mapper := meta.NewDefaultRESTMapper([]schema.GroupVersion{pods})
	mapper.Add(pods.WithKind("Pod"), meta.RESTScopeNamespace)
	shared := true
	c := must(cache.New(cfg, cache.Options{
		HTTPClient: must(httpClient(cfg)), Scheme: scheme.Scheme, Mapper: mapper, DefaultUnsafeDisableDeepCopy: &shared,
	}))
	byNode := func(obj client.Object) []string { return []string{obj.(*corev1.Pod).Spec.NodeName} }
	if err := c.IndexField(ctx, &corev1.Pod{}, "spec.nodeName", byNode); err != nil {
		panic(err)
	}
	go c.Start(ctx)
	i := must(c.GetInformer(ctx, &corev1.Pod{}, cache.BlockUntilSynced(false)))
	if !toolscache.WaitForCacheSync(wait.NeverStop, handle(i, updates)...) {
		panic("not synced")
	}
	return controllerRuntimeCopy{c, i.(toolscache.SharedIndexInformer).GetIndexer()}
}

func httpClient(cfg *rest.Config) (*http.Client, error) { return rest.HTTPClientFor(cfg) }

func (c controllerRuntimeCopy) len() int { return len(c.kept.ListKeys()) }

func (c controllerRuntimeCopy) get(namespace, name string) *corev1.Pod {
	var p corev1.Pod
	if err := c.Get(context.Background(), client.ObjectKey{Namespace: namespace, Name: name}, &p); err != nil {
		return nil
	}
	return &p
}

func (c controllerRuntimeCopy) onNode(node string) int {
	return c.count(client.MatchingFields{"spec.nodeName": node})
}

func (c controllerRuntimeCopy) inNamespace(namespace string) int {
	return c.count(client.InNamespace(namespace))
}

func (c controllerRuntimeCopy) count(o client.ListOption) int {
	var l corev1.PodList
	if err := c.List(context.Background(), &l, o); err != nil {
		panic(err)
	}
	return len(l.Items)
}

type controllerRuntimeQueue struct {
	priorityqueue.PriorityQueue[key]
}

func (controllerRuntime) queue() queue {
	return controllerRuntimeQueue{priorityqueue.New("bench", func(o *priorityqueue.Opts[key]) {
		o.RateLimiter = upstream.NewTypedItemExponentialFailureRateLimiter[key](delay, time.Second)
		o.MetricProvider = noMetrics{}
		o.Log = logr.Discard()
	})}
}

func (q controllerRuntimeQueue) AddAfter(k key) { q.PriorityQueue.AddAfter(k, delay) }
func (q controllerRuntimeQueue) Retry(k key)    { q.AddRateLimited(k) }
func (q controllerRuntimeQueue) Close()         { q.ShutDownWithDrain() }

func (q controllerRuntimeQueue) work(f func(key) bool) { gets(q, f) }

func (q controllerRuntimeQueue) Get() (key, bool) {
	k, _, down := q.GetWithPriority()
	return k, !down
}

// noMetrics disables the metrics, which the others' queues do not have either.
type noMetrics struct{}

type nothing struct{}

func (nothing) Inc()            {}
func (nothing) Dec()            {}
func (nothing) Set(float64)     {}
func (nothing) Observe(float64) {}

func (noMetrics) NewDepthMetric(string) upstream.GaugeMetric            { return nothing{} }
func (noMetrics) NewAddsMetric(string) upstream.CounterMetric           { return nothing{} }
func (noMetrics) NewLatencyMetric(string) upstream.HistogramMetric      { return nothing{} }
func (noMetrics) NewWorkDurationMetric(string) upstream.HistogramMetric { return nothing{} }
func (noMetrics) NewRetriesMetric(string) upstream.CounterMetric        { return nothing{} }
func (noMetrics) NewUnfinishedWorkSecondsMetric(string) upstream.SettableGaugeMetric {
	return nothing{}
}
func (noMetrics) NewLongestRunningProcessorSecondsMetric(string) upstream.SettableGaugeMetric {
	return nothing{}
}
