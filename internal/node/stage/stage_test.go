package stage_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"fairlead.dev/internal/node/stage"
)

const head = "apiVersion: kwok.x-k8s.io/v1alpha1\nkind: Stage\nmetadata: {name: s}\n"

func parse(t *testing.T, spec string) *stage.Stage {
	t.Helper()
	s, err := stage.Parse([]byte(head + "spec: {resourceRef: {apiGroup: v1, kind: Pod}, " + spec + "}"))
	if err != nil {
		t.Fatalf("%s: %v", spec, err)
	}
	return s
}

func object(t *testing.T, change func(*corev1.Pod)) *stage.Object {
	t.Helper()
	p := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: "default", Name: "p", Labels: map[string]string{"app": "web"}, Finalizers: []string{"a/b"},
			Annotations: map[string]string{"weight": "7", "delay": "3s", "until": "2026-01-01T00:00:09Z", "none": "", "word": "soon"},
		},
		Spec:   corev1.PodSpec{Containers: []corev1.Container{{Name: "c", Image: "nginx"}}},
		Status: corev1.PodStatus{Phase: corev1.PodPending, ContainerStatuses: []corev1.ContainerStatus{{Name: "c", RestartCount: 2, Ready: true}}},
	}
	if change != nil {
		change(p)
	}
	o, err := stage.Of(p)
	if err != nil {
		t.Fatal(err)
	}
	return o
}

func TestSelects(t *testing.T) {
	o := object(t, nil)
	for selector, want := range map[string]bool{
		"{}":                             true,
		"{matchLabels: {app: web}}":      true,
		"{matchLabels: {app: db}}":       false,
		"{matchAnnotations: {none: ''}}": true,
		"{matchAnnotations: {gone: ''}}": false,
		"{matchExpressions: [{key: .status.phase, operator: In, values: [Pending, Running]}]}":                     true,
		"{matchExpressions: [{key: .status.phase, operator: NotIn, values: [Pending]}]}":                           false,
		"{matchExpressions: [{key: .status.podIP, operator: NotIn, values: [x]}]}":                                 true,
		"{matchExpressions: [{key: .metadata.deletionTimestamp, operator: DoesNotExist}]}":                         true,
		"{matchExpressions: [{key: .metadata.finalizers, operator: DoesNotExist}]}":                                false,
		"{matchExpressions: [{key: '.status.containerStatuses.[].restartCount', operator: In, values: ['2']}]}":    true,
		"{matchExpressions: [{key: '.status.containerStatuses.[].ready', operator: In, values: ['true']}]}":        true,
		"{matchExpressions: [{key: '.status.conditions.[] | .status', operator: NotIn, values: ['True']}]}":        true, // cannot iterate over null
		"{matchExpressions: [{key: '.status.conditions.[] | .status', operator: Exists}]}":                         false,
		"{matchExpressions: [{jq: {key: .status.phase, operator: Exists}}, {key: .spec.x, operator: Exists}]}":     false,
		"{matchExpressions: [{jq: {key: '.metadata.labels[\"app\"]', operator: In, values: [web]}}]}":              true,
		"{matchLabels: {app: web}, matchExpressions: [{key: .metadata.name, operator: NotIn, values: [p, q, r]}]}": false,
	} {
		if got := parse(t, "selector: "+selector).Selects(o); got != want {
			t.Errorf("%s: %v", selector, got)
		}
	}
}

// TestChoose draws by weights, of which an annotation may say another.
func TestChoose(t *testing.T) {
	o := object(t, nil)
	for _, c := range []struct {
		specs  []string
		chance []bool
	}{
		{[]string{"selector: {matchLabels: {app: db}}"}, []bool{false}},
		{[]string{"selector: {}", "selector: {matchLabels: {app: db}}"}, []bool{true, false}},
		{[]string{"selector: {}", "selector: {}"}, []bool{true, true}},
		{[]string{"selector: {}", "selector: {}, weight: 1"}, []bool{false, true}},
		{[]string{"selector: {}, weight: 1", "selector: {}, weight: 1"}, []bool{true, true}},
		{[]string{"selector: {}, weightFrom: {expressionFrom: '.metadata.annotations.weight'}", "selector: {}"}, []bool{true, false}},
		{[]string{"selector: {}, weight: 5, weightFrom: {expressionFrom: '.metadata.annotations.none'}", "selector: {}"}, []bool{false, true}},
		{[]string{"selector: {}, weight: 5, weightFrom: {expressionFrom: '.metadata.annotations.gone'}", "selector: {}"}, []bool{true, false}},
	} {
		var stages stage.Stages
		for _, spec := range c.specs {
			stages = append(stages, parse(t, spec))
		}
		drawn := make([]bool, len(stages))
		for range 200 {
			got := stages.Choose(o)
			for i, s := range stages {
				drawn[i] = drawn[i] || got == s
			}
		}
		for i := range drawn {
			if drawn[i] != c.chance[i] {
				t.Errorf("%v: %d was drawn: %v", c.specs, i, drawn[i])
			}
		}
	}
}

