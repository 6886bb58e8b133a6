package batch_test

import (
	"testing"

	"fairlead.dev/internal/resource/batch"
	"fairlead.dev/internal/resource/resourcetest"
)

const job = `
apiVersion: batch/v1
kind: Job
metadata: {name: once, namespace: default}
spec:
  manualSelector: true
  selector: {matchLabels: {a: b}}
  template:
    metadata: {labels: {a: b}}
    spec: {restartPolicy: Never, containers: [{name: a, image: nginx}]}
`

func TestJob(t *testing.T) {
	k := resourcetest.New(t, batch.Resources(), job)
	k.Create(t, []resourcetest.Case{
		{"valid", ""},
		{"negative parallelism", "spec.parallelism: -1",
			"spec.parallelism: Invalid value: -1: must be greater than or equal to 0"},
		{"negative completions", "spec.completions: -1",
			"spec.completions: Invalid value: -1: must be greater than or equal to 0"},
		{"negative deadline", "spec.activeDeadlineSeconds: -1",
			"spec.activeDeadlineSeconds: Invalid value: -1: must be greater than or equal to 0"},
		{"negative backoffLimit", "spec.backoffLimit: -1",
			"spec.backoffLimit: Invalid value: -1: must be greater than or equal to 0"},
		{"negative ttl", "spec.ttlSecondsAfterFinished: -1",
			"spec.ttlSecondsAfterFinished: Invalid value: -1: must be greater than or equal to 0"},
		{"selector of other labels", "spec.selector.matchLabels: {a: c}",
			"spec.template.metadata.labels: Invalid value: {\"a\":\"b\"}: `selector` does not match template `labels`"},
		{"no selector", "spec.selector: ~",
			"spec.selector: Required value",
			"spec.template.metadata.labels: Invalid value: {\"a\":\"b\"}: `selector` does not match template `labels`"},
		{"pods that never end", "spec.template.spec.restartPolicy: Always",
			`spec.template.spec.restartPolicy: Required value: valid values: "OnFailure", "Never"`},
		{"pods of an unknown policy", "spec.template.spec.restartPolicy: Maybe",
			`spec.template.spec.restartPolicy: Unsupported value: "Maybe": supported values: "Always", "OnFailure", "Never"`,
			`spec.template.spec.restartPolicy: Unsupported value: "Maybe": supported values: "OnFailure", "Never"`},
		{"unknown completion mode", "spec.completionMode: Some",
			`spec.completionMode: Unsupported value: "Some": supported values: "NonIndexed", "Indexed"`},
		{"indexed without completions", "spec.completionMode: Indexed"},
		{"indexed with too many pods", "spec.completionMode: Indexed\nspec.completions: 10\nspec.parallelism: 100001",
			"spec.parallelism: Invalid value: 100001: must be less than or equal to 100000 when completion mode is Indexed"},
		{"limit per index without indexes", "spec.backoffLimitPerIndex: 1",
			"spec.backoffLimitPerIndex: Invalid value: 1: requires indexed completion mode"},
		{"limit per index", "spec.completionMode: Indexed\nspec.completions: 2\nspec.backoffLimitPerIndex: 1\nspec.maxFailedIndexes: 1"},
		{"negative limit per index", "spec.completionMode: Indexed\nspec.completions: 2\nspec.backoffLimitPerIndex: -1\nspec.maxFailedIndexes: -1",
			"spec.backoffLimitPerIndex: Invalid value: -1: must be greater than or equal to 0",
			"spec.maxFailedIndexes: Invalid value: -1: must be greater than or equal to 0"},
		{"failed indexes without a limit", "spec.completionMode: Indexed\nspec.completions: 2\nspec.maxFailedIndexes: 1",
			"spec.backoffLimitPerIndex: Required value: when maxFailedIndexes is specified"},
		{"more failed indexes than indexes", "spec.completionMode: Indexed\nspec.completions: 2\nspec.backoffLimitPerIndex: 1\nspec.maxFailedIndexes: 3",
			"spec.maxFailedIndexes: Invalid value: 3: must be less than or equal to completions"},
		{"too many indexes with a limit", "spec.completionMode: Indexed\nspec.completions: 100001\nspec.backoffLimitPerIndex: 1",
			"spec.maxFailedIndexes: Required value: must be specified when completions is above 100000"},
		{"name too long for the last index", "metadata.name: a23456789a123456789a123456789a123456789a123456789a123456789a12\nspec.completionMode: Indexed\nspec.completions: 100",
			`metadata.name: Invalid value: "a23456789a123456789a123456789a123456789a123456789a123456789a12": will not able to create pod with invalid`},
		{"managed by a controller without a domain", "spec.managedBy: me",
			`spec.managedBy: Invalid value: "me": must be a domain-prefixed path (such as "acme.io/foo")`},
		{"managed by another controller", "spec.managedBy: example.com/me"},
		{"managedBy too long", "spec.managedBy: example.com/a23456789a123456789a123456789a123456789a123456789a1234",
			"spec.managedBy: Too long: may not be more than 63 bytes"},
		{"unknown pod replacement", "spec.podReplacementPolicy: Never",
			`spec.podReplacementPolicy: Unsupported value: "Never": supported values: "Failed", "TerminatingOrFailed"`},
		{"replaces terminating pods of a failure policy", "spec.podReplacementPolicy: TerminatingOrFailed\nspec.podFailurePolicy: {rules: [{action: FailJob, onExitCodes: {operator: In, values: [1]}}]}",
			`spec.podReplacementPolicy: Unsupported value: "TerminatingOrFailed": supported values: "Failed"`},
	})
	k.Update(t, []resourcetest.Case{
		{"nothing", ""},
		{"parallelism", "spec.parallelism: 3",
			"spec.completions: Invalid value: null: field is immutable"},
		{"ttl and deadline", "spec.ttlSecondsAfterFinished: 3\nspec.activeDeadlineSeconds: 3"},
		{"completions", "spec.completions: 3",
			"spec.completions: Invalid value: 3: field is immutable"},
		{"selector", "spec.selector.matchLabels: {x: z}\nspec.template.metadata.labels: {x: z}",
			`spec.selector: Invalid value: {"matchLabels":{"x":"z"}}: field is immutable`,
			"spec.template: Invalid value:"},
		{"image", "spec.template.spec.containers[0].image: redis",
			"spec.template: Invalid value:"},
		{"completion mode", "spec.completionMode: Indexed\nspec.completions: 1",
			`spec.completionMode: Invalid value: "Indexed": field is immutable`},
		{"failure policy", "spec.podFailurePolicy: {rules: [{action: FailJob, onExitCodes: {operator: In, values: [1]}}]}",
			`spec.podFailurePolicy: Invalid value: {"rules":[{"action":"FailJob","onExitCodes":{"operator":"In","values":[1]}}]}: field is immutable`},
		{"limit per index", "spec.backoffLimitPerIndex: 1",
			"spec.backoffLimitPerIndex: Invalid value: 1: field is immutable",
			"spec.backoffLimitPerIndex: Invalid value: 1: requires indexed completion mode"},
		{"managedBy", "spec.managedBy: example.com/me",
			`spec.managedBy: Invalid value: "example.com/me": field is immutable`},
		{"success policy", "spec.successPolicy: {rules: [{succeededCount: 1}]}",
			`spec.successPolicy: Invalid value: {"rules":[{"succeededCount":1}]}: field is immutable`,
			`spec.successPolicy: Invalid value: {"rules":[{"succeededCount":1}]}: requires indexed completion mode`},
		{"node selector while not suspended", "spec.template.spec.nodeSelector: {a: b}",
			"spec.template: Invalid value:"},
	})
	k.Defaults(t, []resourcetest.Case{
		{"one pod", "", "spec.completions: 1", "spec.parallelism: 1", "spec.backoffLimit: 6", "spec.completionMode: NonIndexed", "spec.suspend: false", "spec.podReplacementPolicy: TerminatingOrFailed"},
		{"work queue", "spec.parallelism: 3", "spec.completions: ~", "spec.parallelism: 3"},
		{"completions", "spec.completions: 3", "spec.completions: 3", "spec.parallelism: 1"},
		{"limit per index", "spec.backoffLimitPerIndex: 1", "spec.backoffLimit: 2147483647"},
		{"failure policy", "spec.podFailurePolicy: {rules: [{action: Ignore, onPodConditions: [{type: DisruptionTarget}]}]}",
			"spec.podReplacementPolicy: Failed", "spec.podFailurePolicy.rules[0].onPodConditions[0].status: 'True'"},
		{"labels", "", "metadata.labels: {a: b}"},
		{"labels of the user", "metadata.labels: {c: d}", "metadata.labels: {c: d}"},
	})
	k.Created(t, []resourcetest.Case{
		{"no status", "status: {active: 3}", "status: {}", "metadata.generation: 1"},
		{"own selector", "spec.manualSelector: ~\nspec.selector: ~\nmetadata.uid: u1",
			"spec.selector.matchLabels: {batch.kubernetes.io/controller-uid: u1}",
			"spec.template.metadata.labels: {a: b, batch.kubernetes.io/controller-uid: u1, batch.kubernetes.io/job-name: once, controller-uid: u1, job-name: once}"},
	})
	k.Updated(t, []resourcetest.Case{
		{"labels", "metadata.labels: {x: z}", "metadata.generation: 1"},
		{"parallelism", "spec.parallelism: 2", "metadata.generation: 2"},
	})
	k.Rows(t, []resourcetest.Case{
		{"running", "status: {startTime: 1999-12-31T23:59:00Z, active: 1}\nspec.completions: 3", "once  Running  0/3  60s  <unknown>  a  nginx  a=b"},
		{"suspended", "status.conditions: [{type: Suspended, status: 'True'}]\nspec.completions: 3", "once  Suspended  0/3    <unknown>  a  nginx  a=b"},
		{"failed", "status.conditions: [{type: Failed, status: 'True'}]\nspec.completions: 3", "once  Failed  0/3    <unknown>  a  nginx  a=b"},
		{"work queue", "spec.parallelism: 4", "once  Running  0/1 of 4    <unknown>  a  nginx  a=b"},
	})
}

