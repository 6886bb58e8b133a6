package batch_test

import (
	"testing"

	"fairlead.dev/internal/resource/batch"
	"fairlead.dev/internal/resource/resourcetest"
)

const gangJob = `
apiVersion: batch/v1
kind: Job
metadata: {name: train, namespace: default}
spec:
  parallelism: 4
  manualSelector: true
  selector: {matchLabels: {a: b}}
  template: {metadata: {labels: {a: b}}, spec: {restartPolicy: Never, containers: [{name: a, image: x}]}}
  scheduling:
    schedulingPolicy: {gang: {minCount: 2}}
    disruptionMode: {all: {}}
    schedulingConstraints: {topology: [{key: rack}]}
    resourceClaims: [{name: gpu, resourceClaimTemplateName: gpus}]
`

func TestJobScheduling(t *testing.T) {
	k := resourcetest.New(t, batch.Resources(), gangJob)
	const scheduling = "spec.scheduling."
	k.Create(t, []resourcetest.Case{
		{"gang", ""},
		{"without", "spec.scheduling: ~"},
		{"empty", "spec.scheduling: {}"},
		{"gang of all pods", scheduling + "schedulingPolicy: {gang: {}}"},
		{"basic", "spec.scheduling: {schedulingPolicy: {basic: {}}, disruptionMode: {single: {}}}"},
		{"larger than the parallelism", scheduling + "schedulingPolicy.gang.minCount: 5",
			"spec.scheduling.schedulingPolicy.gang.minCount: Invalid value: 5: must not be greater than parallelism (4)"},
		{"larger than the default parallelism", "spec.parallelism: ~",
			"spec.scheduling.schedulingPolicy.gang.minCount: Invalid value: 2: must not be greater than parallelism (1)"},
		{"gang of none", scheduling + "schedulingPolicy.gang.minCount: 0",
			"spec.scheduling.schedulingPolicy.gang.minCount: Invalid value: 0: must be greater than or equal to 1"},
		{"no policy", scheduling + "schedulingPolicy: {}\nspec.scheduling.disruptionMode: ~",
			`spec.scheduling.schedulingPolicy: Invalid value: "": must specify one of: ` + "`basic`, `gang`"},
		{"two policies", scheduling + "schedulingPolicy: {basic: {}, gang: {}}\nspec.scheduling.disruptionMode: ~",
			`spec.scheduling.schedulingPolicy: Invalid value: "{basic, gang}": must specify exactly one of: ` + "`basic`, `gang`"},
		{"all of a basic group", scheduling + "schedulingPolicy: {basic: {}}",
			"spec.scheduling.disruptionMode: Invalid value: \"\": the disruptionMode `all` is not supported with the Basic scheduling policy"},
		{"all by default", scheduling + "schedulingPolicy: ~",
			"spec.scheduling.disruptionMode: Invalid value: \"\": the disruptionMode `all` is not supported with the Basic scheduling policy"},
		{"no disruption mode", scheduling + "disruptionMode: {}",
			`spec.scheduling.disruptionMode: Invalid value: "": must specify one of: ` + "`single`, `all`"},
		{"two labels", scheduling + "schedulingConstraints.topology: [{key: a}, {key: b}]",
			"spec.scheduling.schedulingConstraints.topology: Too many: 2: must have at most 1 item"},
		{"no label", scheduling + "schedulingConstraints.topology: [{}]",
			"spec.scheduling.schedulingConstraints.topology[0].key: Required value"},
		{"too many claims", scheduling + "resourceClaims: [{name: a}, {name: b}, {name: c}, {name: d}, {name: e}]",
			"spec.scheduling.resourceClaims: Too many: 5: must have at most 4 items"},
		{"a claim twice", scheduling + "resourceClaims: [{name: a, resourceClaimName: b}, {name: a, resourceClaimName: c}]",
			`spec.scheduling.resourceClaims[1]: Duplicate value: {"name":"a","resourceClaimName":"c"}`},
		{"a claim of nothing", scheduling + "resourceClaims: [{name: a}]",
			`spec.scheduling.resourceClaims[0]: Invalid value: "": must specify one of: ` + "`resourceClaimName`, `resourceClaimTemplateName`"},
	})
	k.Update(t, []resourcetest.Case{
		{"size", scheduling + "schedulingPolicy.gang.minCount: 4"},
		{"default size", scheduling + "schedulingPolicy.gang: {}"},
		{"size and parallelism", scheduling + "schedulingPolicy.gang.minCount: 1\nspec.parallelism: 1\nspec.completions: ~"},
		{"fewer pods than the gang needs", "spec.parallelism: 1",
			"spec.scheduling.schedulingPolicy.gang.minCount: Invalid value: 2: must not be greater than parallelism (1)"},
		{"gang of none", scheduling + "schedulingPolicy.gang.minCount: 0",
			"spec.scheduling.schedulingPolicy.gang.minCount: Invalid value: 0: must be greater than or equal to 1"},
		{"basic", scheduling + "schedulingPolicy: {basic: {}}",
			"spec.scheduling.disruptionMode: Invalid value: \"\": the disruptionMode `all` is not supported with the Basic scheduling policy",
			"spec.scheduling.schedulingPolicy: Invalid value: null: the basic/gang policy variant is immutable after creation; only schedulingPolicy.gang.minCount may be updated"},
		{"cleared", "spec.scheduling: ~",
			"spec.scheduling: Invalid value: null: field cannot be cleared once set"},
		{"no policy any more", scheduling + "schedulingPolicy: ~",
			"spec.scheduling.disruptionMode: Invalid value: \"\": the disruptionMode `all` is not supported with the Basic scheduling policy",
			"spec.scheduling.schedulingPolicy: Invalid value: null: field cannot be cleared once set"},
		{"constraints", scheduling + "schedulingConstraints.topology: [{key: a}, {key: b}]",
			"spec.scheduling.schedulingConstraints: Invalid value: null: field is immutable"},
		{"disruption mode", scheduling + "disruptionMode: {single: {}}",
			"spec.scheduling.disruptionMode: Invalid value: null: field is immutable"},
		{"claims", scheduling + "resourceClaims: [{name: a}, {name: a}, {name: a}, {name: a}, {name: a}]",
			"spec.scheduling.resourceClaims: Invalid value: null: field is immutable",
			"spec.scheduling.resourceClaims: Too many: 5: must have at most 4 items"},
	})
}

