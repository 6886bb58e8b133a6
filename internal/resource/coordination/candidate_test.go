package coordination_test

import (
	"testing"

	"fairlead.dev/internal/resource/coordination"
	"fairlead.dev/internal/resource/resourcetest"
)

const candidate = `
apiVersion: coordination.k8s.io/v1beta1
kind: LeaseCandidate
metadata: {name: one, namespace: kube-system}
spec: {leaseName: scheduler, binaryVersion: 1.37.2, emulationVersion: 1.36.0, strategy: OldestEmulationVersion}
`

func TestLeaseCandidate(t *testing.T) {
	k := resourcetest.New(t, coordination.Resources(), candidate)
	k.Create(t, []resourcetest.Case{
		{"valid", ""},
		{"strategy of another", "spec.strategy: example.com/mine"},
		{"nothing", "spec: {leaseName: '', binaryVersion: ''}",
			"spec.binaryVersion: Required value", "spec.leaseName: Required value", "spec.strategy: Required value"},
		{"versions", "spec.binaryVersion: v1.37.0\nspec.emulationVersion: a",
			`spec.binaryVersion: Invalid value: "v1.37.0": must be a valid semantic version`,
			`spec.emulationVersion: Invalid value: "a": must be a valid semantic version`,
			"spec.emulationVersion: Required value: must be specified when `strategy` is 'OldestEmulationVersion'"},
		{"older binary", "spec.binaryVersion: 1.35.0",
			`spec.binaryVersion: Invalid value: "1.35.0": must be greater than or equal to ` + "`emulationVersion`"},
		{"no emulation", "spec.emulationVersion: ~",
			"spec.emulationVersion: Required value: must be specified when `strategy` is 'OldestEmulationVersion'"},
		{"strategy", "spec.strategy: Some",
			`spec.strategy.strategy: Unsupported value: "Some": supported values: "OldestEmulationVersion"`},
	})
	k.Update(t, []resourcetest.Case{
		{"renewed", "spec.renewTime: '2026-11-23T00:00:00.000000Z'"},
		{"lease", "spec.leaseName: other", `spec.leaseName: Invalid value: "other": field is immutable`},
	})
	k.Rows(t, []resourcetest.Case{{"row", "", "one  scheduler  1.37.2  1.36.0  <unknown>"}})
}
