package server_test

import (
	"testing"
)

func TestAutoscalersHaveTwoVersions(t *testing.T) {
	c := start(t)
	v1, v2 := "/apis/autoscaling/v1/namespaces/default/horizontalpodautoscalers", "/apis/autoscaling/v2/namespaces/default/horizontalpodautoscalers"
	c.talk([]exchange{
		{send: "POST " + v1, body: `{"metadata":{"name":"h"},"spec":{"maxReplicas":3,"scaleTargetRef":{"apiVersion":"apps/v1","kind":"Deployment","name":"d"},"targetCPUUtilizationPercentage":60}}`, code: 201, want: []string{`"apiVersion":"autoscaling/v1"`, `"targetCPUUtilizationPercentage":60`}},
		{send: "GET " + v2 + "/h", code: 200, want: []string{`"apiVersion":"autoscaling/v2"`, `"metrics":[{"type":"Resource","resource":{"name":"cpu","target":{"type":"Utilization","averageUtilization":60}}}]`}},
		{send: "POST " + v2, body: `{"kind":"HorizontalPodAutoscaler","apiVersion":"autoscaling/v1","metadata":{"name":"i"}}`, code: 400, want: []string{`the API version in the data (autoscaling/v1) does not match the expected API version (autoscaling/v2)`}},
		{send: "PATCH " + v1 + "/h application/merge-patch+json", body: `{"spec":{"maxReplicas":5}}`, code: 200, want: []string{`"apiVersion":"autoscaling/v1"`, `"maxReplicas":5`}},
		{send: "GET " + v1, code: 200, want: []string{`"apiVersion":"autoscaling/v1"`, `"targetCPUUtilizationPercentage":60`, `!"kind":"HorizontalPodAutoscaler",`}},
	})
}
