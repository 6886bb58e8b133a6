package kwok

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/prometheus/client_golang/prometheus"
	"sigs.k8s.io/yaml"

	"fairlead.dev/internal/node/expr"
)

// nodeName is the part of a path that stands for any node's name.
const nodeName = "{nodeName}"

// Metric defines the metrics at a path.
type Metric struct {
	head
	Path    string   `json:"path"`
	Samples []Sample `json:"metrics"`
}

// Sample defines a metric of one name.
type Sample struct {
	Name      string   `json:"name"`
	Help      string   `json:"help,omitempty"`
	Kind      string   `json:"kind"`                // counter, gauge or histogram
	Dimension string   `json:"dimension,omitempty"` // node, pod or container
	Labels    []Label  `json:"labels,omitempty"`
	Value     *Program `json:"value,omitempty"`   // of a counter and a gauge
	Buckets   []Bucket `json:"buckets,omitempty"` // of a histogram, in order

	Desc *prometheus.Desc `json:"-"` // of the name, the help and the labels' names
}

// Label of a metric.
type Label struct {
	Name  string   `json:"name"`
	Value *Program `json:"value"`
}

// Bucket is a bucket of a histogram. The value of a hidden one counts in the next.
type Bucket struct {
	Le     float64  `json:"le"`
	Value  *Program `json:"value"`
	Hidden bool     `json:"hidden,omitempty"`
}

// Program is an expression. It is compiled once its variables are known.
type Program struct {
	*expr.Program
	text string
}

func (p *Program) UnmarshalJSON(text []byte) error { return json.Unmarshal(text, &p.text) }

// compile compiles the expression; a nil program stays nil.
func (p *Program) compile(variables []string) (err error) {
	if p == nil || p.text == "" {
		return errors.New("value: an expression is wanted")
	}
	if p.Program, err = expr.Compile(p.text, variables...); err != nil {
		return fmt.Errorf("value: %w", err)
	}
	return nil
}

// parseMetric reads a Metric.
func parseMetric(doc []byte) (*Metric, error) {
	var raw struct {
		head
		Spec json.RawMessage `json:"spec"`
	}
	if err := yaml.Unmarshal(doc, &raw); err != nil {
		return nil, err
	}
	m := &Metric{}
	d := json.NewDecoder(bytes.NewReader(raw.Spec))
	d.DisallowUnknownFields()
	if err := d.Decode(m); err != nil {
		return nil, fmt.Errorf("spec: %w", err)
	}
	m.head = raw.head
	if !strings.HasPrefix(m.Path, "/metrics") {
		return nil, fmt.Errorf("spec.path: %q does not begin with /metrics", m.Path)
	}
	if rest := strings.Replace(m.Path, "/"+nodeName, "", 1); strings.ContainsAny(rest, "{}") {
		return nil, fmt.Errorf("spec.path: only one part may be open, %s", nodeName)
	}
	for i := range m.Samples {
		if err := m.Samples[i].complete(); err != nil {
			return nil, fmt.Errorf("spec.metrics[%d]: %w", i, err)
		}
	}
	return m, nil
}

// complete checks a metric and compiles its expressions.
func (s *Sample) complete() error {
	s.Dimension = cmp.Or(s.Dimension, expr.Node)
	all := []string{expr.Node, expr.Pod, expr.Container}
	n := slices.Index(all, s.Dimension)
	switch {
	case n < 0:
		return fmt.Errorf("dimension: %q is none of node, pod and container", s.Dimension)
	case !slices.Contains([]string{"counter", "gauge", "histogram"}, s.Kind):
		return fmt.Errorf("kind: %q is none of counter, gauge and histogram", s.Kind)
	case s.Kind == "histogram" && s.Value != nil:
		return errors.New("value: a histogram has buckets")
	case s.Kind != "histogram" && s.Buckets != nil:
		return fmt.Errorf("buckets: a %s has none", s.Kind)
	}
	s.Help = strings.TrimSpace(s.Help)
	var labels []string
	for _, l := range s.Labels {
		labels = append(labels, l.Name)
	}
	s.Desc = prometheus.NewDesc(s.Name, s.Help, labels, nil)
	if _, err := prometheus.NewConstMetric(s.Desc, prometheus.GaugeValue, 0, labels...); err != nil {
		return err
	}
	variables := all[:n+1]
	for i, l := range s.Labels {
		if err := l.Value.compile(variables); err != nil {
			return fmt.Errorf("labels[%d].%w", i, err)
		}
	}
	for i, b := range s.Buckets {
		if err := b.Value.compile(variables); err != nil {
			return fmt.Errorf("buckets[%d].%w", i, err)
		}
	}
	slices.SortStableFunc(s.Buckets, func(a, b Bucket) int { return cmp.Compare(a.Le, b.Le) })
	if s.Kind == "histogram" {
		return nil
	}
	return s.Value.compile(variables)
}

// at reports whether the metric is served at a path, and the node's name in the path.
func (m *Metric) at(path string) (node string, ok bool) {
	want, have := strings.Split(m.Path, "/"), strings.Split(path, "/")
	if len(want) != len(have) {
		return "", false
	}
	for i := range want {
		if want[i] == nodeName && have[i] != "" {
			node = have[i]
		} else if want[i] != have[i] {
			return "", false
		}
	}
	return node, true
}

// Metric returns the metric at a path, and the name of a node if the path has one.
func (d *Definitions) Metric(path string) (m *Metric, node string) {
	for _, m := range d.set().metrics {
		if node, ok := m.at(path); ok {
			return m, node
		}
	}
	return nil, ""
}
