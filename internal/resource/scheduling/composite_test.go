package scheduling_test

import (
	"fmt"
	"testing"

	"fairlead.dev/internal/resource/resourcetest"
	"fairlead.dev/internal/resource/scheduling"
)

const composite = `
apiVersion: scheduling.k8s.io/v1alpha3
kind: CompositePodGroup
metadata: {name: c, namespace: default}
spec: {schedulingPolicy: {gang: {minGroupCount: 2}}, workloadRef: {workloadName: w, templateName: t}, priorityClassName: high, priority: 5}
`

func TestCompositePodGroup(t *testing.T) {
	k := resourcetest.New(t, scheduling.Resources(), composite)
	k.Create(t, []resourcetest.Case{
		{"valid", ""},
		{"bad name", "metadata.name: A_b", `metadata.name: Invalid value: "A_b"`},
		{"no workload", "spec.workloadRef: ~", "spec.workloadRef: Required value"},
		{"empty workload", "spec.workloadRef: {}", "spec.workloadRef.templateName: Required value", "spec.workloadRef.workloadName: Required value"},
		{"bad workload", "spec.workloadRef: {workloadName: A, templateName: a.b}",
			`spec.workloadRef.templateName: Invalid value: "a.b"`, `spec.workloadRef.workloadName: Invalid value: "A"`},
		{"parent", "spec.parentCompositePodGroupName: leaders.of.a"},
		{"bad parent", "spec.parentCompositePodGroupName: ''", `spec.parentCompositePodGroupName: Invalid value: ""`},
		{"no policy", "spec.schedulingPolicy: {}", "spec.schedulingPolicy: Invalid value: \"\": must specify one of: `basic`, `gang`"},
		{"two policies", "spec.schedulingPolicy.basic: {}",
			"spec.schedulingPolicy: Invalid value: \"{basic, gang}\": must specify exactly one of: `basic`, `gang`"},
		{"no count", "spec.schedulingPolicy.gang: {}", "spec.schedulingPolicy.gang.minGroupCount: Required value"},
		{"negative count", "spec.schedulingPolicy.gang.minGroupCount: -1",
			"spec.schedulingPolicy.gang.minGroupCount: Invalid value: -1: must be greater than or equal to 1"},
		{"no mode", "spec.disruptionMode: {}", "spec.disruptionMode: Invalid value: \"\": must specify one of: `single`, `all`"},
		{"two modes", "spec.disruptionMode: {single: {}, all: {}}",
			"spec.disruptionMode: Invalid value: \"{single, all}\": must specify exactly one of: `single`, `all`"},
		{"topology", "spec.schedulingConstraints: {topology: [{key: example.com/rack}]}"},
		{"no label", "spec.schedulingConstraints: {topology: [{}]}", "spec.schedulingConstraints.topology[0].key: Required value"},
		{"two labels", "spec.schedulingConstraints: {topology: [{key: a}, {key: b}]}", "spec.schedulingConstraints.topology: Too many: 2: must have at most 1 item"},
		{"bad class", "spec.priorityClassName: A", `spec.priorityClassName: Invalid value: "A"`},
		{"priority", "spec.priority: 1000000001", "spec.priority: Invalid value: 1000000001: must be less than or equal to 1000000000"},
		{"preemption", "spec.preemptionPolicy: Some",
			`spec.preemptionPolicy: Unsupported value: "Some": supported values: "Never", "PreemptLowerPriority"`},
	})
	k.Update(t, []resourcetest.Case{
		{"same", ""},
		{"label", "metadata.labels: {a: b}"},
		{"parent", "spec.parentCompositePodGroupName: a", "spec.parentCompositePodGroupName: Invalid value: null: field is immutable"},
		{"no workload", "spec.workloadRef: ~", "spec.workloadRef: Invalid value: null: field is immutable", "spec.workloadRef: Required value"},
		{"workload", "spec.workloadRef.templateName: u", "spec.workloadRef: Invalid value: null: field is immutable"},
		{"count", "spec.schedulingPolicy.gang.minGroupCount: 1", "spec.schedulingPolicy: Invalid value: null: field is immutable"},
		{"other policy", "spec.schedulingPolicy: {basic: {}}", "spec.schedulingPolicy: Invalid value: null: field is immutable"},
		{"topology", "spec.schedulingConstraints: {topology: [{key: a}]}", "spec.schedulingConstraints: Invalid value: null: field is immutable"},
		{"mode", "spec.disruptionMode: {all: {}}", "spec.disruptionMode: Invalid value: null: field is immutable"},
		{"class", "spec.priorityClassName: low", "spec.priorityClassName: Invalid value: null: field is immutable"},
		{"priority", "spec.priority: 6", "spec.priority: Invalid value: null: field is immutable"},
		{"preemption", "spec.preemptionPolicy: Never", "spec.preemptionPolicy: Invalid value: null: field is immutable"},
	})
	k.Created(t, []resourcetest.Case{{"status", "status.conditions: [{type: CompositePodGroupInitiallyScheduled, status: 'True', reason: A, lastTransitionTime: '2026-01-01T00:00:00Z'}]", "status: {}"}})
	k.Status(t, []resourcetest.Case{
		{"condition", "status.conditions: [{type: CompositePodGroupInitiallyScheduled, status: 'True', reason: A, lastTransitionTime: '2026-01-01T00:00:00Z'}]"},
		{"bad condition", "status.conditions: [{type: CompositePodGroupInitiallyScheduled, status: 'Yes', reason: A, lastTransitionTime: '2026-01-01T00:00:00Z'}]",
			`status.conditions[0].status: Unsupported value: "Yes": supported values: "False", "True", "Unknown"`},
	})
	k.Defaults(t, []resourcetest.Case{
		{"mode", "", "spec.disruptionMode: {single: {}}"},
		{"preemption", "", "spec.preemptionPolicy: PreemptLowerPriority"},
	})
	k.Rows(t, []resourcetest.Case{
		{"row", "", "c  Gang  w  <unknown>"},
		{"basic", "spec: {schedulingPolicy: {basic: {}}}", "c  Basic  <none>  <unknown>"},
	})
}

