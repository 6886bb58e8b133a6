package scheduling_test

import (
	"testing"

	"fairlead.dev/internal/resource/resourcetest"
	"fairlead.dev/internal/resource/scheduling"
)

const class = `
apiVersion: scheduling.k8s.io/v1
kind: PriorityClass
metadata: {name: high}
value: 1000
`

func TestPriorityClass(t *testing.T) {
	k := resourcetest.New(t, scheduling.Resources(), class)
	k.Create(t, []resourcetest.Case{
		{"valid", ""},
		{"too high", "value: 1000000001",
			"value: Forbidden: maximum allowed value of a user defined priority is 1000000000"},
		{"system's name", "metadata.name: system-mine",
			"metadata.name: Forbidden: priority class names with 'system-' prefix are reserved for system use only. error: system-mine is not a known"},
		{"preemption", "preemptionPolicy: Some",
			`preemptionPolicy: Unsupported value: "Some": supported values: "PreemptLowerPriority", "Never"`},
		{"no preemption", "preemptionPolicy: Never"},
	})
	k.Update(t, []resourcetest.Case{{"description", "description: a"}, {"value", "value: 2000",
		"value: Forbidden: may not be changed in an update."}, {"preemption", "preemptionPolicy: Never",
		`preemptionPolicy: Invalid value: "Never": field is immutable`}})
	k.Defaults(t, []resourcetest.Case{{"preemption", "", "preemptionPolicy: PreemptLowerPriority"}})
	k.Rows(t, []resourcetest.Case{{"row", "preemptionPolicy: Never", "high  1000  false  <unknown>  Never"}})
}

const group = `
apiVersion: scheduling.k8s.io/v1beta1
kind: PodGroup
metadata: {name: g, namespace: default}
spec: {schedulingPolicy: {gang: {minCount: 3}}, workloadRef: {workloadName: w, templateName: t}, priorityClassName: high, priority: 5}
`

