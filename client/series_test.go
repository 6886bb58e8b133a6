package client_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"
	eventsv1 "k8s.io/api/events/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"fairlead.dev/client"
)

// TestRecorderOverTime: similar events are forgotten after ten quiet minutes, and an
// object's budget grows by one every five.
func TestRecorderOverTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv := &events{all: map[string]*corev1.Event{}}
		c, s := scripted(t, client.Options{}, nil)
		s.h = func(w http.ResponseWriter, r *http.Request) { srv.serve(w, withBody(r, s.body[len(s.body)-1])) }
		r := client.NewRecorder(c, "tester")
		defer r.Close()
		pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "web", Namespace: "shop"}}
		tell := func(n int) (writes, single, folded int) {
			before := len(s.seen)
			for i := range n {
				r.Event(pod, corev1.EventTypeNormal, "Noise", "message %d", i)
				time.Sleep(time.Millisecond)
			}
			synctest.Wait()
			for _, ev := range srv.all {
				if strings.HasPrefix(ev.Message, "(combined from similar events): ") {
					folded++
				} else {
					single++
				}
			}
			return len(s.seen) - before, single, folded
		}
		for _, x := range []struct {
			after time.Duration
			n     int
			want  string
		}{
			{0, 12, "12 9 1"},               // the tenth is the first that is similar to too many
			{9 * time.Minute, 12, "12 9 1"}, // the same ones again: the counts go up
			{5 * time.Minute, 12, "3 9 1"},  // of 25 there was one left, and 2.8 have come since
			{12 * time.Minute, 12, "3 9 1"}, // similarity begins anew
			{130 * time.Minute, 5, "5 9 1"}, // full again
			{24 * time.Hour, 100, "25 9 1"}, // never more than 25
			{24 * time.Hour, 100, "25 9 1"}, // and so every day
			{time.Minute, 3, "0 9 1"},       // no refill
		} {
			time.Sleep(x.after)
			w, single, folded := tell(x.n)
			if got := fmt.Sprint(w, single, folded); got != x.want {
				t.Errorf("after %v, %d told: %s, want %s", x.after, x.n, got, x.want)
			}
		}
	})
}

// TestRecorderBudgets: the budgets of an object's types are separate.
func TestRecorderBudgets(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv := &events{all: map[string]*corev1.Event{}}
		c, s := scripted(t, client.Options{}, nil)
		s.h = func(w http.ResponseWriter, r *http.Request) { srv.serve(w, withBody(r, s.body[len(s.body)-1])) }
		r := client.NewRecorder(c, "tester")
		defer r.Close()
		set := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "web", Namespace: "shop"}}
		tell := func(eventType string, want int) {
			t.Helper()
			before := len(s.seen)
			for i := range 30 {
				r.Event(set, eventType, fmt.Sprint("Reason", i), "it happened")
			}
			synctest.Wait()
			if n := len(s.seen) - before; n != want {
				t.Errorf("%d writes of 30 events of type %s, want %d", n, eventType, want)
			}
		}
		tell(corev1.EventTypeNormal, 25)
		tell(corev1.EventTypeWarning, 25)
		tell(corev1.EventTypeNormal, 0)
	})
}

// TestRecorderCutsWhatIsLong: messages and names are cut to the server's limits, and never
// within a character.
func TestRecorderCutsWhatIsLong(t *testing.T) {
	srv := &events{all: map[string]*corev1.Event{}}
	c, s := scripted(t, client.Options{}, nil)
	s.h = func(w http.ResponseWriter, r *http.Request) { srv.serve(w, withBody(r, s.body[len(s.body)-1])) }
	r := client.NewRecorder(c, "tester")
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: strings.Repeat("a", 229) + strings.Repeat(".b", 12), Namespace: "shop"}}
	r.Event(pod, corev1.EventTypeNormal, "Long", "%s", "x"+strings.Repeat("ü", 600))
	r.Close()
	for name, ev := range srv.all {
		if len(ev.Message) != 1023 || !strings.HasSuffix(ev.Message, "ü") || len(name) > 253 || strings.Contains(name, "..") {
			t.Errorf("%d bytes %q of %s", len(ev.Message), ev.Message[1000:], name)
		}
	}
	if len(srv.all) != 1 {
		t.Errorf("%d events", len(srv.all))
	}
}

// TestSeries: repeats of an action are one Event of events.k8s.io whose series is written
// when it begins, every half hour, and when it is over; then the next is a new Event.
func TestSeries(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		all := map[string]*eventsv1.Event{}
		var writes []string
		var begun time.Time
		c, s := scripted(t, client.Options{}, nil)
		s.h = func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Path == "/apis/events.k8s.io/v1" {
				fmt.Fprint(w, `{"resources":[{"name":"events","kind":"Event","namespaced":true}]}`)
				return
			}
			ev := all[r.URL.Path[strings.LastIndexByte(r.URL.Path, '/')+1:]]
			if r.Method == http.MethodPost {
				ev = &eventsv1.Event{}
			} else if ev == nil {
				http.NotFound(w, r)
				return
			}
			if err := json.Unmarshal([]byte(s.body[len(s.body)-1]), ev); err != nil {
				t.Error(err)
			}
			all[ev.Name] = ev
			count := int32(1)
			if ev.Series != nil {
				count = ev.Series.Count
			}
			writes = append(writes, fmt.Sprintf("%s %d at %v", r.Method, count, time.Since(begun).Truncate(time.Minute)))
			json.NewEncoder(w).Encode(ev)
		}
		r := client.NewRecorder(c, "tester")
		pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "web", Namespace: "shop", UID: "u", ResourceVersion: "1"}}
		node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "n1"}}
		act := func() {
			pod.ResourceVersion += "1" // another state of the same object
			r.From("tester", "host").Act(pod, node, corev1.EventTypeNormal, "Scheduled", "Binding", "to %s", "n1")
			synctest.Wait()
		}
		time.Sleep(30 * time.Second) // not when the recorder looks at its series
		begun = time.Now()
		for range 70 { // one a minute
			act()
			time.Sleep(time.Minute)
		}
		time.Sleep(10 * time.Minute) // it is over
		act()
		time.Sleep(10 * time.Minute) // and that was a single one
		act()
		act()
		act()
		r.Close()
		want := "POST 1 at 0s, PATCH 2 at 1m0s, PATCH 32 at 31m0s, PATCH 62 at 1h1m0s, PATCH 70 at 1h15m0s, POST 1 at 1h20m0s, POST 1 at 1h30m0s, PATCH 2 at 1h30m0s, PATCH 3 at 1h30m0s"
		if got := strings.Join(writes, ", "); got != want {
			t.Errorf("wrote %s\nwant  %s", got, want)
		}
		for _, ev := range all {
			if ev.Note != "to n1" || ev.Action != "Binding" || ev.ReportingController != "tester" || ev.ReportingInstance != "host" ||
				ev.Regarding.Name != "web" || ev.Related == nil || ev.Related.Kind != "Node" || ev.EventTime.IsZero() {
				t.Errorf("%+v", ev)
			}
		}
		if len(all) != 3 || r.Dropped() != 0 {
			t.Errorf("%d events, %d dropped", len(all), r.Dropped())
		}
	})
}