func TestJobSchedulingIsNotAdded(t *testing.T) {
	k := resourcetest.New(t, batch.Resources(), `
apiVersion: batch/v1
kind: Job
metadata: {name: train, namespace: default}
spec:
  parallelism: 4
  manualSelector: true
  selector: {matchLabels: {a: b}}
  template: {metadata: {labels: {a: b}}, spec: {restartPolicy: Never, containers: [{name: a, image: x}]}}
`)
	k.Update(t, []resourcetest.Case{
		{"scheduling", "spec.scheduling: {schedulingPolicy: {gang: {}}}",
			"spec.scheduling: Invalid value: null: field cannot be set once created"},
	})
}

func TestCronJobScheduling(t *testing.T) {
	k := resourcetest.New(t, batch.Resources(), `
apiVersion: batch/v1
kind: CronJob
metadata: {name: nightly, namespace: default}
spec:
  schedule: "0 3 * * *"
  jobTemplate:
    spec:
      parallelism: 4
      template: {spec: {restartPolicy: Never, containers: [{name: a, image: x}]}}
      scheduling: {schedulingPolicy: {gang: {minCount: 2}}}
`)
	const scheduling = "spec.jobTemplate.spec.scheduling"
	k.Create(t, []resourcetest.Case{
		{"gang", ""},
		{"larger than the parallelism", scheduling + ".schedulingPolicy.gang.minCount: 5",
			"spec.jobTemplate.spec.scheduling.schedulingPolicy.gang.minCount: Invalid value: 5: must not be greater than parallelism (4)"},
		{"no policy", scheduling + ".schedulingPolicy: {}",
			`spec.jobTemplate.spec.scheduling.schedulingPolicy: Invalid value: "": must specify one of: ` + "`basic`, `gang`"},
	})
	k.Update(t, []resourcetest.Case{
		{"size", scheduling + ".schedulingPolicy.gang.minCount: 4"},
		{"basic", scheduling + ".schedulingPolicy: {basic: {}}"},
		{"cleared", scheduling + ": ~",
			"spec.jobTemplate.spec.scheduling: Invalid value: null: field cannot be cleared once set"},
	})
}
