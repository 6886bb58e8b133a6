package apps_test

import (
	"testing"

	"fairlead.dev/internal/resource/apps"
	"fairlead.dev/internal/resource/resourcetest"
)

const replicaSet = `
apiVersion: apps/v1
kind: ReplicaSet
metadata: {name: web, namespace: default}
spec:
  replicas: 2
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec: {containers: [{name: a, image: nginx}]}
status: {replicas: 2, fullyLabeledReplicas: 2, readyReplicas: 2, availableReplicas: 1, observedGeneration: 1}
`

func TestReplicaSet(t *testing.T) {
	k := resourcetest.New(t, apps.Resources(), replicaSet)
	k.Create(t, []resourcetest.Case{
		{"valid", ""},
		{"negative replicas", "spec.replicas: -1",
			"spec.replicas: Invalid value: -1: must be greater than or equal to 0"},
		{"negative minReadySeconds", "spec.minReadySeconds: -1",
			"spec.minReadySeconds: Invalid value: -1: must be greater than or equal to 0"},
		{"no selector", "spec.selector: ~",
			"spec.selector: Required value",
			"spec.template.metadata.labels: Invalid value: {\"app\":\"web\"}: `selector` does not match template `labels`"},
		{"empty selector", "spec.selector: {}",
			"spec.selector: Invalid value: {}: empty selector is invalid for deployment"},
		{"selector of other labels", "spec.selector.matchLabels: {app: other}",
			"spec.template.metadata.labels: Invalid value: {\"app\":\"web\"}: `selector` does not match template `labels`"},
		{"pods that end", "spec.template.spec.restartPolicy: Never",
			`spec.template.spec.restartPolicy: Unsupported value: "Never": supported values: "Always"`},
		{"pods with a deadline", "spec.template.spec.activeDeadlineSeconds: 9",
			"spec.template.spec.activeDeadlineSeconds: Forbidden: activeDeadlineSeconds in ReplicaSet is not Supported"},
		{"unknown DNS policy", "spec.template.spec.dnsPolicy: Mine",
			`spec.template.spec.dnsPolicy: Unsupported value: "Mine": supported values: "ClusterFirstWithHostNet", "ClusterFirst", "Default", "None"`},
		{"disk shared for writing", "spec.template.spec.volumes: [{name: d, awsElasticBlockStore: {volumeID: d}}]"},
	})
	k.Update(t, []resourcetest.Case{
		{"replicas", "spec.replicas: 0"},
		{"selector", "spec.selector.matchLabels: {app: x}\nspec.template.metadata.labels: {app: x}",
			`spec.selector: Invalid value: {"matchLabels":{"app":"x"}}: field is immutable`},
		{"template of others", "spec.template.metadata.labels: {app: x}",
			"spec.template.metadata.labels: Invalid value: {\"app\":\"x\"}: `selector` does not match template `labels`"},
		{"template", "spec.template.spec.containers[0].image: redis"},
	})
	k.Status(t, []resourcetest.Case{
		{"nothing", ""},
		{"negative replicas", "status.replicas: -1",
			"status.availableReplicas: Invalid value: 1: cannot be greater than status.replicas",
			"status.fullyLabeledReplicas: Invalid value: 2: cannot be greater than status.replicas",
			"status.readyReplicas: Invalid value: 2: cannot be greater than status.replicas",
			"status.replicas: Invalid value: -1: must be greater than or equal to 0"},
		{"negative observedGeneration", "status.observedGeneration: -1",
			"status.observedGeneration: Invalid value: -1: must be greater than or equal to 0"},
		{"more labeled than all", "status.fullyLabeledReplicas: 3",
			"status.fullyLabeledReplicas: Invalid value: 3: cannot be greater than status.replicas"},
		{"more ready than all", "status.readyReplicas: 3",
			"status.readyReplicas: Invalid value: 3: cannot be greater than status.replicas"},
		{"more available than all", "status.availableReplicas: 3",
			"status.availableReplicas: Invalid value: 3: cannot be greater than readyReplicas",
			"status.availableReplicas: Invalid value: 3: cannot be greater than status.replicas"},
		{"more available than ready", "status.readyReplicas: 0",
			"status.availableReplicas: Invalid value: 1: cannot be greater than readyReplicas"},
		{"negative terminating", "status.terminatingReplicas: -1",
			"status.terminatingReplicas: Invalid value: -1: must be greater than or equal to 0"},
	})
	k.Defaults(t, []resourcetest.Case{
		{"replicas", "spec.replicas: ~", "spec.replicas: 1"},
		{"no replicas", "spec.replicas: 0", "spec.replicas: 0"},
		{"pods", "", "spec.template.spec.terminationGracePeriodSeconds: 30", "spec.template.spec.dnsPolicy: ClusterFirst"},
	})
	k.Created(t, []resourcetest.Case{{"no status", "", "status: {replicas: 0}", "metadata.generation: 1"}})
	k.Updated(t, []resourcetest.Case{
		{"labels", "metadata.labels: {a: b}", "metadata.generation: 1"},
		{"annotations", "metadata.annotations: {a: b}", "metadata.generation: 1"},
		{"replicas", "spec.replicas: 3", "metadata.generation: 2"},
	})
	k.Reported(t, []resourcetest.Case{{"spec", "spec.replicas: 9\nstatus.readyReplicas: 0", "spec.replicas: 2", "status.readyReplicas: ~"}})
	k.Rows(t, []resourcetest.Case{{"row", "", "web  2  2  2  <unknown>  a  nginx  app=web"}})
}

