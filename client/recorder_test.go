package client_test

import (
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"fairlead.dev/client"
)

// events is a server of Events that knows create and merge-patch.
type events struct {
	mu  sync.Mutex
	all map[string]*corev1.Event
}

func (e *events) serve(w http.ResponseWriter, r *http.Request) {
	e.mu.Lock()
	defer e.mu.Unlock()
	name := r.URL.Path[strings.LastIndexByte(r.URL.Path, '/')+1:]
	ev := e.all[name]
	switch {
	case r.Method == http.MethodPost:
		ev = &corev1.Event{}
	case ev == nil:
		http.NotFound(w, r)
		return
	}
	if err := json.NewDecoder(r.Body).Decode(ev); err != nil {
		http.Error(w, err.Error(), 400)
		return
	}
	e.all[ev.Name] = ev
	json.NewEncoder(w).Encode(ev)
}

func TestRecorderCorrelates(t *testing.T) {
	srv := &events{all: map[string]*corev1.Event{}}
	c, s := scripted(t, client.Options{}, nil)
	s.h = func(w http.ResponseWriter, r *http.Request) {
		srv.serve(w, withBody(r, s.body[len(s.body)-1]))
	}
	r := client.NewRecorder(c, "tester")
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "web", Namespace: "shop", UID: "u"}}
	node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "n1"}}
	for range 3 {
		r.Event(pod, corev1.EventTypeWarning, "FailedScheduling", "0/%d nodes are available", 3)
	}
	r.From("kubelet", "n1").Event(node, corev1.EventTypeNormal, "NodeReady", "%s", "100% ready")
	r.Close()
	r.Event(pod, corev1.EventTypeNormal, "Late", "late")

	if len(srv.all) != 2 {
		t.Fatalf("%d events, want 2: %v", len(srv.all), srv.all)
	}
	for _, ev := range srv.all {
		switch ev.Reason {
		case "FailedScheduling":
			if ev.Count != 3 || ev.Message != "0/3 nodes are available" || ev.Namespace != "shop" || ev.InvolvedObject.Kind != "Pod" || ev.Source.Component != "tester" {
				t.Errorf("%+v", ev)
			}
		default:
			if ev.Count != 1 || ev.Namespace != "default" || ev.InvolvedObject.Namespace != "" || ev.Message != "100% ready" || ev.Source.Host != "n1" {
				t.Errorf("%+v", ev)
			}
		}
	}
}

func TestRecorderFoldsAndCuts(t *testing.T) {
	srv := &events{all: map[string]*corev1.Event{}}
	c, s := scripted(t, client.Options{}, nil)
	s.h = func(w http.ResponseWriter, r *http.Request) { srv.serve(w, withBody(r, s.body[len(s.body)-1])) }
	r := client.NewRecorder(c, "tester")
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "web", Namespace: "shop"}}
	for n := range 100 {
		r.Event(pod, corev1.EventTypeNormal, "Noise", "message %d", n)
	}
	r.Close()
	if len(srv.all) != 10 { // nine as they are, one for the rest
		t.Errorf("%d events, want 10", len(srv.all))
	}
	if n := len(s.seen); n != 25 {
		t.Errorf("%d writes about one object in a burst, want 25", n)
	}
	if r.Dropped() != 0 {
		t.Errorf("%d dropped", r.Dropped())
	}
}

func withBody(r *http.Request, body string) *http.Request {
	r = r.Clone(r.Context())
	r.Body = io.NopCloser(strings.NewReader(body))
	return r
}