func TestPodGroup(t *testing.T) {
	k := resourcetest.New(t, scheduling.Resources(), group)
	k.Create(t, []resourcetest.Case{
		{"valid", ""},
		{"parent", "spec.parentCompositePodGroupName: replicas.of.a"},
		{"bad parent", "spec.parentCompositePodGroupName: A", `spec.parentCompositePodGroupName: Invalid value: "A"`},
		{"parent without a workload", "spec: {parentCompositePodGroupName: a, schedulingPolicy: {basic: {}}}", "spec.workloadRef: Required value: must be set when parentCompositePodGroupName is set"},
		{"no policy", "spec.schedulingPolicy: {}", "spec.schedulingPolicy: Invalid value: \"\": must specify one of: `basic`, `gang`"},
		{"two policies", "spec.schedulingPolicy.basic: {}",
			"spec.schedulingPolicy: Invalid value: \"{basic, gang}\": must specify exactly one of: `basic`, `gang`"},
		{"no count", "spec.schedulingPolicy.gang: {}", "spec.schedulingPolicy.gang.minCount: Required value"},
		{"negative count", "spec.schedulingPolicy.gang.minCount: -1", "spec.schedulingPolicy.gang.minCount: Invalid value: -1: must be greater than or equal to 1"},
		{"workload", "spec.workloadRef: {workloadName: A}",
			`spec.workloadRef.templateName: Required value`, `spec.workloadRef.workloadName: Invalid value: "A"`},
		{"no mode", "spec.disruptionMode: {}", "spec.disruptionMode: Invalid value: \"\": must specify one of: `single`, `all`"},
		{"topology", "spec.schedulingConstraints: {topology: [{key: example.com/rack}]}"},
		{"no label", "spec.schedulingConstraints: {topology: [{}]}", "spec.schedulingConstraints.topology[0].key: Required value"},
		{"bad label", "spec.schedulingConstraints: {topology: [{key: a/b/c}]}", `spec.schedulingConstraints.topology[0].key: Invalid value: "a/b/c"`},
		{"two labels", "spec.schedulingConstraints: {topology: [{key: a}, {key: b}]}", "spec.schedulingConstraints.topology: Too many: 2: must have at most 1 item"},
		{"claims", "spec.resourceClaims: [{name: a, resourceClaimName: gpu}, {name: b, resourceClaimTemplateName: gpus}]"},
		{"claim without a name", "spec.resourceClaims: [{resourceClaimName: gpu}]", "spec.resourceClaims[0].name: Required value"},
		{"bad names", "spec.resourceClaims: [{name: a.b, resourceClaimName: .c}, {name: b, resourceClaimTemplateName: D}]",
			`spec.resourceClaims[0].name: Invalid value: "a.b"`, `spec.resourceClaims[0].resourceClaimName: Invalid value: ".c"`,
			`spec.resourceClaims[1].resourceClaimTemplateName: Invalid value: "D"`},
		{"claim of nothing", "spec.resourceClaims: [{name: a}]",
			"spec.resourceClaims[0]: Invalid value: \"\": must specify one of: `resourceClaimName`, `resourceClaimTemplateName`"},
		{"claim of both", "spec.resourceClaims: [{name: a, resourceClaimName: b, resourceClaimTemplateName: c}]",
			"spec.resourceClaims[0]: Invalid value: \"{resourceClaimName, resourceClaimTemplateName}\": must specify exactly one of"},
		{"claim twice", "spec.resourceClaims: [{name: a, resourceClaimName: b}, {name: a, resourceClaimName: c}]",
			`spec.resourceClaims[1]: Duplicate value: {"name":"a","resourceClaimName":"c"}`},
		{"too many claims", "spec.resourceClaims: [{name: a}, {name: b}, {name: c}, {name: d}, {name: e}]",
			"spec.resourceClaims: Too many: 5: must have at most 4 items"},
		{"priority", "spec.priority: 1000000001", "spec.priority: Invalid value: 1000000001: must be less than or equal to 1000000000"},
		{"preemption", "spec.preemptionPolicy: Never"},
		{"bad preemption", "spec.preemptionPolicy: Some",
			`spec.preemptionPolicy: Unsupported value: "Some": supported values: "Never", "PreemptLowerPriority"`},
	})
	k.Update(t, []resourcetest.Case{
		{"count", "spec.schedulingPolicy.gang.minCount: 2"},
		{"no count", "spec.schedulingPolicy.gang.minCount: 0", "spec.schedulingPolicy.gang.minCount: Required value"},
		{"other policy", "spec.schedulingPolicy: {basic: {}}",
			"spec.schedulingPolicy.basic: Invalid value: null: field is immutable",
			"spec.schedulingPolicy.gang: Invalid value: null: field cannot be cleared once set"},
		{"priority", "spec.priority: 6", "spec.priority: Invalid value: null: field is immutable"},
		{"topology", "spec.schedulingConstraints: {topology: [{key: a}]}", "spec.schedulingConstraints: Invalid value: null: field is immutable"},
		{"claims", "spec.resourceClaims: [{name: a, resourceClaimName: b}]", "spec.resourceClaims: Invalid value: null: field is immutable"},
		{"mode", "spec.disruptionMode: {all: {}}", "spec.disruptionMode: Invalid value: null: field is immutable"},
		{"preemption", "spec.preemptionPolicy: Never", "spec.preemptionPolicy: Invalid value: null: field is immutable"},
	})
	k.Defaults(t, []resourcetest.Case{
		{"mode", "", "spec.disruptionMode: {single: {}}"},
		{"preemption", "", "spec.preemptionPolicy: PreemptLowerPriority"},
	})
	k.Rows(t, []resourcetest.Case{
		{"row", "", "g  Gang  w  Pending  <unknown>"},
		{"basic", "spec: {schedulingPolicy: {basic: {}}}\nstatus.conditions: [{type: PodGroupInitiallyScheduled, status: 'True'}]", "g  Basic  <none>  Scheduled  <unknown>"},
	})
}