const daemonSet = `
apiVersion: apps/v1
kind: DaemonSet
metadata: {name: agent, namespace: default}
spec:
  selector: {matchLabels: {app: agent}}
  template:
    metadata: {labels: {app: agent}}
    spec: {containers: [{name: a, image: agent}]}
status: {currentNumberScheduled: 3, numberMisscheduled: 1, desiredNumberScheduled: 4, numberReady: 2, updatedNumberScheduled: 3, numberAvailable: 1, numberUnavailable: 3}
`

func TestDaemonSet(t *testing.T) {
	k := resourcetest.New(t, apps.Resources(), daemonSet)
	k.Create(t, []resourcetest.Case{
		{"valid", ""},
		{"no selector", "spec.selector: ~",
			"spec.template.metadata.labels: Invalid value: {\"app\":\"agent\"}: `selector` does not match template `labels`"},
		{"empty selector", "spec.selector: {}",
			"spec.selector: Invalid value: {}: empty selector is invalid for daemonset"},
		{"selector of other labels", "spec.selector.matchLabels: {app: other}",
			"spec.template.metadata.labels: Invalid value: {\"app\":\"agent\"}: `selector` does not match template `labels`"},
		{"pods that end", "spec.template.spec.restartPolicy: Never",
			`spec.template.spec.restartPolicy: Unsupported value: "Never": supported values: "Always"`},
		{"pods with a deadline", "spec.template.spec.activeDeadlineSeconds: 9",
			"spec.template.spec.activeDeadlineSeconds: Forbidden: activeDeadlineSeconds in DaemonSet is not Supported"},
		{"negative minReadySeconds", "spec.minReadySeconds: -1",
			"spec.minReadySeconds: Invalid value: -1: must be greater than or equal to 0"},
		{"negative revisionHistoryLimit", "spec.revisionHistoryLimit: -1",
			"spec.revisionHistoryLimit: Invalid value: -1: must be greater than or equal to 0"},
		{"unknown strategy", "spec.updateStrategy.type: Slow",
			`spec.updateStrategy: Unsupported value: {"type":"Slow"}: supported values: "RollingUpdate", "OnDelete"`},
		{"on delete", "spec.updateStrategy.type: OnDelete"},
		{"rolling update that cannot move", "spec.updateStrategy: {type: RollingUpdate, rollingUpdate: {maxUnavailable: 0, maxSurge: 0}}",
			"spec.updateStrategy.rollingUpdate.maxUnavailable: Required value: cannot be 0 when maxSurge is 0"},
		{"surge and unavailable", "spec.updateStrategy: {type: RollingUpdate, rollingUpdate: {maxUnavailable: 1, maxSurge: 1}}",
			"spec.updateStrategy.rollingUpdate.maxSurge: Invalid value: 1: may not be set when maxUnavailable is non-zero"},
		{"surge on the host's ports", "spec.updateStrategy: {type: RollingUpdate, rollingUpdate: {maxUnavailable: 0, maxSurge: 1}}\nspec.template.spec.containers[0].ports: [{containerPort: 80, hostPort: 80}]"},
		{"percent above 100", "spec.updateStrategy: {type: RollingUpdate, rollingUpdate: {maxUnavailable: 101%}}",
			`spec.updateStrategy.rollingUpdate.maxUnavailable: Invalid value: "101%": must not be greater than 100%`},
		{"negative maxUnavailable", "spec.updateStrategy: {type: RollingUpdate, rollingUpdate: {maxUnavailable: -1}}",
			"spec.updateStrategy.rollingUpdate.maxUnavailable: Invalid value: -1: must be greater than or equal to 0"},
	})
	k.Update(t, []resourcetest.Case{
		{"image", "spec.template.spec.containers[0].image: redis"},
		{"selector", "spec.selector.matchLabels: {app: x}\nspec.template.metadata.labels: {app: x}",
			`spec.selector: Invalid value: {"matchLabels":{"app":"x"}}: field is immutable`},
		{"template of others", "spec.template.metadata.labels: {app: x}",
			"spec.template.metadata.labels: Invalid value: {\"app\":\"x\"}: `selector` does not match template `labels`"},
	})
	k.Status(t, []resourcetest.Case{
		{"nothing", ""},
		{"negative counts", "status: {currentNumberScheduled: -1, numberMisscheduled: -2, desiredNumberScheduled: -3, numberReady: -4}",
			"status.currentNumberScheduled: Invalid value: -1: must be greater than or equal to 0",
			"status.desiredNumberScheduled: Invalid value: -3: must be greater than or equal to 0",
			"status.numberMisscheduled: Invalid value: -2: must be greater than or equal to 0",
			"status.numberReady: Invalid value: -4: must be greater than or equal to 0"},
		{"negative counts of a rollout", "status: {updatedNumberScheduled: -1, numberAvailable: -2, numberUnavailable: -3, observedGeneration: -4}",
			"status.numberAvailable: Invalid value: -2: must be greater than or equal to 0",
			"status.numberUnavailable: Invalid value: -3: must be greater than or equal to 0",
			"status.observedGeneration: Invalid value: -4: must be greater than or equal to 0",
			"status.updatedNumberScheduled: Invalid value: -1: must be greater than or equal to 0"},
		{"negative collisions", "status.collisionCount: -1",
			"status.collisionCount: Invalid value: -1: must be greater than or equal to 0"},
	})
	k.Defaults(t, []resourcetest.Case{
		{"strategy", "", "spec.updateStrategy: {type: RollingUpdate, rollingUpdate: {maxSurge: 0, maxUnavailable: 1}}", "spec.revisionHistoryLimit: 10"},
		{"on delete", "spec.updateStrategy.type: OnDelete", "spec.updateStrategy: {type: OnDelete}"},
	})
	k.Created(t, []resourcetest.Case{{"no status", "", "status.numberReady: 0", "metadata.generation: 1"}})
	k.Updated(t, []resourcetest.Case{
		{"labels", "metadata.labels: {a: b}", "metadata.generation: 1"},
		{"image", "spec.template.spec.containers[0].image: redis", "metadata.generation: 2"},
	})
	k.Reported(t, []resourcetest.Case{{"spec", "spec.minReadySeconds: 9\nstatus.numberReady: 3", "spec.minReadySeconds: ~", "status.numberReady: 3"}})
	k.Rows(t, []resourcetest.Case{{"row", "spec.template.spec.nodeSelector: {disk: ssd}", "agent  4  3  2  3  1  disk=ssd  <unknown>  a  agent  app=agent"}})
}

