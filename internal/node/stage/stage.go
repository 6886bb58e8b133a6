package stage

import (
	"cmp"
	"errors"
	"fmt"
	template "github.com/DataDog/datadog-agent/pkg/template/text"
	"time"

	"github.com/itchyny/gojq"
	"sigs.k8s.io/yaml"
)

// Stage is a compiled Stage. Make it with Parse.
type Stage struct {
	Name string
	Kind string // Pod or Node
	// Immediate reports whether the next stage is chosen even if this one has changed the object in no way.
	Immediate bool

	labels, annotations map[string]string
	where               []condition
	weight              int64
	weightFrom          *gojq.Code
	delay, jitter       *duration
	steps               []compiled
}

// compiled is a step with its template.
type compiled struct {
	step
	template *template.Template
}

// Parse reads a document of kind Stage and checks its expressions and templates.
func Parse(doc []byte) (*Stage, error) {
	var d document
	if err := yaml.UnmarshalStrict(doc, &d); err != nil {
		return nil, err
	}
	s := &Stage{Name: d.Name, Kind: d.Spec.ResourceRef.Kind, Immediate: d.Spec.ImmediateNextStage, weight: d.Spec.Weight}
	if group := d.Spec.ResourceRef.APIGroup; (s.Kind != "Pod" && s.Kind != "Node") || group != "" && group != "v1" {
		return nil, fmt.Errorf("spec.resourceRef: %s of %s: stages here are for Pod and Node of v1", s.Kind, cmp.Or(group, "v1"))
	}
	if d.Spec.Selector == nil {
		return nil, errors.New("spec.selector: a stage without one is never taken")
	}
	s.labels, s.annotations = d.Spec.Selector.MatchLabels, d.Spec.Selector.MatchAnnotations
	for i, e := range d.Spec.Selector.MatchExpressions {
		if e.JQ == nil {
			e.JQ = &e.requirement
		}
		c, err := e.JQ.compile()
		if err != nil {
			return nil, fmt.Errorf("spec.selector.matchExpressions[%d]: %w", i, err)
		}
		s.where = append(s.where, c)
	}
	var err error
	if s.weightFrom, err = d.Spec.WeightFrom.compile(); err != nil {
		return nil, fmt.Errorf("spec.weightFrom: %w", err)
	}
	if at := d.Spec.Delay; at != nil {
		if at.DurationMilliseconds == nil {
			at.DurationMilliseconds = new(int64) // with jitter alone the minimum is zero
		}
		if s.delay, err = newDuration(at.DurationMilliseconds, at.DurationFrom); err != nil {
			return nil, fmt.Errorf("spec.delay.durationFrom: %w", err)
		}
		if s.jitter, err = newDuration(at.JitterDurationMilliseconds, at.JitterDurationFrom); err != nil {
			return nil, fmt.Errorf("spec.delay.jitterDurationFrom: %w", err)
		}
	}
	steps := d.Spec.Steps
	if d.Spec.Next != nil {
		if steps != nil {
			return nil, errors.New("spec: next and steps exclude each other")
		}
		steps = d.Spec.Next.steps()
	}
	for i, st := range steps {
		c, err := st.compile()
		if err != nil {
			return nil, fmt.Errorf("step %d: %w", i, err)
		}
		s.steps = append(s.steps, c)
	}
	return s, nil
}

// steps returns the actions in their order: the event, finalizers, then either the deletion or the patches, that
// of the status last.
func (n *next) steps() (steps []step) {
	if n.Event != nil {
		steps = append(steps, step{Event: n.Event})
	}
	if n.Finalizers != nil {
		steps = append(steps, step{Finalizers: n.Finalizers})
	}
	if n.Delete {
		return append(steps, step{Delete: true})
	}
	for i := range n.Patches {
		steps = append(steps, step{Patch: &n.Patches[i]})
	}
	if n.StatusTemplate != "" {
		sub := "status"
		if n.StatusSubresource != nil {
			sub = *n.StatusSubresource
		}
		steps = append(steps, step{Patch: &patch{Subresource: sub, Root: "status", Template: n.StatusTemplate, Impersonation: n.StatusPatchAs}})
	}
	return steps
}

func (st step) compile() (c compiled, err error) {
	c.step = st
	if p := st.Patch; p != nil {
		switch p.Type {
		case "", "json", "merge", "strategic":
		default:
			return c, fmt.Errorf("patch type %q: want json, merge or strategic", p.Type)
		}
		c.template, err = parseTemplate(p.Template)
	}
	return c, err
}

// began is the value of the template function StartTime.
var began = time.Now()