const tree = `
apiVersion: scheduling.k8s.io/v1beta1
kind: Workload
metadata: {name: w, namespace: default}
spec:
  compositePodGroupTemplates:
  - name: c
    schedulingPolicy: {gang: {minGroupCount: 2}}
    podGroupTemplates: [{name: p, schedulingPolicy: {basic: {}}}]
    compositePodGroupTemplates:
    - name: d
      schedulingPolicy: {basic: {}}
      podGroupTemplates: [{name: q, schedulingPolicy: {gang: {minCount: 3}}}]
`

func TestWorkloadOfComposites(t *testing.T) {
	k := resourcetest.New(t, scheduling.Resources(), tree)
	const c, inner = "spec.compositePodGroupTemplates[0].", "spec.compositePodGroupTemplates[0].compositePodGroupTemplates[0]."
	var many string
	for i := range 9 {
		many += fmt.Sprintf("{name: c, podGroupTemplates: [{name: p%d}]},", i)
	}
	k.Create(t, []resourcetest.Case{
		{"valid", ""},
		{"both", "spec.podGroupTemplates: [{name: t, schedulingPolicy: {basic: {}}}]",
			"spec: Invalid value: \"{podGroupTemplates, compositePodGroupTemplates}\": must specify exactly one of: `podGroupTemplates`, `compositePodGroupTemplates`"},
		{"no name", c + "name: ''", c + "name: Required value"},
		{"bad name", inner + "name: a.b", inner + `name: Invalid value: "a.b"`},
		{"no policy", inner + "schedulingPolicy: {}", inner + "schedulingPolicy: Invalid value: \"\": must specify one of: `basic`, `gang`"},
		{"no count", c + "schedulingPolicy.gang: {}", c + "schedulingPolicy.gang.minGroupCount: Required value"},
		{"no count of pods", inner + "podGroupTemplates[0].schedulingPolicy.gang: {}", inner + "podGroupTemplates[0].schedulingPolicy.gang.minCount: Required value"},
		{"no mode", c + "disruptionMode: {}", c + "disruptionMode: Invalid value: \"\": must specify one of: `single`, `all`"},
		{"no label", c + "schedulingConstraints: {topology: [{}]}", c + "schedulingConstraints.topology[0].key: Required value"},
		{"empty", "spec.compositePodGroupTemplates: [{name: c, schedulingPolicy: {basic: {}}}]",
			`spec.compositePodGroupTemplates[0]: Invalid value: "c": must have at least one child PodGroupTemplate or CompositePodGroupTemplate`},
		{"names of two lists", inner + "podGroupTemplates[0].name: c", inner + `podGroupTemplates[0].name: Duplicate value: "c"`},
		{"composite's name in another list", inner + "name: p", inner + `name: Duplicate value: "p"`},
		{"priorities", c + "priority: 1", "spec: Invalid value: null: all priority and priorityClassName values must be identical, detected multiple values"},
		{"name twice", "spec: {compositePodGroupTemplates: [{name: a, schedulingPolicy: {basic: {}}, podGroupTemplates: [{name: q, schedulingPolicy: {basic: {}}}]}, {name: a, schedulingPolicy: {basic: {}}, podGroupTemplates: [{name: r, schedulingPolicy: {basic: {}}}]}]}",
			`spec.compositePodGroupTemplates[1]: Duplicate value: {"name":"a","schedulingPolicy":{"basic":{}},"podGroupTemplates":[{"name":"r","schedulingPolicy":{"basic":{}},"schedulingConstraints":null}]}`},
		{"too many", "spec: {compositePodGroupTemplates: [" + many + "]}",
			"spec.compositePodGroupTemplates: Too many: 9: must have at most 8 items"},
		{"too deep", inner + "compositePodGroupTemplates: [{name: e, schedulingPolicy: {basic: {}}, compositePodGroupTemplates: [{name: f, schedulingPolicy: {basic: {}}, podGroupTemplates: [{name: g, schedulingPolicy: {basic: {}}}]}]}]",
			`spec.compositePodGroupTemplates[0]: Invalid value: [{"name":"d",`},
	})
	k.Update(t, []resourcetest.Case{
		{"counts", "spec: " + `{compositePodGroupTemplates: [{name: c, schedulingPolicy: {gang: {minGroupCount: 1}}, podGroupTemplates: [{name: p, schedulingPolicy: {basic: {}}}],
			compositePodGroupTemplates: [{name: d, schedulingPolicy: {basic: {}}, podGroupTemplates: [{name: q, schedulingPolicy: {gang: {minCount: 1}}}]}]}]}`},
		{"no count", c + "schedulingPolicy.gang.minGroupCount: 0", c + "schedulingPolicy.gang.minGroupCount: Required value"},
		{"policy", inner + "schedulingPolicy: {gang: {minGroupCount: 1}}", inner + "schedulingPolicy.basic: Invalid value: null: field is immutable",
			inner + "schedulingPolicy.gang: Invalid value: null: field cannot be set once created"},
		{"mode", inner + "disruptionMode: {all: {}}", inner + "disruptionMode: Invalid value: null: field is immutable"},
		{"other name", inner + "name: e", c + "compositePodGroupTemplates: Forbidden: item may not be removed", c + "compositePodGroupTemplates[0]: Forbidden: item may not be added"},
		{"new group", inner + "podGroupTemplates: [{name: q, schedulingPolicy: {gang: {minCount: 3}}}, {name: r, schedulingPolicy: {basic: {}}}]",
			inner + "podGroupTemplates[1]: Forbidden: item may not be added"},
	})
}
