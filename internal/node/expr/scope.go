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

// Meter knows what is used. Resources are cpu, in cores, and memory, in bytes.
type Meter interface {
	// Usage is that of a container of a pod, of the pod if there is no container's name, of
	// the node if there is no pod; so for Cumulative, which is that times seconds, so far.
	Usage(resource string, pod *corev1.Pod, container string) float64
	Cumulative(resource string, pod *corev1.Pod, container string) float64
	// Started is how many containers have been started on the node, restarts included.
	Started() int64
}

// Scope is what an expression is about. The zero value is about nothing.
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

// OfNode is about a node, with a Meter, which may be nil, that knows what is used on it.
func OfNode(n *corev1.Node, m Meter) Scope {
	s := Scope{meter: m}
	return s.with(Node, subject{Mapper: mapped(n), created: n.CreationTimestamp.Time, meter: m})
}

// WithPod is about a pod as well.
func (s Scope) WithPod(p *corev1.Pod) Scope {
	return s.with(Pod, subject{Mapper: mapped(p), pod: p, created: p.CreationTimestamp.Time, meter: s.meter})
}

// WithContainer is about a container of the pod as well.
func (s Scope) WithContainer(c *corev1.Container) Scope { return s.with(Container, mapped(c)) }

func (s Scope) with(name string, v ref.Val) Scope {
	next := map[string]any{name: v}
	for n, v := range s.vars {
		next[n] = v
	}
	s.vars = next
	return s
}

// mapped is an object by the names of its members.
func mapped(o any) traits.Mapper {
	m, err := runtime.DefaultUnstructuredConverter.ToUnstructured(o)
	if err != nil {
		m = nil // which no object of the API is
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

// typed turns moments and amounts, which are texts in JSON, into what they are.
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
