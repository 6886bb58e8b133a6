package autoscaling_test

import (
	"testing"

	"fairlead.dev/internal/resource/autoscaling"
	"fairlead.dev/internal/resource/resourcetest"
)

const autoscaler = `
apiVersion: autoscaling/v2
kind: HorizontalPodAutoscaler
metadata: {name: web, namespace: default}
spec:
  scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: web}
  minReplicas: 1
  maxReplicas: 3
  metrics: [{type: Resource, resource: {name: cpu, target: {type: Utilization, averageUtilization: 80}}}]
status: {currentReplicas: 2, desiredReplicas: 2}
`

func TestHorizontalPodAutoscaler(t *testing.T) {
	k := resourcetest.New(t, autoscaling.Resources(), autoscaler)
	k.Create(t, []resourcetest.Case{
		{"valid", ""},
		{"no replicas", "spec.minReplicas: 0",
			"spec.metrics: Forbidden: must specify at least one Object or External metric to support scaling to zero replicas"},
		{"no replicas by an external metric", "spec.minReplicas: 0\nspec.metrics: [{type: External, external: {metric: {name: a}, target: {type: Value, value: 1}}}]"},
		{"negative replicas", "spec.minReplicas: -1", "spec.minReplicas: Invalid value: -1: must be greater than or equal to 0"},
		{"no most replicas", "spec.maxReplicas: 0",
			"spec.maxReplicas: Invalid value: 0: must be greater than or equal to `minReplicas`",
			"spec.maxReplicas: Required value"},
		{"most below least", "spec.minReplicas: 4",
			"spec.maxReplicas: Invalid value: 3: must be greater than or equal to `minReplicas`"},
		{"no target", "spec.scaleTargetRef: {kind: '', name: ''}",
			`spec.scaleTargetRef.apiVersion: Invalid value: "": apiVersion must specify API group`,
			"spec.scaleTargetRef.kind: Required value",
			"spec.scaleTargetRef.name: Required value"},
		{"malformed target", "spec.scaleTargetRef: {kind: a/b, name: a/b}",
			`spec.scaleTargetRef.apiVersion: Invalid value: "": apiVersion must specify API group`,
			`spec.scaleTargetRef.kind: Invalid value: "a/b": may not contain '/'`,
			`spec.scaleTargetRef.name: Invalid value: "a/b": may not contain '/'`},
		{"unknown metric", "spec.metrics: [{type: Some}]",
			`spec.metrics[0].type: Unsupported value: "Some": supported values: "ContainerResource", "External", "Object", "Pods", "Resource"`},
		{"metric of no kind", "spec.metrics: [{type: Pods}]",
			"spec.metrics[0].pods: Required value: must populate information for the given metric source"},
		{"metric of another kind", "spec.metrics[0].pods: {metric: {name: a}, target: {type: AverageValue, averageValue: 1}}",
			"spec.metrics[0].pods: Forbidden: must populate the given metric source only"},
		{"resource without a name", "spec.metrics[0].resource.name: ''",
			"spec.metrics[0].resource.name: Required value: must specify a resource name"},
		{"no utilization", "spec.metrics[0].resource.target: {type: Utilization}",
			"spec.metrics[0].resource.target.averageUtilization: Required value: must set either a target raw value or a target utilization"},
		{"utilization of zero", "spec.metrics[0].resource.target: {type: Utilization, averageUtilization: 0}",
			"spec.metrics[0].resource.target.averageUtilization: Invalid value: 0: must be greater than 0"},
		{"utilization and value", "spec.metrics[0].resource.target: {type: Utilization, averageUtilization: 1, averageValue: 1}",
			"spec.metrics[0].resource.target.averageValue: Forbidden: may not set both a target raw value and a target utilization"},
		{"unknown target", "spec.metrics[0].resource.target: {type: Some, averageUtilization: 1}",
			`spec.metrics[0].resource.target.type: Invalid value: "Some": must be either Utilization, Value, or AverageValue`},
		{"pods", "spec.metrics: [{type: Pods, pods: {metric: {name: a}, target: {type: AverageValue, averageValue: 1}}}]"},
		{"pods without an average", "spec.metrics: [{type: Pods, pods: {metric: {name: a}, target: {type: Value, value: 1}}}]",
			"spec.metrics[0].pods.target.averageValue: Required value: must specify a positive target averageValue"},
		{"pods of a negative average", "spec.metrics: [{type: Pods, pods: {metric: {name: a}, target: {type: AverageValue, averageValue: -1}}}]",
			`spec.metrics[0].pods.target.averageValue: Invalid value: "-1": must be positive`},
		{"pods without a name", "spec.metrics: [{type: Pods, pods: {metric: {name: ''}, target: {type: AverageValue, averageValue: 1}}}]",
			"spec.metrics[0].pods.metric.name: Required value: must specify a metric name"},
		{"object", "spec.metrics: [{type: Object, object: {describedObject: {kind: '', name: ''}, metric: {name: a}, target: {type: Value}}}]",
			"spec.metrics[0].object.describedObject.kind: Required value",
			"spec.metrics[0].object.describedObject.name: Required value",
			"spec.metrics[0].object.target.averageValue: Required value: must set either a target value or averageValue"},
		{"external", "spec.metrics: [{type: External, external: {metric: {name: a/b}, target: {type: Value, value: 1, averageValue: 1}}}]",
			`spec.metrics[0].external.metric.name: Invalid value: "a/b": may not contain '/'`,
			"spec.metrics[0].external.target.value: Forbidden: may not set both a target value for metric and a per-pod target"},
		{"container", "spec.metrics: [{type: ContainerResource, containerResource: {name: cpu, container: '', target: {type: Utilization, averageUtilization: 1}}}]",
			"spec.metrics[0].containerResource.container: Required value: must specify a container"},
	})
	k.Create(t, []resourcetest.Case{
		{"behavior", "spec.behavior: {scaleUp: {stabilizationWindowSeconds: 1, policies: [{type: Pods, value: 1, periodSeconds: 1}]}}"},
		{"window", "spec.behavior: {scaleUp: {stabilizationWindowSeconds: 3601}, scaleDown: {stabilizationWindowSeconds: -1}}",
			"spec.behavior.scaleDown.stabilizationWindowSeconds: Invalid value: -1: must be greater than or equal to zero",
			"spec.behavior.scaleUp.stabilizationWindowSeconds: Invalid value: 3601: must be less than or equal to 3600"},
		{"policy", "spec.behavior: {scaleUp: {policies: [{type: Some, value: 0, periodSeconds: 0}]}}",
			"spec.behavior.scaleUp.policies[0].periodSeconds: Invalid value: 0: must be greater than zero",
			`spec.behavior.scaleUp.policies[0].type: Unsupported value: "Some": supported values: "Percent", "Pods"`,
			"spec.behavior.scaleUp.policies[0].value: Invalid value: 0: must be greater than zero"},
		{"period", "spec.behavior: {scaleUp: {policies: [{type: Percent, value: 1, periodSeconds: 1801}]}}",
			"spec.behavior.scaleUp.policies[0].periodSeconds: Invalid value: 1801: must be less than or equal to 1800"},
		{"no policies", "spec.behavior: {scaleDown: {policies: []}}",
			"spec.behavior.scaleDown.policies: Required value: must specify at least one Policy"},
		{"choice", "spec.behavior: {scaleDown: {selectPolicy: Some, policies: [{type: Pods, value: 1, periodSeconds: 1}]}}",
			`spec.behavior.scaleDown.selectPolicy: Unsupported value: "Some": supported values: "Disabled", "Max", "Min"`},
		{"tolerance", "spec.behavior: {scaleUp: {tolerance: -1}}",
			`spec.behavior.scaleUp.tolerance: Invalid value: "-1": must be greater than or equal to 0`},
	})
	k.Update(t, []resourcetest.Case{{"most", "spec.maxReplicas: 5"}, {"most below least", "spec.minReplicas: 4",
		"spec.maxReplicas: Invalid value: 3: must be greater than or equal to `minReplicas`"}})
	k.Status(t, []resourcetest.Case{{"nothing", ""}, {"negative", "status: {currentReplicas: -1, desiredReplicas: -1}",
		"status.currentReplicas: Invalid value: -1: must be greater than or equal to 0",
		"status.desiredReplicas: Invalid value: -1: must be greater than or equal to 0"}})
	k.Defaults(t, []resourcetest.Case{
		{"least", "spec.minReplicas: ~", "spec.minReplicas: 1"},
		{"metrics", "spec.metrics: ~", "spec.metrics: [{type: Resource, resource: {name: cpu, target: {type: Utilization, averageUtilization: 80}}}]"},
		{"behavior", "spec.behavior: {scaleUp: {}}", "spec.behavior.scaleUp.stabilizationWindowSeconds: 0", "spec.behavior.scaleUp.selectPolicy: Max",
			"spec.behavior.scaleUp.policies: [{type: Pods, value: 4, periodSeconds: 15}, {type: Percent, value: 100, periodSeconds: 15}]"},
	})
	k.Created(t, []resourcetest.Case{{"no status", "", "status.currentReplicas: ~", "metadata.generation: 1"}})
	k.Reported(t, []resourcetest.Case{{"spec", "spec.maxReplicas: 9\nstatus.currentReplicas: 3", "spec.maxReplicas: 3", "status.currentReplicas: 3"}})
	k.Rows(t, []resourcetest.Case{
		{"row", "", "web  Deployment/web  cpu: <unknown>/80%  1  3  2  <unknown>"},
		{"no metrics", "spec.metrics: ~", "web  Deployment/web  <none>  1  3  2  <unknown>"},
	})
}

const autoscalerV1 = `
apiVersion: autoscaling/v1
kind: HorizontalPodAutoscaler
metadata: {name: web, namespace: default}
spec:
  scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: web}
  maxReplicas: 3
  targetCPUUtilizationPercentage: 70
`

func TestHorizontalPodAutoscalerV1(t *testing.T) {
	k := resourcetest.New(t, autoscaling.Resources(), autoscalerV1)
	k.Create(t, []resourcetest.Case{{"valid", ""}, {"no most replicas", "spec.maxReplicas: 0",
		"spec.maxReplicas: Invalid value: 0: must be greater than or equal to `minReplicas`",
		"spec.maxReplicas: Required value"}})
	k.Defaults(t, []resourcetest.Case{
		{"utilization", "", "spec.metrics: [{type: Resource, resource: {name: cpu, target: {type: Utilization, averageUtilization: 70}}}]"},
		{"none", "spec.targetCPUUtilizationPercentage: ~", "spec.metrics[0].resource.target.averageUtilization: 80"},
	})
}
