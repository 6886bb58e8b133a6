package apps_test

import (
	"testing"

	"fairlead.dev/internal/resource/apps"
	"fairlead.dev/internal/resource/resourcetest"
)

const deployment = `
apiVersion: apps/v1
kind: Deployment
metadata: {name: web, namespace: default}
spec:
  replicas: 3
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec: {containers: [{name: a, image: nginx}]}
status: {replicas: 3, observedGeneration: 1, updatedReplicas: 3, readyReplicas: 2, availableReplicas: 1, unavailableReplicas: 2}
`

func TestDeployment(t *testing.T) {
	k := resourcetest.New(t, apps.Resources(), deployment)
	k.Create(t, []resourcetest.Case{
		{"valid", ""},
		{"negative replicas", "spec.replicas: -1",
			"spec.replicas: Invalid value: -1: must be greater than or equal to 0"},
		{"negative minReadySeconds", "spec.minReadySeconds: -1",
			"spec.minReadySeconds: Invalid value: -1: must be greater than or equal to 0"},
		{"negative revisionHistoryLimit", "spec.revisionHistoryLimit: -1",
			"spec.revisionHistoryLimit: Invalid value: -1: must be greater than or equal to 0"},
		{"deadline not after minReadySeconds", "spec.minReadySeconds: 5\nspec.progressDeadlineSeconds: 5",
			"spec.progressDeadlineSeconds: Invalid value: 5: must be greater than minReadySeconds"},
		{"negative deadline", "spec.progressDeadlineSeconds: -1",
			"spec.progressDeadlineSeconds: Invalid value: -1: must be greater than minReadySeconds",
			"spec.progressDeadlineSeconds: Invalid value: -1: must be greater than or equal to 0"},
		{"no selector", "spec.selector: ~",
			"spec.selector: Required value",
			"spec.template.metadata.labels: Invalid value: {\"app\":\"web\"}: `selector` does not match template `labels`"},
		{"empty selector", "spec.selector: {}",
			"spec.selector: Invalid value: {}: empty selector is invalid for deployment"},
		{"malformed selector", "spec.selector: {matchExpressions: [{key: app, operator: Equals}]}",
			`spec.selector.matchExpressions[0].operator: Invalid value: "Equals": not a valid selector operator`,
			`spec.selector: Invalid value: {"matchExpressions":[{"key":"app","operator":"Equals"}]}: invalid label selector`},
		{"selector of other labels", "spec.template.metadata.labels: {app: other}",
			"spec.template.metadata.labels: Invalid value: {\"app\":\"other\"}: `selector` does not match template `labels`"},
		{"malformed label in the template", "spec.template.metadata.labels: {app: web, '-': a}",
			`spec.template.labels: Invalid value: "-": name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with`},
		{"unknown strategy", "spec.strategy.type: Slow",
			`spec.strategy: Unsupported value: {"type":"Slow"}: supported values: "Recreate", "RollingUpdate"`},
		{"recreate with rolling update", "spec.strategy: {type: Recreate, rollingUpdate: {maxSurge: 1}}",
			"spec.strategy.rollingUpdate: Forbidden: may not be specified when strategy `type` is 'Recreate'"},
		{"rolling update that cannot move", "spec.strategy: {type: RollingUpdate, rollingUpdate: {maxSurge: 0, maxUnavailable: 0}}",
			"spec.strategy.rollingUpdate.maxUnavailable: Invalid value: 0: may not be 0 when `maxSurge` is 0"},
		{"negative maxSurge", "spec.strategy: {type: RollingUpdate, rollingUpdate: {maxSurge: -1}}",
			"spec.strategy.rollingUpdate.maxSurge: Invalid value: -1: must be greater than or equal to 0"},
		{"maxSurge without percent sign", "spec.strategy: {type: RollingUpdate, rollingUpdate: {maxSurge: '5'}}",
			`spec.strategy.rollingUpdate.maxSurge: Invalid value: "5": a valid percent string must be a numeric string followed by an ending '%' (e.g.`},
		{"maxUnavailable above 100%", "spec.strategy: {type: RollingUpdate, rollingUpdate: {maxUnavailable: 101%}}",
			`spec.strategy.rollingUpdate.maxUnavailable: Invalid value: "101%": must not be greater than 100%`},
		{"pods that end", "spec.template.spec.restartPolicy: OnFailure",
			`spec.template.spec.restartPolicy: Unsupported value: "OnFailure": supported values: "Always"`},
		{"pods with a deadline", "spec.template.spec.activeDeadlineSeconds: 5",
			"spec.template.spec.activeDeadlineSeconds: Forbidden: activeDeadlineSeconds in ReplicaSet is not Supported"},
		{"ephemeral container", "spec.template.spec.ephemeralContainers: [{name: b, image: x}]",
			"spec.template.spec.ephemeralContainers: Forbidden: ephemeral containers not allowed in pod template"},
		{"container without a name", "spec.template.spec.containers[0].name: ~",
			"spec.template.spec.containers[0].name: Required value"},
		{"no containers", "spec.template.spec.containers: []",
			"spec.template.spec.containers: Required value"},
		{"disk shared for writing", "spec.replicas: 2\nspec.template.spec.volumes: [{name: d, gcePersistentDisk: {pdName: d}}]"},
		{"disk shared for reading", "spec.replicas: 2\nspec.template.spec.volumes: [{name: d, gcePersistentDisk: {pdName: d, readOnly: true}}]"},
		{"name not a subdomain", "metadata.name: Web",
			`metadata.name: Invalid value: "Web": a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and`},
	})
	k.Update(t, []resourcetest.Case{
		{"nothing", ""},
		{"replicas and template", "spec.replicas: 5\nspec.template.spec.containers[0].image: redis"},
		{"selector", "spec.selector.matchLabels: {app: x}\nspec.template.metadata.labels: {app: x}",
			`spec.selector: Invalid value: {"matchLabels":{"app":"x"}}: field is immutable`},
		{"negative replicas", "spec.replicas: -2",
			"spec.replicas: Invalid value: -2: must be greater than or equal to 0"},
		{"labels of the template", "spec.template.metadata.labels: {a: b}",
			"spec.template.metadata.labels: Invalid value: {\"a\":\"b\"}: `selector` does not match template `labels`"},
	})
	k.Status(t, []resourcetest.Case{
		{"nothing", ""},
		{"negative replicas", "status.replicas: -1",
			"status.availableReplicas: Invalid value: 1: cannot be greater than status.replicas",
			"status.readyReplicas: Invalid value: 2: cannot be greater than status.replicas",
			"status.replicas: Invalid value: -1: must be greater than or equal to 0",
			"status.updatedReplicas: Invalid value: 3: cannot be greater than status.replicas"},
		{"negative observedGeneration", "status.observedGeneration: -1",
			"status.observedGeneration: Invalid value: -1: must be greater than or equal to 0"},
		{"more updated than all", "status.updatedReplicas: 4",
			"status.updatedReplicas: Invalid value: 4: cannot be greater than status.replicas"},
		{"more ready than all", "status.readyReplicas: 4",
			"status.readyReplicas: Invalid value: 4: cannot be greater than status.replicas"},
		{"more available than ready", "status.availableReplicas: 3",
			"status.availableReplicas: Invalid value: 3: cannot be greater than readyReplicas"},
		{"more available than all", "status.availableReplicas: 5",
			"status.availableReplicas: Invalid value: 5: cannot be greater than readyReplicas",
			"status.availableReplicas: Invalid value: 5: cannot be greater than status.replicas"},
		{"negative unavailable", "status.unavailableReplicas: -1",
			"status.unavailableReplicas: Invalid value: -1: must be greater than or equal to 0"},
		{"negative collisions", "status.collisionCount: -1",
			"status.collisionCount: Invalid value: -1: must be greater than or equal to 0"},
		{"fewer collisions", "status.collisionCount: 0"},
		{"spec is not looked at", "spec.replicas: -1"},
	})
	k.Defaults(t, []resourcetest.Case{
		{"replicas", "spec.replicas: ~", "spec.replicas: 1", "spec.revisionHistoryLimit: 10", "spec.progressDeadlineSeconds: 600"},
		{"strategy", "", "spec.strategy: {type: RollingUpdate, rollingUpdate: {maxSurge: 25%, maxUnavailable: 25%}}"},
		{"recreate", "spec.strategy.type: Recreate", "spec.strategy: {type: Recreate}"},
		{"half a rolling update", "spec.strategy: {rollingUpdate: {maxSurge: 1}}",
			"spec.strategy: {type: RollingUpdate, rollingUpdate: {maxSurge: 1, maxUnavailable: 25%}}"},
		{"pods", "", "spec.template.spec.restartPolicy: Always", "spec.template.spec.containers[0].imagePullPolicy: Always"},
	})
	k.Created(t, []resourcetest.Case{
		{"no status", "", "status: {}", "metadata.generation: 1"},
		{"generation of the user", "metadata.generation: 7", "metadata.generation: 1"},
	})
	k.Updated(t, []resourcetest.Case{
		{"nothing", "", "metadata.generation: 1", "status: {}"},
		{"labels", "metadata.labels: {a: b}", "metadata.generation: 1"},
		{"replicas", "spec.replicas: 4", "metadata.generation: 2"},
		{"annotations", "metadata.annotations: {a: b}", "metadata.generation: 2"},
		{"generation of the user", "metadata.generation: 7", "metadata.generation: 1"},
	})
	k.Reported(t, []resourcetest.Case{
		{"spec and labels", "spec.replicas: 4\nmetadata.labels: {a: b}\nstatus.replicas: 4", "spec.replicas: 3", "metadata.labels: ~", "status.replicas: 4"},
		{"annotations", "metadata.annotations: {a: b}", "metadata.annotations: {a: b}"},
	})
	k.Rows(t, []resourcetest.Case{
		{"three pods", "metadata.creationTimestamp: 1999-12-31T23:55:00Z", "web  2/3  3  1  5m  a  nginx  app=web"},
		{"two containers", "spec.template.spec.containers[1]: {name: b, image: redis}", "web  2/3  3  1  <unknown>  a,b  nginx,redis  app=web"},
		{"no replicas given", "spec.replicas: ~\nstatus: {}", "web  0/0  0  0  <unknown>  a  nginx  app=web"},
	})
}
