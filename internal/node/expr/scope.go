package expr

import (
	"strings"
	"time"

	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
	"github.com/google/cel-go/common/types/traits"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/runtime"
)

// The variables of expressions.
const (
	Node      = "node"
	Pod       = "pod"
	Container = "container"
)

// Meter measures usage. Resources are cpu, in cores, and memory, in bytes.
type Meter interface {
	// Usage is the usage of a container of a pod; of the pod without a container's name; of the node without
	// a pod. Cumulative is its integral over time, in seconds.
	Usage(resource string, pod *corev1.Pod, container string) float64
	Cumulative(resource string, pod *corev1.Pod, container string) float64
	// Started is the number of containers that have been started on the node, restarts included.
	Started() int64
}

// Scope provides the variables of an expression. The zero value has none.
type Scope struct {
	meter Meter
	vars  map[string]any
}

// subject is a pod or a node as an expression sees it.
type subject struct {
	traits.Mapper
	meter   Meter
	pod     *corev1.Pod // nil of a node
	created time.Time
}

// OfNode returns a scope with a node and the Meter of its usage, which may be nil.
func OfNode(n *corev1.Node, m Meter) Scope {
	s := Scope{meter: m}
	return s.with(Node, subject{Mapper: mapped(n), created: n.CreationTimestamp.Time, meter: m})
}

// WithPod returns the scope with a pod.
func (s Scope) WithPod(p *corev1.Pod) Scope {
	return s.with(Pod, subject{Mapper: mapped(p), pod: p, created: p.CreationTimestamp.Time, meter: s.meter})
}

// WithContainer returns the scope with a container of the pod.
func (s Scope) WithContainer(c *corev1.Container) Scope { return s.with(Container, mapped(c)) }

func (s Scope) with(name string, v ref.Val) Scope {
	next := map[string]any{name: v}
	for n, v := range s.vars {
		next[n] = v
	}
	s.vars = next
	return s
}

// mapped converts an object to a CEL map with its JSON names.
func mapped(o any) traits.Mapper {
	m, err := runtime.DefaultUnstructuredConverter.ToUnstructured(o)
	if err != nil {
		m = nil // objects of the API can be encoded
	}
	if meta, ok := m["metadata"].(map[string]any); ok {
		for _, name := range []string{"labels", "annotations"} {
			if meta[name] == nil {
				meta[name] = map[string]any{}
			}
		}
	}
	typed(m)
	return types.NewStringInterfaceMap(types.DefaultTypeAdapter, m)
}

// typed converts times and quantities, which are strings in JSON, to CEL timestamps and numbers.
func typed(v any) {
	switch v := v.(type) {
	case []any:
		for _, e := range v {
			typed(e)
		}
	case map[string]any:
		for name, e := range v {
			text, isText := e.(string)
			list, isMap := e.(map[string]any)
			switch {
			case isText && (strings.HasSuffix(name, "Time") || strings.HasSuffix(name, "Timestamp") || strings.HasSuffix(name, "At")):
				if t, err := time.Parse(time.RFC3339, text); err == nil {
					v[name] = t
				}
			case isMap && amounts[name]:
				for resource, text := range list {
					if n, ok := number(text); ok {
						list[resource] = n
					}
				}
			case name != "labels" && name != "annotations":
				typed(e)
			}
		}
	}
}

// amounts are the members that are lists of resources.
var amounts = map[string]bool{"requests": true, "limits": true, "capacity": true, "allocatable": true, "overhead": true, "allocatedResources": true}

func number(text any) (float64, bool) {
	s, ok := text.(string)
	if !ok {
		return 0, false
	}
	q, err := resource.ParseQuantity(s)
	return q.AsApproximateFloat64(), err == nil
}