// TestPodGroupClaimStatuses checks the status entries of a group's claims.
func TestPodGroupClaimStatuses(t *testing.T) {
	k := resourcetest.New(t, scheduling.Resources(), `
apiVersion: scheduling.k8s.io/v1beta1
kind: PodGroup
metadata: {name: g, namespace: default}
spec:
  schedulingPolicy: {basic: {}}
  resourceClaims: [{name: a, resourceClaimTemplateName: t}, {name: b, resourceClaimTemplateName: t}]
`)
	k.Status(t, []resourcetest.Case{
		{"valid", "status.resourceClaimStatuses: [{name: a, resourceClaimName: g-a-12345}, {name: b}]"},
		{"unknown", "status.resourceClaimStatuses: [{name: c, resourceClaimName: g-c-12345}]",
			"status.resourceClaimStatuses[0].name: Invalid value: \"c\": must match the name of an entry in `spec.resourceClaims`"},
		{"bad name", "status.resourceClaimStatuses: [{name: a, resourceClaimName: '%$!#5'}]",
			`status.resourceClaimStatuses[0].resourceClaimName: Invalid value: "%$!#5"`},
		{"twice", "status.resourceClaimStatuses: [{name: a, resourceClaimName: x}, {name: b}, {name: b}]",
			`status.resourceClaimStatuses[2]: Duplicate value: {"name":"b"}`},
		{"too many", "status.resourceClaimStatuses: [{name: a}, {name: b}, {name: a}, {name: b}, {name: a}]",
			"status.resourceClaimStatuses: Too many: 5: must have at most 4 items"},
	})
}

const workload = `
apiVersion: scheduling.k8s.io/v1beta1
kind: Workload
metadata: {name: w, namespace: default}
spec:
  controllerRef: {apiGroup: batch, kind: Job, name: j}
  podGroupTemplates:
  - {name: t, schedulingPolicy: {gang: {minCount: 3}}}
`

func TestWorkload(t *testing.T) {
	k := resourcetest.New(t, scheduling.Resources(), workload)
	k.Create(t, []resourcetest.Case{
		{"valid", ""},
		{"no templates", "spec.podGroupTemplates: ~", "spec: Invalid value: \"\": must specify one of: `podGroupTemplates`, `compositePodGroupTemplates`"},
		{"topology", "spec.podGroupTemplates: [{name: t, schedulingPolicy: {basic: {}}, schedulingConstraints: {topology: [{}]}}]",
			"spec.podGroupTemplates[0].schedulingConstraints.topology[0].key: Required value"},
		{"preemption", "spec.podGroupTemplates: [{name: t, schedulingPolicy: {basic: {}}, preemptionPolicy: Some}]",
			`spec.podGroupTemplates[0].preemptionPolicy: Unsupported value: "Some": supported values: "Never", "PreemptLowerPriority"`},
		{"claim of nothing", "spec.podGroupTemplates: [{name: t, schedulingPolicy: {basic: {}}, resourceClaims: [{name: a}]}]",
			"spec.podGroupTemplates[0].resourceClaims[0]: Invalid value: \"\": must specify one of: `resourceClaimName`, `resourceClaimTemplateName`"},
		{"twice", "spec.podGroupTemplates: [{name: t, schedulingPolicy: {basic: {}}}, {name: t, schedulingPolicy: {basic: {}}}]", `spec.podGroupTemplates[1]: Duplicate value: {"name":"t","schedulingPolicy":{"basic":{}},"schedulingConstraints":null}`},
		{"name", "spec.podGroupTemplates: [{name: A, schedulingPolicy: {basic: {}}}]", `spec.podGroupTemplates[0].name: Invalid value: "A"`},
		{"priorities", "spec.podGroupTemplates: [{name: t, priority: 1, schedulingPolicy: {basic: {}}}, {name: u, schedulingPolicy: {basic: {}}}]",
			"spec: Invalid value: null: detected multiple priority configurations"},
		{"controller", "spec.controllerRef: {kind: a/b}", `spec.controllerRef.kind: Invalid value: "a/b"`, "spec.controllerRef.name: Required value"},
	})
	k.Update(t, []resourcetest.Case{
		{"count", "spec.podGroupTemplates: [{name: t, schedulingPolicy: {gang: {minCount: 1}}}]"},
		{"another", "spec.podGroupTemplates: [{name: u, schedulingPolicy: {gang: {minCount: 3}}}]",
			"spec.podGroupTemplates: Forbidden: item may not be removed", "spec.podGroupTemplates[0]: Forbidden: item may not be added"},
		{"claims", "spec.podGroupTemplates: [{name: t, schedulingPolicy: {gang: {minCount: 3}}, resourceClaims: [{name: a, resourceClaimName: b}]}]",
			"spec.podGroupTemplates[0].resourceClaims: Invalid value: null: field is immutable"},
		{"controller", "spec.controllerRef: ~", "spec.controllerRef: Invalid value: null: field is immutable"},
	})
	k.Rows(t, []resourcetest.Case{{"row", "", "w  <unknown>"}})
}
