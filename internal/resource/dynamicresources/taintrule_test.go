package dynamicresources_test

import (
	"strings"
	"testing"

	"fairlead.dev/internal/resource/dynamicresources"
	"fairlead.dev/internal/resource/resourcetest"
)

// The errors are those of kube-apiserver 1.36.3, which has the kind as v1alpha3.
func TestDeviceTaintRule(t *testing.T) {
	const (
		subdomain = `a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')`
		label     = `a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?')`
		namePart  = `name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')`
		value     = `a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for validation is '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')`
		at        = "lastTransitionTime: '2026-11-23T00:00:00Z', reason: R, message: ''"
	)
	k := resourcetest.New(t, dynamicresources.Resources(), `
apiVersion: resource.k8s.io/v1
kind: DeviceTaintRule
metadata: {name: one}
spec:
  deviceSelector: {driver: gpu.example.com, pool: p, device: d}
  taint: {key: example.com/broken, value: v, effect: NoExecute}
`)
	k.Create(t, []resourcetest.Case{
		{"valid", ""},
		{"all devices", "spec.deviceSelector: ~"},
		{"empty selector", "spec.deviceSelector: {}"},
		{"driver in capitals", "spec.deviceSelector.driver: GPU.example.com"},
		{"no effect of a taint", "spec.taint.effect: None"},
		{"driver", "spec.deviceSelector.driver: A_b", `spec.deviceSelector.driver: Invalid value: "A_b": ` + subdomain},
		{"long driver", "spec.deviceSelector.driver: " + strings.Repeat("a", 64) + ".x",
			"spec.deviceSelector.driver: Too long: may not be more than 63 bytes"},
		{"pool", "spec.deviceSelector.pool: A_b", `spec.deviceSelector.pool: Invalid value: "A_b": ` + subdomain},
		{"device", "spec.deviceSelector.device: A_b", `spec.deviceSelector.device: Invalid value: "A_b": ` + label},
		{"empty names", "{spec.deviceSelector.driver: '', spec.deviceSelector.pool: '', spec.deviceSelector.device: ''}",
			"spec.deviceSelector.driver: Required value", "spec.deviceSelector.pool: Required value",
			`spec.deviceSelector.device: Invalid value: "": ` + label},
		{"no key", "spec.taint.key: ''",
			`spec.taint.key: Invalid value: "": name part must be non-empty`, `spec.taint.key: Invalid value: "": ` + namePart},
		{"key", "spec.taint.key: a b", `spec.taint.key: Invalid value: "a b": ` + namePart},
		{"value", "spec.taint.value: a b", `spec.taint.value: Invalid value: "a b": ` + value},
		{"no effect", "spec.taint.effect: ''", "spec.taint.effect: Required value"},
		{"effect", "spec.taint.effect: Other",
			`spec.taint.effect: Unsupported value: "Other": supported values: "NoExecute", "NoSchedule", "None"`},
	})
	k.Update(t, []resourcetest.Case{
		{"labels", "metadata.labels: {a: b}"},
		{"selector", "spec.deviceSelector.device: e"},
		{"taint", "spec.taint.value: w"},
		{"key", "spec.taint.key: a b", `spec.taint.key: Invalid value: "a b": ` + namePart},
	})
	var nine []string
	for _, name := range strings.Split("abcdefghi", "") {
		nine = append(nine, "{type: "+name+", status: 'True', "+at+"}")
	}
	k.Status(t, []resourcetest.Case{
		{"condition", "status.conditions: [{type: EvictionInProgress, status: 'True', " + at + "}]"},
		{"status", "status.conditions: [{type: A, status: Maybe, " + at + "}]",
			`status.conditions[0].status: Unsupported value: "Maybe": supported values: "False", "True", "Unknown"`},
		{"nine", "status.conditions: [" + strings.Join(nine, ", ") + "]",
			"status.conditions: Too many: 9: must have at most 8 items"},
	})
}
