package usage

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"time"

	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"
	corev1 "k8s.io/api/core/v1"
)

// maxBody bounds a kubelet's response in bytes.
const maxBody = 16 << 20

// scrape reads the samples of a node.
func (m *Meter) scrape(ctx context.Context, n *corev1.Node) (samples, error) {
	ctx, cancel := context.WithTimeout(ctx, Timeout)
	defer cancel()
	address, ok := m.network.Kubelet(n)
	if !ok {
		return nil, fmt.Errorf("the node %s has no address of a preferred type", n.Name)
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, "https://"+address+"/metrics/resource", nil)
	if err != nil {
		return nil, err
	}
	req.Header.Set("Accept", "text/plain;version=0.0.4")
	kubelet := http.Client{
		Transport:     m.network.KubeletTransport(address),
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	res, err := kubelet.Do(req)
	if err != nil {
		return nil, err
	}
	defer res.Body.Close()
	if res.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("GET %s: %s", req.URL, res.Status)
	}
	body := &io.LimitedReader{R: res.Body, N: maxBody}
	parser := expfmt.NewTextParser(model.UTF8Validation)
	families, err := parser.TextToMetricFamilies(body)
	if body.N == 0 {
		return nil, fmt.Errorf("GET %s: the response has more than %d bytes", req.URL, maxBody)
	}
	if err != nil {
		return nil, fmt.Errorf("GET %s: %w", req.URL, err)
	}
	return read(families, time.Now()), nil
}

// read returns the samples among a kubelet's metrics. Those without a time are of now.
func read(families map[string]*dto.MetricFamily, now time.Time) samples {
	all := samples{}
	each := func(name string, set func(s *sample, value float64, at time.Time)) {
		for _, metric := range families[name].GetMetric() {
			value := metric.GetUntyped().GetValue() + metric.GetCounter().GetValue() + metric.GetGauge().GetValue()
			if !(value > 0 && value < maxValue) {
				continue
			}
			at := now
			if metric.TimestampMs != nil {
				at = time.UnixMilli(metric.GetTimestampMs())
			}
			o, container := of(metric)
			if all[o] == nil {
				all[o] = map[string]sample{}
			}
			s := all[o][container]
			set(&s, value, at)
			all[o][container] = s
		}
	}
	for _, prefix := range []string{"node_", "container_"} {
		each(prefix+"memory_working_set_bytes", func(s *sample, v float64, _ time.Time) { s.memory = int64(v) })
		each(prefix+"cpu_usage_seconds_total", func(s *sample, v float64, at time.Time) { s.cpu, s.at = v, at })
	}
	each("container_start_time_seconds", func(s *sample, v float64, _ time.Time) { s.start = time.UnixMilli(int64(v * 1000)) })
	return all
}

// maxValue bounds the value of a metric: float64 has all integers below it.
const maxValue = 1 << 53

// of returns the object and the container of a metric.
func of(metric *dto.Metric) (o object, container string) {
	for _, l := range metric.GetLabel() {
		switch l.GetName() {
		case "namespace":
			o.namespace = l.GetValue()
		case "pod":
			o.pod = l.GetValue()
		case "container":
			container = l.GetValue()
		}
	}
	return o, container
}