const suspended = `
apiVersion: batch/v1
kind: Job
metadata: {name: waits, namespace: default}
spec:
  suspend: true
  completionMode: Indexed
  completions: 2
  parallelism: 2
  manualSelector: true
  selector: {matchLabels: {a: b}}
  template:
    metadata: {labels: {a: b}}
    spec: {restartPolicy: Never, containers: [{name: a, image: nginx}]}
`

func TestSuspendedJob(t *testing.T) {
	k := resourcetest.New(t, batch.Resources(), suspended)
	k.Update(t, []resourcetest.Case{
		{"placement", "spec.template.spec.nodeSelector: {a: b}\nspec.template.spec.tolerations: [{key: a, operator: Exists}]\nspec.template.spec.schedulingGates: [{name: example.com/a}]"},
		{"labels and annotations", "spec.template.metadata.labels: {a: b, c: d}\nspec.template.metadata.annotations: {a: b}"},
		{"image", "spec.template.spec.containers[0].image: redis",
			"spec.template.spec: Invalid value:"},
		{"elastic", "spec.completions: 3\nspec.parallelism: 3"},
		{"completions without parallelism", "spec.completions: 3",
			"spec.completions: Invalid value: 3: can only be modified in tandem with spec.parallelism"},
		{"resumed", "spec.suspend: false"},
	})
}

