package server_test

import (
	"strings"
	"testing"
	"time"

	"fairlead.dev/server"
)

// TestEventsInBothGroups checks that an event written in one group is read in the other.
func TestEventsInBothGroups(t *testing.T) {
	c := start(t)
	core, events := "/api/v1/namespaces/default/events", "/apis/events.k8s.io/v1/namespaces/default/events"
	c.talk([]exchange{
		{send: "POST " + core, body: `{"metadata":{"name":"e","namespace":"default"},"involvedObject":{"kind":"Pod","namespace":"default","name":"p"},"reason":"Pulled","message":"hello","type":"Normal","source":{"component":"kubelet"}}`, code: 201},
		{send: "GET " + events + "/e", code: 200, want: []string{`"apiVersion":"events.k8s.io/v1"`, `"note":"hello"`, `"regarding":{"kind":"Pod"`}},
		{send: "GET " + events, code: 200, want: []string{`"kind":"EventList","apiVersion":"events.k8s.io/v1"`, `"items":[{"metadata"`, `"note":"hello"`}},
		{send: "GET " + core + "?fieldSelector=involvedObject.name%3Dp,reason%3DPulled", code: 200, want: []string{`"name":"e"`}},
		{send: "GET " + core + "?fieldSelector=involvedObject.name%3Dq", code: 200, want: []string{`"items":[]`}},
		{send: "PATCH " + events + "/e application/merge-patch+json", body: `{"metadata":{"labels":{"a":"b"}}}`, code: 200, want: []string{`"apiVersion":"events.k8s.io/v1"`, `"labels":{"a":"b"}`}},
		{send: "PATCH " + core + "/e application/strategic-merge-patch+json", body: `{"message":"bye"}`, code: 200, want: []string{`"message":"bye"`, `"apiVersion":"v1"`, `"labels":{"a":"b"}`}},
	})
	w := c.watch(t, c.client.Transport, events+"?watch=1")
	if line, _ := w.lines.ReadString('\n'); !strings.Contains(line, `{"type":"ADDED","object":{"kind":"Event","apiVersion":"events.k8s.io/v1"`) {
		t.Error(line)
	}
	// Events do not take the garbage collector's finalizers.
	c.must("DELETE "+core+"/e?propagationPolicy=Foreground", "")
	if a := c.do("GET "+events+"/e", ""); a.code != 404 {
		t.Errorf("%d %s", a.code, a.body)
	}
}

// TestEventsExpire checks that events expire and other objects do not.
func TestEventsExpire(t *testing.T) {
	c := start(t, func(cfg *server.Config) { cfg.EventTTL = time.Second })
	events := "/api/v1/namespaces/default/events"
	c.must("POST "+maps, mapA)
	c.must("POST "+events, `{"metadata":{"name":"e","namespace":"default"},"involvedObject":{"namespace":"default"}}`)
	w := c.watch(t, c.client.Transport, events+"?watch=1&resourceVersion=2")
	w.expect("ADDED e 3", "DELETED e 4")
	c.must("GET "+maps+"/a", "")
}
