package core_test

import (
	"testing"

	"fairlead.dev/internal/resource/core"
	"fairlead.dev/internal/resource/resourcetest"
)

const node = `
apiVersion: v1
kind: Node
metadata: {name: n1}
spec: {podCIDR: 10.1.0.0/24, podCIDRs: [10.1.0.0/24], providerID: a://n1}
status:
  capacity: {cpu: "4", memory: 8Gi, pods: "110"}
  allocatable: {cpu: "4", memory: 8Gi, pods: "110"}
  addresses: [{type: InternalIP, address: 192.0.2.1}]
  conditions: [{type: Ready, status: "True"}]
  nodeInfo: {kubeletVersion: v1.37.2, osImage: Debian, kernelVersion: "6.1", containerRuntimeVersion: "containerd://2"}
`

func TestNode(t *testing.T) {
	k := resourcetest.New(t, core.Resources(), node)
	k.Create(t, []resourcetest.Case{
		{"valid", ""},
		{"name", "metadata.name: N_1",
			`metadata.name: Invalid value: "N_1": a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and`},
		{"taint without key and effect", "spec.taints: [{value: a}]",
			"metadata.taints[0].effect: Required value",
			`metadata.taints[0].key: Invalid value: "": name part must be non-empty`,
			`metadata.taints[0].key: Invalid value: "": name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with`},
		{"unknown effect", "spec.taints: [{key: a, effect: Kill}]",
			`metadata.taints[0].effect: Unsupported value: "Kill": supported values: "NoSchedule", "PreferNoSchedule", "NoExecute"`},
		{"malformed taint", "spec.taints: [{key: 'a b', value: 'c d', effect: NoSchedule}]",
			`metadata.taints[0].key: Invalid value: "a b": name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end`,
			`metadata.taints[0].value: Invalid value: "c d": a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or`},
		{"taint twice", "spec.taints: [{key: a, effect: NoSchedule}, {key: a, value: b, effect: NoSchedule}]",
			`metadata.taints[1]: Duplicate value: {"key":"a","value":"b","effect":"NoSchedule"}: taints must be unique by key and effect pair`},
		{"taint of two effects", "spec.taints: [{key: a, effect: NoSchedule}, {key: a, effect: NoExecute}]"},
		{"malformed CIDR", "spec.podCIDR: a\nspec.podCIDRs: [a]",
			`spec.podCIDRs[0]: Invalid value: "a": must be a valid CIDR value, (e.g. 10.9.8.0/24 or 2001:db8::/64)`},
		{"three CIDRs", "spec.podCIDRs: [10.1.0.0/24, 'fd00::/64', 10.2.0.0/24]",
			`spec.podCIDRs: Invalid value: ["10.1.0.0/24","fd00::/64","10.2.0.0/24"]: may specify no more than one CIDR for each IP family`},
		{"two CIDRs of a family", "spec.podCIDRs: [10.1.0.0/24, 10.2.0.0/24]",
			`spec.podCIDRs: Invalid value: ["10.1.0.0/24","10.2.0.0/24"]: may specify no more than one CIDR for each IP family`},
		{"part of an extended resource", "status.capacity: {example.com/a: 500m}",
			`status.capacity.example.com/a: Invalid value: "500m": must be an integer`},
		{"config source", "spec.configSource: {configMap: {name: a}}"},
	})
	k.Update(t, []resourcetest.Case{
		{"unschedulable", "spec.unschedulable: true"},
		{"labels and taints", "metadata.labels: {a: b}\nspec.taints: [{key: a, effect: NoSchedule}]"},
		{"CIDR", "spec.podCIDR: 10.2.0.0/24\nspec.podCIDRs: [10.2.0.0/24]",
			`spec.podCIDRs: Forbidden: node updates may not change podCIDR except from "" to valid`},
		{"provider", "spec.providerID: a://n2",
			`spec.providerID: Forbidden: node updates may not change providerID except from "" to valid`},
		{"external ID", "spec.externalID: a",
			"spec.externalID: Forbidden: may not be updated"},
	})
	k.Status(t, []resourcetest.Case{
		{"nothing", ""},
		{"address twice", "status.addresses[1]: {type: InternalIP, address: 192.0.2.1}",
			`status.addresses[1]: Duplicate value: {"type":"InternalIP","address":"192.0.2.1"}`},
		{"negative capacity", "status.capacity: {cpu: -1}",
			`status.capacity.cpu: Invalid value: "-1": must be greater than or equal to 0`},
		{"unknown resource", "status.capacity: {disk: 1}"},
		{"part of a pod", "status.capacity: {pods: 500m}",
			`status.capacity.pods: Invalid value: "500m": must be an integer`},
	})
	k.Created(t, []resourcetest.Case{{"status stays", "", "status.capacity: {cpu: '4', memory: 8Gi, pods: '110'}"}})
	k.Updated(t, []resourcetest.Case{{"status", "status.capacity: {cpu: 1}", "status.capacity.cpu: '4'"}})
	k.Reported(t, []resourcetest.Case{{"spec", "spec.unschedulable: true\nstatus.capacity: {cpu: 1}", "spec.unschedulable: ~", "status.capacity: {cpu: '1'}"}})
	k.Defaults(t, []resourcetest.Case{{"allocatable", "status.allocatable: ~", "status.allocatable.cpu: '4'"}})
	k.Rows(t, []resourcetest.Case{
		{"ready", "", "n1  Ready  <none>  <unknown>  v1.37.2  192.0.2.1  <none>  Debian  6.1  containerd://2"},
		{"not ready", "status.conditions[0].status: 'False'\nmetadata.labels: {kubernetes.io/role: a}", "n1  NotReady  a  <unknown>  v1.37.2  192.0.2.1  <none>  Debian  6.1  containerd://2"},
		{"no conditions", "status.conditions: ~\nspec.unschedulable: true", "n1  Unknown,SchedulingDisabled  <none>  <unknown>  v1.37.2  192.0.2.1  <none>  Debian  6.1  containerd://2"},
	})
}

const namespace = `
apiVersion: v1
kind: Namespace
metadata: {name: team}
`

func TestNamespace(t *testing.T) {
	k := resourcetest.New(t, core.Resources(), namespace)
	k.Create(t, []resourcetest.Case{
		{"valid", ""},
		{"name not a label", "metadata.name: a.b",
			`metadata.name: Invalid value: "a.b": must not contain dots`},
		{"malformed finalizer", "spec.finalizers: ['a b']",
			`spec.finalizers: Invalid value: "a b": name is neither a standard finalizer name nor is it fully qualified`,
			`spec.finalizers: Invalid value: "a b": name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an`},
		{"finalizer without domain", "spec.finalizers: [mine]",
			`spec.finalizers: Invalid value: "mine": name is neither a standard finalizer name nor is it fully qualified`},
	})
	k.Update(t, []resourcetest.Case{{"labels", "metadata.labels: {a: b}"}, {"malformed label", "metadata.labels: {'a b': c}",
		`metadata.labels: Invalid value: "a b": name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an`}})
	k.Defaults(t, []resourcetest.Case{{"name as a label", "", "metadata.labels: {kubernetes.io/metadata.name: team}"}})
	k.Created(t, []resourcetest.Case{{"finalizer", "", "spec.finalizers: [kubernetes]", "status.phase: Active"}})
	k.Updated(t, []resourcetest.Case{{"finalizers", "spec.finalizers: [example.com/a]", "spec.finalizers: [kubernetes]"}})
	k.Rows(t, []resourcetest.Case{{"row", "status.phase: Active", "team  Active  <unknown>"}})
}