func TestJobFailurePolicy(t *testing.T) {
	k := resourcetest.New(t, batch.Resources(), job)
	k.Create(t, []resourcetest.Case{
		{"exit codes", "spec.podFailurePolicy: {rules: [{action: FailJob, onExitCodes: {containerName: a, operator: In, values: [1, 2]}}]}"},
		{"no rules", "spec.podFailurePolicy: {rules: []}"},
		{"unknown action", "spec.podFailurePolicy: {rules: [{action: Retry, onExitCodes: {operator: In, values: [1]}}]}",
			`spec.podFailurePolicy.rules[0].action: Unsupported value: "Retry": supported values: "Count", "FailIndex", "FailJob", "Ignore"`},
		{"no action", "spec.podFailurePolicy: {rules: [{onExitCodes: {operator: In, values: [1]}}]}",
			`spec.podFailurePolicy.rules[0].action: Required value: valid values: ["Count" "FailIndex" "FailJob" "Ignore"]`},
		{"no requirement", "spec.podFailurePolicy: {rules: [{action: Ignore}]}",
			"spec.podFailurePolicy.rules[0]: Invalid value: specifying one of OnExitCodes and OnPodConditions is required"},
		{"both requirements", "spec.podFailurePolicy: {rules: [{action: Ignore, onExitCodes: {operator: In, values: [1]}, onPodConditions: [{type: A, status: 'True'}]}]}",
			"spec.podFailurePolicy.rules[0]: Invalid value: specifying both OnExitCodes and OnPodConditions is not supported"},
		{"no values", "spec.podFailurePolicy: {rules: [{action: Ignore, onExitCodes: {operator: In, values: []}}]}",
			"spec.podFailurePolicy.rules[0].onExitCodes.values: Invalid value: []: at least one value is required"},
		{"success as a failure", "spec.podFailurePolicy: {rules: [{action: Ignore, onExitCodes: {operator: In, values: [0]}}]}",
			"spec.podFailurePolicy.rules[0].onExitCodes.values[0]: Invalid value: 0: must not be 0 for the In operator"},
		{"values out of order", "spec.podFailurePolicy: {rules: [{action: Ignore, onExitCodes: {operator: NotIn, values: [2, 1]}}]}",
			"spec.podFailurePolicy.rules[0].onExitCodes.values: Invalid value: [2,1]: must be ordered"},
		{"value twice", "spec.podFailurePolicy: {rules: [{action: Ignore, onExitCodes: {operator: NotIn, values: [1, 1]}}]}",
			"spec.podFailurePolicy.rules[0].onExitCodes.values[1]: Duplicate value: 1"},
		{"unknown operator", "spec.podFailurePolicy: {rules: [{action: Ignore, onExitCodes: {operator: Is, values: [1]}}]}",
			`spec.podFailurePolicy.rules[0].onExitCodes.operator: Unsupported value: "Is": supported values: "In", "NotIn"`},
		{"unknown container", "spec.podFailurePolicy: {rules: [{action: Ignore, onExitCodes: {containerName: z, operator: In, values: [1]}}]}",
			`spec.podFailurePolicy.rules[0].onExitCodes.containerName: Invalid value: "z": must be one of the container or initContainer names in the pod template`},
		{"condition without a type", "spec.podFailurePolicy: {rules: [{action: Ignore, onPodConditions: [{status: 'True'}]}]}",
			`spec.podFailurePolicy.rules[0].onPodConditions[0].type: Invalid value: "": name part must be non-empty`,
			`spec.podFailurePolicy.rules[0].onPodConditions[0].type: Invalid value: "": name part must consist of alphanumeric characters, '-', '_' or`},
		{"unknown status of a condition", "spec.podFailurePolicy: {rules: [{action: Ignore, onPodConditions: [{type: A, status: Perhaps}]}]}",
			`spec.podFailurePolicy.rules[0].onPodConditions[0].status: Unsupported value: "Perhaps": supported values: "False", "True", "Unknown"`},
		{"fails an index without a limit", "spec.podFailurePolicy: {rules: [{action: FailIndex, onExitCodes: {operator: In, values: [1]}}]}",
			`spec.podFailurePolicy.rules[0].action: Invalid value: "FailIndex": requires the backoffLimitPerIndex to be set`},
		{"pods that restart", "spec.template.spec.restartPolicy: OnFailure\nspec.podFailurePolicy: {rules: [{action: FailJob, onExitCodes: {operator: In, values: [1]}}]}",
			`spec.template.spec.restartPolicy: Invalid value: "OnFailure": only "Never" is supported when podFailurePolicy is specified`},
	})
	k.Create(t, []resourcetest.Case{
		{"success without indexes", "spec.successPolicy: {rules: [{succeededCount: 1}]}",
			`spec.successPolicy: Invalid value: {"rules":[{"succeededCount":1}]}: requires indexed completion mode`},
		{"success of an index", "spec.completionMode: Indexed\nspec.completions: 3\nspec.successPolicy: {rules: [{succeededIndexes: '0,2'}]}"},
		{"success without rules", "spec.completionMode: Indexed\nspec.completions: 3\nspec.successPolicy: {rules: []}",
			"spec.successPolicy.rules: Required value: at least one rules must be specified when the successPolicy is specified"},
		{"empty rule of success", "spec.completionMode: Indexed\nspec.completions: 3\nspec.successPolicy: {rules: [{}]}",
			"spec.successPolicy.rules[0]: Required value: at least one of succeededCount or succeededIndexes must be specified"},
		{"success of too many", "spec.completionMode: Indexed\nspec.completions: 3\nspec.successPolicy: {rules: [{succeededCount: 4}]}",
			"spec.successPolicy.rules[0].succeededCount: Invalid value: 4: must be less than or equal to 3 (the number of specified completions)"},
		{"success of none", "spec.completionMode: Indexed\nspec.completions: 3\nspec.successPolicy: {rules: [{succeededCount: 0}]}"},
		{"success of an index too high", "spec.completionMode: Indexed\nspec.completions: 3\nspec.successPolicy: {rules: [{succeededIndexes: '0-3'}]}",
			`spec.successPolicy.rules[0].succeededIndexes: Invalid value: "0-3": error parsing succeededIndexes: too large index: "3"`},
		{"malformed indexes", "spec.completionMode: Indexed\nspec.completions: 3\nspec.successPolicy: {rules: [{succeededIndexes: 0-a}]}",
			`spec.successPolicy.rules[0].succeededIndexes: Invalid value: "0-a": error parsing succeededIndexes: cannot convert string to integer for index: "a"`},
		{"indexes out of order", "spec.completionMode: Indexed\nspec.completions: 3\nspec.successPolicy: {rules: [{succeededIndexes: '2,1'}]}",
			`spec.successPolicy.rules[0].succeededIndexes: Invalid value: "2,1": error parsing succeededIndexes: non-increasing order, previous: 2, current: 1`},
	})
}

