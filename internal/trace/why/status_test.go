package why_test

import (
	"encoding/json"
	"testing"

	"fairlead.dev/internal/trace/why"
)

// subject is a subject of an object in JSON.
func subject(t *testing.T, kind, resource, object string) why.Subject {
	t.Helper()
	s := why.Subject{Kind: kind, Resource: resource, Namespace: "a", Name: "x"}
	if object != "" {
		if err := json.Unmarshal([]byte(object), &s.Object); err != nil {
			t.Fatal(err)
		}
	}
	return s
}

// TestStatus: a state in a word or two, and its meaning.
func TestStatus(t *testing.T) {
	for _, c := range []struct {
		kind, resource, object, word string
		tone                         why.Tone
	}{
		{"ConfigMap", "configmaps", "", "missing", why.Missing},
		{"ConfigMap", "configmaps", `{"metadata":{}}`, "", ""},
		{"ConfigMap", "configmaps", `{"metadata":{"deletionTimestamp":"2026-01-01T00:00:00Z","finalizers":["kubernetes"]}}`, "Terminating", why.Busy},
		{"Pod", "pods", `{"spec":{"nodeName":"n"},"status":{"phase":"Running","containerStatuses":[{"name":"c","ready":true,"state":{"running":{}}}]}}`, "Running", why.Well},
		{"Pod", "pods", `{"spec":{"nodeName":"n"},"status":{"phase":"Running","containerStatuses":[{"name":"c","ready":false,"state":{"waiting":{"reason":"CrashLoopBackOff"}}}]}}`, "CrashLoopBackOff", why.Ill},
		{"Pod", "pods", `{"spec":{"nodeName":"n"},"status":{"phase":"Pending","containerStatuses":[{"name":"c","ready":false,"state":{"waiting":{"reason":"ContainerCreating"}}}]}}`, "ContainerCreating", why.Busy},
		{"Pod", "pods", `{"spec":{"nodeName":"n"},"status":{"phase":"Succeeded","containerStatuses":[{"name":"c","state":{"terminated":{"exitCode":0}}}]}}`, "Succeeded", why.Well},
		{"Deployment", "deployments.apps", `{"spec":{"replicas":4},"status":{"replicas":4,"readyReplicas":3}}`, "3 of 4 ready", why.Busy},
		{"ReplicaSet", "replicasets.apps", `{"spec":{"replicas":0},"status":{"replicas":0}}`, "0 replicas", ""},
		{"Node", "nodes", `{"spec":{"unschedulable":true},"status":{"conditions":[{"type":"Ready","status":"True"}]}}`, "Ready, cordoned", why.Well},
		{"PersistentVolumeClaim", "persistentvolumeclaims", `{"spec":{"volumeName":"v"},"status":{"phase":"Bound","conditions":[{"type":"Unused","status":"False"}]}}`, "Bound", why.Well},
		{"Widget", "widgets.example.com", `{"status":{"conditions":[{"type":"Ready","status":"False","reason":"NoPaint"}]}}`, "not Ready", why.Ill},
	} {
		s := subject(t, c.kind, c.resource, c.object)
		if st := s.Status(); st.Word != c.word || st.Tone != c.tone {
			t.Errorf("%s %s: %+v, want %q %q", c.kind, c.object, st, c.word, c.tone)
		}
	}
}
