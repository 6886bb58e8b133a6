package events_test

import (
	"strings"
	"testing"

	"fairlead.dev/internal/resource/events"
	"fairlead.dev/internal/resource/resourcetest"
)

const event = `
apiVersion: events.k8s.io/v1
kind: Event
metadata: {name: e, namespace: default}
eventTime: "2026-01-02T03:04:05.000000Z"
type: Normal
reason: Started
action: Starting
note: started
reportingController: example.com/c
reportingInstance: c-1
regarding: {kind: Pod, namespace: default, name: p, apiVersion: v1}
`

func TestEvent(t *testing.T) {
	k := resourcetest.New(t, events.Resources(), event)
	k.Create(t, []resourcetest.Case{
		{"valid", ""},
		{"no time", "eventTime: ~",
			"eventTime: Required value"},
		{"type", "type: Other",
			`type: Invalid value: "": has invalid value: Other`},
		{"no type", "type: ''",
			`type: Invalid value: "": has invalid value: `},
		{"no reason", "reason: ''",
			"reason: Required value"},
		{"long reason", "reason: " + strings.Repeat("a", 129),
			`reason: Invalid value: "": can have at most 128 characters`},
		{"no action", "action: ''",
			"action: Required value"},
		{"long action", "action: " + strings.Repeat("a", 129),
			`action: Invalid value: "": can have at most 128 characters`},
		{"long note", "note: " + strings.Repeat("a", 1025),
			`message: Invalid value: "": can have at most 1024 characters`},
		{"no controller", "reportingController: ''",
			"reportingController: Required value",
			`reportingController: Invalid value: "": name part must be non-empty`,
			`reportingController: Invalid value: "": name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')`},
		{"controller", "reportingController: a b",
			`reportingController: Invalid value: "a b": name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')`},
		{"no instance", "reportingInstance: ''",
			"reportingInstance: Required value"},
		{"long instance", "reportingInstance: " + strings.Repeat("a", 129),
			`reportingInstance: Invalid value: "": can have at most 128 characters`},
		{"other namespace", "regarding.namespace: other"},
		{"no namespace", "regarding.namespace: ''"},
		{"series", "series: {count: 2, lastObservedTime: '2026-01-02T03:04:06.000000Z'}"},
		{"series of one", "series: {count: 1, lastObservedTime: '2026-01-02T03:04:06.000000Z'}",
			`series.count: Invalid value: "": should be at least 2`},
		{"series without a time", "series: {count: 2, lastObservedTime: ~}",
			"series.lastObservedTime: Required value"},
		{"first timestamp", "deprecatedFirstTimestamp: '2026-01-02T03:04:06Z'",
			`firstTimestamp: Invalid value: "": needs to be unset`},
		{"last timestamp", "deprecatedLastTimestamp: '2026-01-02T03:04:06Z'",
			`lastTimestamp: Invalid value: "": needs to be unset`},
		{"count", "deprecatedCount: 1",
			`count: Invalid value: "": needs to be unset`},
		{"source", "deprecatedSource: {component: c}",
			`source: Invalid value: "": needs to be unset`},
	})
	k.Update(t, []resourcetest.Case{
		{"series", "series: {count: 2, lastObservedTime: '2026-01-02T03:04:06.000000Z'}"},
		{"series of one", "series: {count: 1, lastObservedTime: '2026-01-02T03:04:06.000000Z'}",
			`series.count: Invalid value: "": should be at least 2`},
		{"reason", "reason: Other",
			`reason: Invalid value: "Other": field is immutable`},
		{"note", "note: other",
			`message: Invalid value: "other": field is immutable`},
		{"type", "type: Warning",
			`type: Invalid value: "Warning": field is immutable`},
		{"action", "action: Other",
			`action: Invalid value: "Other": field is immutable`},
		{"time", "eventTime: '2026-01-02T03:04:07.000000Z'",
			`eventTime: Invalid value: "2026-01-02T03:04:07.000000Z": field is immutable`},
		{"controller", "reportingController: example.com/other",
			`reportingController: Invalid value: "example.com/other": field is immutable`},
		{"instance", "reportingInstance: c-2",
			`reportingInstance: Invalid value: "c-2": field is immutable`},
		{"regarding", "regarding.name: q",
			"involvedObject: Invalid value: {"},
		{"related", "related: {kind: Pod, name: q}",
			"related: Invalid value: {"},
		{"count", "deprecatedCount: 1",
			"count: Invalid value: 1: field is immutable"},
	})
}