const finished = `
apiVersion: batch/v1
kind: Job
metadata: {name: done, namespace: default}
spec:
  manualSelector: true
  selector: {matchLabels: {a: b}}
  template:
    metadata: {labels: {a: b}}
    spec: {restartPolicy: Never, containers: [{name: a, image: nginx}]}
status: {startTime: 1999-12-31T23:00:00Z, active: 1, ready: 1}
`

func TestJobStatus(t *testing.T) {
	k := resourcetest.New(t, batch.Resources(), finished)
	k.Status(t, []resourcetest.Case{
		{"nothing", ""},
		{"negative counts", "status.active: -1\nstatus.succeeded: -1\nstatus.failed: -1",
			"status.active: Invalid value: -1: must be greater than or equal to 0",
			"status.failed: Invalid value: -1: cannot decrease the failed counter",
			"status.failed: Invalid value: -1: must be greater than or equal to 0",
			"status.ready: Invalid value: 1: cannot set more ready pods than active",
			"status.succeeded: Invalid value: -1: cannot decrease the succeeded counter",
			"status.succeeded: Invalid value: -1: must be greater than or equal to 0"},
		{"negative ready and terminating", "status.ready: -1\nstatus.terminating: -1",
			"status.ready: Invalid value: -1: must be greater than or equal to 0",
			"status.terminating: Invalid value: -1: must be greater than or equal to 0"},
		{"more ready than active", "status.ready: 2",
			"status.ready: Invalid value: 2: cannot set more ready pods than active"},
		{"completed before the start", "status.completionTime: 1999-12-31T22:00:00Z\nstatus.active: 0\nstatus.ready: 0\nstatus.succeeded: 1\nstatus.conditions: [{type: SuccessCriteriaMet, status: 'True'}, {type: Complete, status: 'True'}]",
			"status.completionTime: Invalid value: \"1999-12-31T22:00:00Z\": must be equal to or after `startTime`"},
		{"completion time of a running job", "status.completionTime: 1999-12-31T23:30:00Z",
			`status.completionTime: Invalid value: "1999-12-31T23:30:00Z": cannot set completionTime when there is no Complete=True condition`},
		{"complete without a time", "status.active: 0\nstatus.ready: 0\nstatus.conditions: [{type: SuccessCriteriaMet, status: 'True'}, {type: Complete, status: 'True'}]",
			"status.completionTime: Required value: completionTime is required for Complete jobs"},
		{"complete and failed", "status.active: 0\nstatus.ready: 0\nstatus.completionTime: 1999-12-31T23:30:00Z\nstatus.conditions: [{type: Complete, status: 'True'}, {type: Failed, status: 'True'}]",
			"status.conditions: Invalid value: cannot set Complete=True and Failed=true conditions",
			"status.conditions: Invalid value: cannot set Complete=True condition without the SuccessCriteriaMet=true condition",
			"status.conditions: Invalid value: cannot set Failed=True condition without the FailureTarget=true condition"},
		{"completed indexes of a job without", "status.completedIndexes: '1'",
			`status.completedIndexes: Invalid value: "1": cannot set non-empty completedIndexes when non-indexed completion mode`,
			`status.completedIndexes: Invalid value: "1": error parsing completedIndexes: too large index: "1"`},
		{"failed indexes of a job without", "status.failedIndexes: '1'",
			`status.failedIndexes: Invalid value: "1": cannot set non-null failedIndexes when backoffLimitPerIndex is null`},
		{"pod counted twice", "status.uncountedTerminatedPods: {succeeded: [a, a]}",
			`status.uncountedTerminatedPods.succeeded[1]: Duplicate value: "a"`},
		{"pod counted as both", "status.uncountedTerminatedPods: {succeeded: [a], failed: [a]}",
			`status.uncountedTerminatedPods.failed[0]: Duplicate value: "a"`},
		{"pod without a uid", "status.uncountedTerminatedPods: {failed: ['']}",
			`status.uncountedTerminatedPods.failed[0]: Invalid value: "": must not be empty`},
		{"start moved", "status.startTime: 1999-12-31T23:10:00Z",
			`status.startTime: Invalid value: "1999-12-31T23:10:00Z": field is immutable for unsuspended job once set`},
		{"active pods of a finished job", "status.completionTime: 1999-12-31T23:30:00Z\nstatus.conditions: [{type: SuccessCriteriaMet, status: 'True'}, {type: Complete, status: 'True'}]",
			"status.active: Invalid value: 1: active>0 is invalid for finished job"},
	})
	k.Status(t, []resourcetest.Case{
		{"complete", "status: {startTime: 1999-12-31T23:00:00Z, completionTime: 1999-12-31T23:30:00Z, conditions: [{type: SuccessCriteriaMet, status: 'True'}, {type: Complete, status: 'True'}]}"},
		{"failed", "status: {startTime: 1999-12-31T23:00:00Z, failed: 1, conditions: [{type: FailureTarget, status: 'True'}, {type: Failed, status: 'True'}]}"},
		{"failed without a target", "status: {startTime: 1999-12-31T23:00:00Z, conditions: [{type: Failed, status: 'True'}]}",
			"status.conditions: Invalid value: cannot set Failed=True condition without the FailureTarget=true condition"},
		{"successful and failed", "status: {startTime: 1999-12-31T23:00:00Z, conditions: [{type: SuccessCriteriaMet, status: 'True'}, {type: FailureTarget, status: 'True'}, {type: Failed, status: 'True'}]}",
			"status.conditions: Invalid value: cannot set SuccessCriteriaMet=True and Failed=true conditions",
			"status.conditions: Invalid value: cannot set SuccessCriteriaMet=True and FailureTarget=true conditions"},
		{"complete and about to fail", "status: {startTime: 1999-12-31T23:00:00Z, completionTime: 1999-12-31T23:30:00Z, conditions: [{type: SuccessCriteriaMet, status: 'True'}, {type: Complete, status: 'True'}, {type: FailureTarget, status: 'True'}]}",
			"status.conditions: Invalid value: cannot set Complete=True and FailureTarget=true conditions",
			"status.conditions: Invalid value: cannot set SuccessCriteriaMet=True and FailureTarget=true conditions"},
		{"failed without a start", "status: {conditions: [{type: FailureTarget, status: 'True'}, {type: Failed, status: 'True'}]}",
			"status.startTime: Invalid value: null: field is immutable for unsuspended job once set",
			"status.startTime: Required value: startTime is required for finished job"},
		{"terminating pods of a failed job", "status: {startTime: 1999-12-31T23:00:00Z, terminating: 1, uncountedTerminatedPods: {failed: [a]}, conditions: [{type: FailureTarget, status: 'True'}, {type: Failed, status: 'True'}]}",
			"status.terminating: Invalid value: 1: terminating>0 is invalid for finished job",
			`status.uncountedTerminatedPods: Invalid value: {"failed":["a"]}: must be empty for finished job`},
	})
	k.Reported(t, []resourcetest.Case{{"spec", "spec.parallelism: 9\nstatus.active: 2", "spec.parallelism: 1", "status.active: 2"}})
}