func TestDelay(t *testing.T) {
	o := object(t, nil)
	now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	for spec, want := range map[string][2]time.Duration{
		"":                             {0, 0},
		"{durationMilliseconds: 1500}": {1500 * time.Millisecond, 1500 * time.Millisecond},
		"{durationMilliseconds: 1, durationFrom: {expressionFrom: .metadata.annotations.delay}}":      {3 * time.Second, 3 * time.Second},
		"{durationFrom: {jq: {expression: .metadata.annotations.until}}}":                             {9 * time.Second, 9 * time.Second},
		"{durationMilliseconds: 1, durationFrom: {expressionFrom: .metadata.annotations.gone}}":       {time.Millisecond, time.Millisecond},
		"{durationMilliseconds: 1, durationFrom: {expressionFrom: .metadata.annotations.word}}":       {time.Millisecond, time.Millisecond},
		"{durationMilliseconds: 1, durationFrom: {expressionFrom: .metadata.annotations.none}}":       {0, 0},
		"{durationMilliseconds: 1000, jitterDurationMilliseconds: 5000}":                              {time.Second, 5 * time.Second},
		"{durationMilliseconds: 5000, jitterDurationMilliseconds: 1000}":                              {time.Second, time.Second},
		"{durationMilliseconds: 1000, jitterDurationFrom: {expressionFrom: .metadata.annotations.x}}": {time.Second, time.Second},
		"{jitterDurationMilliseconds: 5000}":                                                          {0, 5 * time.Second},
	} {
		s := parse(t, "selector: {}")
		if spec != "" {
			s = parse(t, "selector: {}, delay: "+spec)
		}
		for range 50 {
			if got := s.Delay(o, now); got < want[0] || got > want[1] {
				t.Errorf("%s: %v", spec, got)
			}
		}
	}
}

func TestSteps(t *testing.T) {
	o := object(t, nil)
	for _, c := range []struct{ next, want string }{
		{"{delete: true}", "delete"},
		{"{event: {type: Normal, reason: R, message: m}, finalizers: {empty: true}, delete: true}",
			`event Normal R m; merge  {"metadata":{"finalizers":null}}; delete`},
		{"{finalizers: {add: [{value: c/d}, {value: a/b}]}}", `merge  {"metadata":{"finalizers":["a/b","c/d"]}}`},
		{"{finalizers: {remove: [{value: x/y}]}}", ""},
		{"{statusTemplate: 'phase: {{ .status.phase }}', statusPatchAs: {username: u}}", `strategic status {"status":{"phase":"Pending"}} as u`},
		{"{statusTemplate: 'x: 1', statusSubresource: ''}", `strategic  {"status":{"x":1}}`},
		{"{patches: [{root: metadata, template: 'labels: {x: {{ index .metadata.annotations \"gone\" | default \"d\" | Quote }}}', type: merge}]}",
			`merge  {"metadata":{"labels":{"x":"d"}}}`},
		{`{patches: [{root: spec, type: json, template: '[{"op": "add", "path": "/x", "value": {{ (index .status.containerStatuses 0).restartCount | add 1 }}}]'}]}`,
			`json  [{"op":"add","path":"/spec/x","value":3}]`},
		{"{patches: [{subresource: status, template: '{{ YAML (dict \"a\" (list 1 2)) }}'}]}", `strategic status {"a":[1,2]}`},
		{"{statusTemplate: 'podIP: {{ PodIPWith .spec.nodeName | Quote }}'}", `strategic status {"status":{"podIP":"10.0.0.1"}}`},
	} {
		actions, err := parse(t, "selector: {}, next: "+c.next).Actions(o, stage.Funcs{"PodIPWith": func(...any) string { return "10.0.0.1" }})
		if err != nil {
			t.Errorf("%s: %v", c.next, err)
		}
		if got := text(t, actions); got != c.want {
			t.Errorf("%s:\n%s, want\n%s", c.next, got, c.want)
		}
	}
}

func text(t *testing.T, actions []stage.Action) string {
	t.Helper()
	names := map[types.PatchType]string{types.MergePatchType: "merge", types.StrategicMergePatchType: "strategic", types.JSONPatchType: "json"}
	var out []string
	for _, s := range actions {
		switch {
		case s.Event != nil:
			out = append(out, "event "+s.Event.Type+" "+s.Event.Reason+" "+s.Event.Message)
		case s.Delete:
			out = append(out, "delete")
		default:
			var v any
			if err := json.Unmarshal(s.Patch.Data, &v); err != nil {
				t.Fatal(err)
			}
			data, _ := json.Marshal(v)
			line := names[s.Patch.Type] + " " + s.Patch.Subresource + " " + string(data)
			if s.Patch.As != "" {
				line += " as " + s.Patch.As
			}
			out = append(out, line)
		}
	}
	return strings.Join(out, "; ")
}

func TestParseRefuses(t *testing.T) {
	const pod = "resourceRef: {kind: Pod}, selector: {}, "
	for spec, want := range map[string]string{
		"resourceRef: {kind: Pod}": "never taken",
		"resourceRef: {apiGroup: apps/v1, kind: Deployment}, selector: {}":                  "Deployment of apps/v1",
		pod + "next: {statusTemplat: x}":                                                    "unknown field",
		pod + "next: {statusTemplate: '{{ Nobody }}'}":                                      `function "Nobody" not defined`,
		pod + "delay: {durationFrom: {expressionFrom: '.['}}":                               "spec.delay.durationFrom",
		pod + "next: {patches: [{type: apply}]}":                                            `patch type "apply"`,
		pod + "steps: [{apply: {template: x}}]":                                             "unknown field",
		"resourceRef: {kind: Pod}, selector: {matchExpressions: [{cel: {expression: x}}]}":  "unknown field",
		"resourceRef: {kind: Pod}, selector: {matchExpressions: [{key: .a, operator: Is}]}": `operator "Is"`,
	} {
		if _, err := stage.Parse([]byte(head + "spec: {" + spec + "}")); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", spec, err, want)
		}
	}
}