const statefulSet = `
apiVersion: apps/v1
kind: StatefulSet
metadata: {name: db, namespace: default}
spec:
  replicas: 2
  serviceName: db
  selector: {matchLabels: {app: db}}
  template:
    metadata: {labels: {app: db}}
    spec: {containers: [{name: a, image: postgres}]}
  volumeClaimTemplates:
  - metadata: {name: data}
    spec: {accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}}
status: {replicas: 2, readyReplicas: 2, currentReplicas: 2, updatedReplicas: 2, availableReplicas: 1}
`

func TestStatefulSet(t *testing.T) {
	k := resourcetest.New(t, apps.Resources(), statefulSet)
	k.Create(t, []resourcetest.Case{
		{"valid", ""},
		{"name not a label", "metadata.name: a.b",
			`metadata.name: Invalid value: "a.b": must not contain dots`},
		{"negative replicas", "spec.replicas: -1",
			"spec.replicas: Invalid value: -1: must be greater than or equal to 0"},
		{"negative minReadySeconds", "spec.minReadySeconds: -1",
			"spec.minReadySeconds: Invalid value: -1: must be greater than or equal to 0"},
		{"negative first ordinal", "spec.ordinals: {start: -1}",
			"spec.ordinals.start: Invalid value: -1: must be greater than or equal to 0"},
		{"no selector", "spec.selector: ~",
			"spec.selector: Required value",
			"spec.template.metadata.labels: Invalid value: {\"app\":\"db\"}: `selector` does not match template `labels`"},
		{"empty selector", "spec.selector: {}",
			"spec.selector: Invalid value: {}: empty selector is invalid for statefulset"},
		{"selector of other labels", "spec.selector.matchLabels: {app: other}",
			"spec.template.metadata.labels: Invalid value: {\"app\":\"db\"}: `selector` does not match template `labels`"},
		{"pods that end", "spec.template.spec.restartPolicy: OnFailure",
			`spec.template.spec.restartPolicy: Unsupported value: "OnFailure": supported values: "Always"`},
		{"pods with a deadline", "spec.template.spec.activeDeadlineSeconds: 9",
			"spec.template.spec.activeDeadlineSeconds: Forbidden: activeDeadlineSeconds in StatefulSet is not Supported"},
		{"unknown pod management", "spec.podManagementPolicy: Wild",
			`spec.podManagementPolicy: Invalid value: "Wild": must be 'OrderedReady' or 'Parallel'`},
		{"unknown strategy", "spec.updateStrategy.type: Slow",
			`spec.updateStrategy: Invalid value: {"type":"Slow"}: must be 'RollingUpdate' or 'OnDelete'`},
		{"on delete with a partition", "spec.updateStrategy: {type: OnDelete, rollingUpdate: {partition: 1}}",
			`spec.updateStrategy.rollingUpdate: Invalid value: {"partition":1}: only allowed for updateStrategy 'RollingUpdate'`},
		{"negative partition", "spec.updateStrategy: {type: RollingUpdate, rollingUpdate: {partition: -1}}",
			"spec.updateStrategy.rollingUpdate.partition: Invalid value: -1: must be greater than or equal to 0"},
		{"no unavailable", "spec.updateStrategy: {type: RollingUpdate, rollingUpdate: {maxUnavailable: 0}}",
			"spec.updateStrategy.rollingUpdate.maxUnavailable: Invalid value: 0: cannot be 0"},
		{"unavailable above 100%", "spec.updateStrategy: {type: RollingUpdate, rollingUpdate: {maxUnavailable: 101%}}",
			`spec.updateStrategy.rollingUpdate.maxUnavailable: Invalid value: "101%": must not be greater than 100%`},
		{"claims deleted and scaled", "spec.persistentVolumeClaimRetentionPolicy: {whenDeleted: Delete, whenScaled: Delete}"},
		{"unknown retention", "spec.persistentVolumeClaimRetentionPolicy: {whenDeleted: Keep, whenScaled: Keep}",
			`spec.persistentVolumeClaimRetentionPolicy.whenDeleted: Unsupported value: "Keep": supported values: "Retain", "Delete"`,
			`spec.persistentVolumeClaimRetentionPolicy.whenScaled: Unsupported value: "Keep": supported values: "Retain", "Delete"`},
		{"service name not a subdomain", "spec.serviceName: A_B",
			`spec.serviceName: Invalid value: "A_B": a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must`},
		{"negative revisionHistoryLimit", "spec.revisionHistoryLimit: -1"},
	})
	k.Update(t, []resourcetest.Case{
		{"mutable fields", "spec.replicas: 3\nspec.ordinals: {start: 1}\nspec.minReadySeconds: 5\nspec.updateStrategy: {type: OnDelete}"},
		{"image", "spec.template.spec.containers[0].image: redis"},
		{"retention", "spec.persistentVolumeClaimRetentionPolicy: {whenDeleted: Delete, whenScaled: Retain}"},
		{"selector", "spec.selector.matchLabels: {app: x}\nspec.template.metadata.labels: {app: x}",
			`spec.selector: Invalid value: {"matchLabels":{"app":"x"}}: field is immutable`},
		{"service", "spec.serviceName: other",
			`spec.serviceName: Invalid value: "other": field is immutable`},
		{"pod management", "spec.podManagementPolicy: Parallel",
			`spec.podManagementPolicy: Invalid value: "Parallel": field is immutable`},
		{"claim template", "spec.volumeClaimTemplates[0].spec.resources.requests.storage: 2Gi",
			"spec.volumeClaimTemplates: Invalid value: "},
		{"history limit", "spec.revisionHistoryLimit: 3"},
	})
	k.Status(t, []resourcetest.Case{
		{"nothing", ""},
		{"negative counts", "status: {replicas: -1, readyReplicas: -1, currentReplicas: -1, updatedReplicas: -1, availableReplicas: -1}",
			"status.availableReplicas: Invalid value: -1: must be greater than or equal to 0",
			"status.currentReplicas: Invalid value: -1: must be greater than or equal to 0",
			"status.readyReplicas: Invalid value: -1: must be greater than or equal to 0",
			"status.replicas: Invalid value: -1: must be greater than or equal to 0",
			"status.updatedReplicas: Invalid value: -1: must be greater than or equal to 0"},
		{"negative observedGeneration", "status.observedGeneration: -1",
			"status.observedGeneration: Invalid value: -1: must be greater than or equal to 0"},
		{"negative collisions", "status.collisionCount: -1",
			"status.collisionCount: Invalid value: -1: must be greater than or equal to 0"},
		{"more ready than all", "status.readyReplicas: 3",
			"status.readyReplicas: Invalid value: 3: cannot be greater than status.replicas"},
		{"more current than all", "status.currentReplicas: 3",
			"status.currentReplicas: Invalid value: 3: cannot be greater than status.replicas"},
		{"more updated than all", "status.updatedReplicas: 3",
			"status.updatedReplicas: Invalid value: 3: cannot be greater than status.replicas"},
		{"more available than ready", "status.readyReplicas: 0",
			"status.availableReplicas: Invalid value: 1: cannot be greater than status.readyReplicas"},
		{"more available than all", "status.availableReplicas: 3",
			"status.availableReplicas: Invalid value: 3: cannot be greater than status.readyReplicas",
			"status.availableReplicas: Invalid value: 3: cannot be greater than status.replicas"},
	})
	k.Defaults(t, []resourcetest.Case{
		{"replicas", "spec.replicas: ~", "spec.replicas: 1", "spec.revisionHistoryLimit: 10", "spec.podManagementPolicy: OrderedReady"},
		{"strategy", "", "spec.updateStrategy: {type: RollingUpdate, rollingUpdate: {partition: 0, maxUnavailable: 1}}"},
		{"on delete", "spec.updateStrategy: {type: OnDelete}", "spec.updateStrategy: {type: OnDelete}"},
		{"retention", "", "spec.persistentVolumeClaimRetentionPolicy: {whenDeleted: Retain, whenScaled: Retain}"},
		{"half a retention", "spec.persistentVolumeClaimRetentionPolicy: {whenDeleted: Delete}",
			"spec.persistentVolumeClaimRetentionPolicy: {whenDeleted: Delete, whenScaled: Retain}"},
		{"claims", "", "spec.volumeClaimTemplates[0].spec.volumeMode: Filesystem", "spec.volumeClaimTemplates[0].status.phase: Pending"},
	})
	k.Created(t, []resourcetest.Case{{"no status", "", "status: {replicas: 0, availableReplicas: 0}", "metadata.generation: 1"}})
	k.Updated(t, []resourcetest.Case{
		{"labels", "metadata.labels: {a: b}", "metadata.generation: 1"},
		{"replicas", "spec.replicas: 3", "metadata.generation: 2"},
	})
	k.Reported(t, []resourcetest.Case{{"spec", "spec.replicas: 9\nstatus.readyReplicas: 1", "spec.replicas: 2", "status.readyReplicas: 1"}})
	k.Rows(t, []resourcetest.Case{{"row", "", "db  2/2  <unknown>  a  postgres"}})
}