const indexed = `
apiVersion: batch/v1
kind: Job
metadata: {name: parts, namespace: default}
spec:
  completionMode: Indexed
  completions: 9
  parallelism: 3
  backoffLimitPerIndex: 1
  manualSelector: true
  selector: {matchLabels: {a: b}}
  template:
    metadata: {labels: {a: b}}
    spec: {restartPolicy: Never, containers: [{name: a, image: nginx}]}
status: {startTime: 1999-12-31T23:00:00Z, succeeded: 2, failed: 2, completedIndexes: '1,2', failedIndexes: '3'}
`

func TestIndexedJobStatus(t *testing.T) {
	k := resourcetest.New(t, batch.Resources(), indexed)
	k.Status(t, []resourcetest.Case{
		{"nothing", ""},
		{"more indexes", "status.completedIndexes: '1,2,4-8'\nstatus.succeeded: 7"},
		{"index too large", "status.completedIndexes: 1-9\nstatus.failedIndexes: '10'",
			`status.completedIndexes: Invalid value: "1-9": error parsing completedIndexes: too large index: "9"`,
			`status.failedIndexes: Invalid value: "10": error parsing failedIndexes: too large index: "10"`},
		{"indexes out of order", "status.completedIndexes: '2,1'\nstatus.failedIndexes: '4,3'",
			`status.completedIndexes: Invalid value: "2,1": error parsing completedIndexes: non-increasing order, previous: 2, current: 1`,
			`status.failedIndexes: Invalid value: "4,3": error parsing failedIndexes: non-increasing order, previous: 4, current: 3`},
		{"not an index", "status.completedIndexes: 1,a\nstatus.failedIndexes: 1-2-3",
			`status.completedIndexes: Invalid value: "1,a": error parsing completedIndexes: cannot convert string to integer for index: "a"`,
			`status.failedIndexes: Invalid value: "1-2-3": error parsing failedIndexes: the fragment "1-2-3" violates the requirement that an index`},
		{"completed and failed", "status.completedIndexes: '1,2-5'",
			`status.failedIndexes: Invalid value: "3": failedIndexes and completedIndexes overlap at index: 3`},
		{"no indexes", "status.completedIndexes: ~\nstatus.failedIndexes: ~"},
		{"fewer succeeded", "status.succeeded: 1",
			"status.succeeded: Invalid value: 1: cannot decrease the succeeded counter"},
		{"fewer failed", "status.failed: 1",
			"status.failed: Invalid value: 1: cannot decrease the failed counter"},
	})
}

