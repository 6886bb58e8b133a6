package kubelet

import (
	"encoding/json"
	"fmt"
	"math"
	"net"
	"net/http"
	"strings"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"
	corev1 "k8s.io/api/core/v1"

	"fairlead.dev/internal/node/eviction"
	"fairlead.dev/internal/node/expr"
	"fairlead.dev/internal/node/kwok"
)

// metrics serves the metrics that a definition has for the path, else those of a kubelet. The path selects the
// node; without a node's name in it, the address of the request does.
func (s *Server) metrics(w http.ResponseWriter, req *http.Request) {
	defined, name := s.defs.Metric(req.URL.Path)
	path := req.URL.Path
	if defined == nil {
		name, path = nodeIn(path)
	}
	answer := answers[path]
	if answer == nil && defined == nil {
		plain(w, http.StatusNotFound, "404 page not found\n")
		return
	}
	if name == "" {
		name = s.pods.NodeAt(host(req))
	}
	if name == "" && defined != nil {
		name = defined.Name // as kwok has it
	}
	if name == "" {
		plain(w, http.StatusNotFound, "several nodes have this address: ask /metrics/nodes/NAME"+path+"\n")
		return
	}
	node, err := s.pods.Node(req.Context(), name)
	if err != nil {
		plain(w, http.StatusNotFound, fmt.Sprintf("node %q: %v\n", name, err))
		return
	}
	pods := s.pods.On(name)
	v := view{node: node, pods: pods, read: s.meter.read(name, pods, s.defs, time.Now()), lease: s.lease, defs: s.defs}
	if v.system, err = eviction.ParseUsage(node.Annotations[eviction.SystemAnnotation]); err == nil {
		v.read.node.now.memory += float64(v.system.Memory)
	}
	if defined != nil {
		expose(w, req, samples{defined, node, pods, v.read})
		return
	}
	v.of = s.pods
	answer(w, req, v)
}

// view is the input of a node's metrics at a time.
type view struct {
	node   *corev1.Node
	pods   []*corev1.Pod
	read   reading
	lease  time.Duration
	defs   *kwok.Definitions
	system eviction.Usage // of the machine beside its pods
	of     Pods
}

// answers are the handlers of a kubelet's own metrics, by path.
var answers = map[string]func(http.ResponseWriter, *http.Request, view){
	"/metrics":          func(w http.ResponseWriter, req *http.Request, v view) { expose(w, req, own{v}) },
	"/metrics/resource": func(w http.ResponseWriter, req *http.Request, v view) { expose(w, req, resources{v.read}) },
	"/metrics/cadvisor": func(w http.ResponseWriter, req *http.Request, v view) { expose(w, req, cadvisor{v}) },
	"/metrics/probes":   func(w http.ResponseWriter, req *http.Request, v view) { expose(w, req, probes{v}) },
	"/stats/summary":    func(w http.ResponseWriter, _ *http.Request, v view) { encode(w, v.summary()) },
	"/configz":          func(w http.ResponseWriter, _ *http.Request, v view) { encode(w, v.config()) },
}

// expose answers with metrics in Prometheus' text format.
func expose(w http.ResponseWriter, req *http.Request, all prometheus.Collector) {
	registry := prometheus.NewRegistry()
	if err := registry.Register(all); err != nil {
		plain(w, http.StatusInternalServerError, err.Error())
		return
	}
	promhttp.HandlerFor(registry, promhttp.HandlerOpts{ErrorHandling: promhttp.ContinueOnError}).ServeHTTP(w, req)
}

func encode(w http.ResponseWriter, v any) {
	w.Header().Set("Content-Type", "application/json")
	json.NewEncoder(w).Encode(v)
}

// nodeIn splits kwok's path of a node, /metrics/nodes/NAME/..., into the name and the path at that node. For any
// other path the name is empty.
func nodeIn(path string) (name, at string) {
	rest, ok := strings.CutPrefix(path, "/metrics/nodes/")
	if !ok {
		return "", path
	}
	name, at, _ = strings.Cut(rest, "/")
	return name, "/" + at
}

// host returns the address at which a request has arrived.
func host(req *http.Request) string {
	at, ok := req.Context().Value(http.LocalAddrContextKey).(net.Addr)
	if !ok {
		return ""
	}
	host, _, _ := net.SplitHostPort(at.String())
	return host
}

// samples collects the metrics that a definition has for a node. An expression without a value is left out.
type samples struct {
	*kwok.Metric
	node *corev1.Node
	pods []*corev1.Pod
	read reading
}

func (samples) Describe(chan<- *prometheus.Desc) {}

func (m samples) Collect(to chan<- prometheus.Metric) {
	node := expr.OfNode(m.node, m.read)
	scopes := map[string][]expr.Scope{expr.Node: {node}}
	for _, p := range m.pods {
		pod := node.WithPod(p)
		scopes[expr.Pod] = append(scopes[expr.Pod], pod)
		for i := range p.Spec.Containers {
			scopes[expr.Container] = append(scopes[expr.Container], pod.WithContainer(&p.Spec.Containers[i]))
		}
	}
	for i := range m.Samples {
		for _, scope := range scopes[m.Samples[i].Dimension] {
			if metric, err := sample(&m.Samples[i], scope); err == nil {
				to <- metric
			}
		}
	}
}

// sample is a metric of one node, pod or container.
func sample(s *kwok.Sample, scope expr.Scope) (prometheus.Metric, error) {
	var labels []string
	for _, l := range s.Labels {
		text, err := l.Value.Text(scope)
		if err != nil {
			return nil, err
		}
		labels = append(labels, text)
	}
	if s.Kind == "histogram" {
		return histogram(s, scope, labels)
	}
	kind := prometheus.GaugeValue
	if s.Kind == "counter" {
		kind = prometheus.CounterValue
	}
	n, err := s.Value.Number(scope)
	if err != nil {
		return nil, err
	}
	return prometheus.NewConstMetric(s.Desc, kind, n, labels...)
}

// histogram accumulates the counts of buckets. Its sum assumes the upper bound of its bucket for each value.
func histogram(s *kwok.Sample, scope expr.Scope, labels []string) (prometheus.Metric, error) {
	buckets := map[float64]uint64{}
	count, sum := uint64(0), 0.0
	for _, b := range s.Buckets {
		n, err := b.Value.Number(scope)
		if err != nil {
			return nil, err
		}
		n = math.Max(0, math.Floor(n))
		count += uint64(n)
		sum += b.Le * n
		if !b.Hidden {
			buckets[b.Le] = count
		}
	}
	return prometheus.NewConstHistogram(s.Desc, count, sum, buckets, labels...)
}
