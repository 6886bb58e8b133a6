package kwok

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/yaml"

	"fairlead.dev/internal/node/images"
	"fairlead.dev/internal/node/stage"
)

// Definitions are the answers of pods and the stages of pods and nodes. The zero value and nil are empty. They are
// read from files, and changed by Put and Remove.
type Definitions struct {
	// Images has the behaviors of images; it must not be changed after the first use.
	Images *images.Behaviors

	now atomic.Pointer[set] // nil is empty
	mu  struct {            // guards making the next set
		sync.Mutex
		files   *set
		objects map[Object]*set
	}
}

// set is the immutable content of Definitions at a time.
type set struct {
	logs, attaches, execs, forwards, usages []definition
	stages                                  map[string]stage.Stages // by kind
	metrics                                 []*Metric
}

var none set

// set returns the present content.
func (d *Definitions) set() *set {
	if d != nil {
		if now := d.now.Load(); now != nil {
			return now
		}
	}
	return &none
}

// definition is one object. Its entries have the type of its list.
type definition struct {
	head
	cluster  bool
	selector *Selector
	entries  any
}

// decode reads an object whose entries are in the named member.
func decode[E any](doc []byte, member string) (definition, error) {
	var raw struct {
		head
		Spec map[string]json.RawMessage `json:"spec"`
	}
	if err := yaml.Unmarshal(doc, &raw); err != nil {
		return definition{}, err
	}
	def := definition{head: raw.head, cluster: strings.HasPrefix(raw.Kind, "Cluster")}
	for name, value := range raw.Spec {
		var err error
		switch {
		case name == "selector" && def.cluster:
			err = strict(value, &def.selector)
		case name == member:
			var entries []E
			err = strict(value, &entries)
			def.entries = entries
		default:
			err = fmt.Errorf("unknown")
		}
		if err != nil {
			return def, fmt.Errorf("spec.%s: %w", name, err)
		}
	}
	if def.entries == nil {
		def.entries = []E(nil)
	}
	return def, nil
}

func strict(text []byte, into any) error {
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	return d.Decode(into)
}

func newReader(text []byte) *bufio.Reader { return bufio.NewReader(bytes.NewReader(text)) }

// sort puts objects for one pod before Cluster forms, and these in the order of their names.
func (d *set) sort() {
	for _, list := range [][]definition{d.logs, d.attaches, d.execs, d.forwards, d.usages} {
		slices.SortStableFunc(list, func(a, b definition) int {
			switch {
			case a.cluster != b.cluster && a.cluster:
				return 1
			case a.cluster != b.cluster:
				return -1
			}
			return cmp.Compare(a.Name, b.Name)
		})
	}
	slices.SortStableFunc(d.metrics, func(a, b *Metric) int { return cmp.Compare(a.Name, b.Name) })
	for _, list := range d.stages {
		slices.SortStableFunc(list, func(a, b *stage.Stage) int { return cmp.Compare(a.Name, b.Name) })
	}
}

func (def *definition) isFor(pod *corev1.Pod) bool {
	if !def.cluster {
		return def.Name == pod.Name && (def.Namespace == pod.Namespace || def.Namespace == "" && pod.Namespace == "default")
	}
	s := def.selector
	return s == nil || (len(s.MatchNamespaces) == 0 || slices.Contains(s.MatchNamespaces, pod.Namespace)) &&
		(len(s.MatchNames) == 0 || slices.Contains(s.MatchNames, pod.Name))
}

// find returns the first entry for a pod that ok accepts.
func find[E any](defs []definition, pod *corev1.Pod, ok func(*E) bool) (*E, bool) {
	for i := range defs {
		if !defs[i].isFor(pod) {
			continue
		}
		entries := defs[i].entries.([]E)
		for j := range entries {
			if ok(&entries[j]) {
				return &entries[j], true
			}
		}
	}
	return nil, false
}

func (f For) has(container string) bool {
	return len(f.Containers) == 0 || slices.Contains(f.Containers, container)
}

// Logs returns the log of a container; ok is false if it is not defined. The other methods do the same.
func (d *Definitions) Logs(pod *corev1.Pod, container string) (entry *Log, ok bool) {
	return find(d.set().logs, pod, func(e *Log) bool { return e.has(container) })
}

// Attach returns the output of attaching to a container.
func (d *Definitions) Attach(pod *corev1.Pod, container string) (entry *Attach, ok bool) {
	return find(d.set().attaches, pod, func(e *Attach) bool { return e.has(container) })
}

// Exec returns the result of a command in a container.
func (d *Definitions) Exec(pod *corev1.Pod, container string, command []string) (entry *Exec, ok bool) {
	return find(d.set().execs, pod, func(e *Exec) bool {
		return e.has(container) && len(e.Command) <= len(command) && slices.Equal(e.Command, command[:len(e.Command)])
	})
}

// Forward returns the target of a port of a pod.
func (d *Definitions) Forward(pod *corev1.Pod, port int32) (entry *Forward, ok bool) {
	return find(d.set().forwards, pod, func(e *Forward) bool { return len(e.Ports) == 0 || slices.Contains(e.Ports, port) })
}

// Usage returns the usage of a container.
func (d *Definitions) Usage(pod *corev1.Pod, container string) (entry *Usage, ok bool) {
	return find(d.set().usages, pod, func(e *Usage) bool { return e.has(container) })
}

// Stages returns the stages of pods or nodes, by kind.
func (d *Definitions) Stages(kind string) stage.Stages {
	return d.set().stages[kind]
}