const cronJob = `
apiVersion: batch/v1
kind: CronJob
metadata: {name: nightly, namespace: default}
spec:
  schedule: "0 3 * * *"
  jobTemplate:
    metadata: {labels: {a: b}}
    spec: {template: {spec: {restartPolicy: OnFailure, containers: [{name: a, image: nginx}]}}}
status: {active: [{name: a}], lastScheduleTime: 1999-12-31T03:00:00Z}
`

func TestCronJob(t *testing.T) {
	k := resourcetest.New(t, batch.Resources(), cronJob)
	k.Create(t, []resourcetest.Case{
		{"valid", ""},
		{"name too long", "metadata.name: a23456789a123456789a123456789a123456789a123456789a123",
			`metadata.name: Invalid value: "a23456789a123456789a123456789a123456789a123456789a123": must be no more than 52 characters`},
		{"no schedule", "spec.schedule: ''",
			"spec.schedule: Required value"},
		{"malformed schedule", "spec.schedule: every night",
			`spec.schedule: Invalid value: "every night": expected exactly 5 fields, found 2: [every night]`},
		{"every hour", "spec.schedule: '@hourly'"},
		{"time zone in the schedule", "spec.schedule: TZ=UTC 0 3 * * *",
			`spec.schedule: Invalid value: "TZ=UTC 0 3 * * *": cannot use TZ or CRON_TZ in schedule, use timeZone field instead`},
		{"time zone", "spec.timeZone: Europe/Berlin"},
		{"empty time zone", "spec.timeZone: ''",
			`spec.timeZone: Invalid value: "": timeZone must be nil or non-empty string`},
		{"unknown time zone", "spec.timeZone: Mars/Base",
			`spec.timeZone: Invalid value: "Mars/Base": unknown time zone Mars/Base`},
		{"local time", "spec.timeZone: Local",
			`spec.timeZone: Invalid value: "Local": timeZone must be an explicit time zone as defined in https://www.iana.org/time-zones`},
		{"unknown concurrency", "spec.concurrencyPolicy: Some",
			`spec.concurrencyPolicy: Unsupported value: "Some": supported values: "Allow", "Forbid", "Replace"`},
		{"negative deadline", "spec.startingDeadlineSeconds: -1",
			"spec.startingDeadlineSeconds: Invalid value: -1: must be greater than or equal to 0"},
		{"negative history limits", "spec.successfulJobsHistoryLimit: -1\nspec.failedJobsHistoryLimit: -1",
			"spec.failedJobsHistoryLimit: Invalid value: -1: must be greater than or equal to 0",
			"spec.successfulJobsHistoryLimit: Invalid value: -1: must be greater than or equal to 0"},
		{"manual selector", "spec.jobTemplate.spec.manualSelector: true",
			`spec.jobTemplate.spec.manualSelector: Unsupported value: true: supported values: "nil", "false"`},
		{"selector", "spec.jobTemplate.spec.selector: {matchLabels: {a: b}}",
			"spec.jobTemplate.spec.selector: Invalid value: {\"matchLabels\":{\"a\":\"b\"}}: `selector` will be auto-generated"},
		{"pods that never end", "spec.jobTemplate.spec.template.spec.restartPolicy: Always",
			`spec.jobTemplate.spec.template.spec.restartPolicy: Required value: valid values: "OnFailure", "Never"`},
		{"negative parallelism", "spec.jobTemplate.spec.parallelism: -1",
			"spec.jobTemplate.spec.parallelism: Invalid value: -1: must be greater than or equal to 0"},
		{"malformed label", "spec.jobTemplate.metadata.labels: {a: 'b c'}"},
	})
	k.Update(t, []resourcetest.Case{
		{"schedule and template", "spec.schedule: '@daily'\nspec.jobTemplate.spec.template.spec.containers[0].image: redis"},
		{"malformed schedule", "spec.schedule: x",
			`spec.schedule: Invalid value: "x": expected exactly 5 fields, found 1: [x]`},
		{"time zone", "spec.timeZone: Nowhere",
			`spec.timeZone: Invalid value: "Nowhere": unknown time zone Nowhere`},
		{"time zone in the schedule", "spec.schedule: TZ=UTC 0 3 * * *",
			`spec.schedule: Invalid value: "TZ=UTC 0 3 * * *": cannot use TZ or CRON_TZ in schedule, use timeZone field instead`},
	})
	k.Defaults(t, []resourcetest.Case{
		{"policies", "", "spec.concurrencyPolicy: Allow", "spec.suspend: false", "spec.successfulJobsHistoryLimit: 3", "spec.failedJobsHistoryLimit: 1"},
		{"limits of the user", "spec.failedJobsHistoryLimit: 0", "spec.failedJobsHistoryLimit: 0"},
		{"pods", "", "spec.jobTemplate.spec.template.spec.schedulerName: default-scheduler"},
	})
	k.Created(t, []resourcetest.Case{{"no status", "", "status: {}", "metadata.generation: 1"}})
	k.Updated(t, []resourcetest.Case{
		{"labels", "metadata.labels: {a: b}", "metadata.generation: 1"},
		{"suspend", "spec.suspend: true", "metadata.generation: 2"},
	})
	k.Reported(t, []resourcetest.Case{{"spec", "spec.schedule: '@daily'\nstatus.active: ~", "spec.schedule: 0 3 * * *", "status.active: ~"}})
	k.Rows(t, []resourcetest.Case{
		{"row", "", "nightly  0 3 * * *  <none>  <unset>  1  21h  <unknown>  a  nginx  <none>"},
		{"suspended", "spec.suspend: true\nspec.timeZone: Europe/Rome\nstatus: {}", "nightly  0 3 * * *  Europe/Rome  True  0  <none>  <unknown>  a  nginx  <none>"},
	})
}
