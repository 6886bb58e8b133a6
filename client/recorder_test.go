package client_test

import (
	"encoding/json"
	"errors"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"

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
	if r.Method == http.MethodPost && e.all[ev.Name] != nil {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(http.StatusConflict)
		json.NewEncoder(w).Encode(apierrors.NewAlreadyExists(corev1.Resource("events"), ev.Name).Status())
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

// TestRecorderAtOneTime: while the clock stands still, all events about an object are written, of any recorder.
func TestRecorderAtOneTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv := &events{all: map[string]*corev1.Event{}}
		c, s := scripted(t, client.Options{}, nil)
		s.h = func(w http.ResponseWriter, r *http.Request) { srv.serve(w, withBody(r, s.body[len(s.body)-1])) }
		pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "web", Namespace: "shop"}}
		for _, component := range []string{"one", "other"} {
			r := client.NewRecorder(c, component)
			for _, reason := range []string{"Pulled", "Created", "Pulled", "Started"} {
				r.Event(pod, corev1.EventTypeNormal, reason, "message")
			}
			r.Close()
			if r.Dropped() != 0 {
				t.Errorf("%d events of %s are dropped", r.Dropped(), component)
			}
		}
		if len(srv.all) != 6 {
			t.Errorf("%d events, want 6: %v", len(srv.all), slices.Sorted(maps.Keys(srv.all)))
		}
		for name, ev := range srv.all {
			if ev.Reason == "Pulled" && ev.Count != 2 || ev.Reason == "Created" && ev.Count != 1 {
				t.Errorf("%s: %s %d times", name, ev.Reason, ev.Count)
			}
		}
	})
}

// TestRecorderWaitsForItsServer: a server that does not answer for half a minute misses no
// event, and gets an event only once if its response was lost. Rejected events are not sent
// again.
func TestRecorderWaitsForItsServer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv := &events{all: map[string]*corev1.Event{}}
		tries, begun := 0, time.Now()
		c, err := client.New(&rest.Config{Transport: roundTripper(func(req *http.Request) (*http.Response, error) {
			if req.Method == http.MethodGet { // discovery
				rec := httptest.NewRecorder()
				json.NewEncoder(rec).Encode(metav1.APIResourceList{APIResources: []metav1.APIResource{{Name: "events", Kind: "Event", Namespaced: true}}})
				return rec.Result(), nil
			}
			away := time.Since(begun) < 30*time.Second
			if tries++; away && tries > 1 {
				return nil, errors.New("connection refused")
			}
			body, _ := io.ReadAll(req.Body)
			rec := httptest.NewRecorder()
			switch {
			case strings.Contains(string(body), "refused"):
				http.Error(rec, "no", http.StatusForbidden)
			case strings.Contains(string(body), "again") && len(srv.all) == 1:
				rec.Header().Set("Content-Type", "application/json")
				rec.WriteHeader(http.StatusConflict)
				json.NewEncoder(rec).Encode(apierrors.NewAlreadyExists(corev1.Resource("events"), "x").Status())
			default:
				srv.serve(rec, withBody(req, string(body)))
			}
			if away {
				return nil, errors.New("connection reset") // it came there, the answer did not
			}
			return rec.Result(), nil
		})}, client.Options{})
		if err != nil {
			t.Fatal(err)
		}
		r := client.NewRecorder(c, "tester")
		for _, message := range []string{"again and again", "refused", "at last"} {
			pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: message[:2], Namespace: "shop"}} // names of Events have the time
			r.Event(pod, corev1.EventTypeNormal, "Noise", "%s", message)
		}
		time.Sleep(time.Minute)
		r.Close()
		if len(srv.all) != 2 || r.Dropped() != 1 {
			t.Errorf("%d events, %d dropped; want 2 and 1", len(srv.all), r.Dropped())
		}
		if tries != 7+2 { // of the first, after 0, 1, 3, 7, 15, 25 and 35 seconds
			t.Errorf("%d tries, want 9", tries)
		}
	})
}

type roundTripper func(*http.Request) (*http.Response, error)

func (f roundTripper) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

func withBody(r *http.Request, body string) *http.Request {
	r = r.Clone(r.Context())
	r.Body = io.NopCloser(strings.NewReader(body))
	return r
}