const revision = `
apiVersion: apps/v1
kind: ControllerRevision
metadata: {name: db-1, namespace: default, ownerReferences: [{apiVersion: apps/v1, kind: StatefulSet, name: db, uid: u, controller: true}]}
data: {spec: {a: 1}}
revision: 1
`

func TestControllerRevision(t *testing.T) {
	k := resourcetest.New(t, apps.Resources(), revision)
	k.Create(t, []resourcetest.Case{
		{"valid", ""},
		{"negative revision", "revision: -1",
			"revision: Invalid value: -1: must be greater than or equal to 0"},
		{"no data", "data: ~",
			"data: Required value: data is mandatory"},
		{"data not an object", "data: [1]",
			"data: Required value: data must be a valid JSON object"},
	})
	k.Update(t, []resourcetest.Case{
		{"revision", "revision: 2"},
		{"labels", "metadata.labels: {a: b}"},
		{"data", "data: {spec: {a: 2}}",
			`data: Invalid value: {"spec":{"a":2}}: field is immutable`},
	})
	k.Rows(t, []resourcetest.Case{
		{"owned", "", "db-1  statefulset.apps/db  1  <unknown>"},
		{"orphan", "metadata.ownerReferences: ~", "db-1  <none>  1  <unknown>"},
	})
}
