package client_test

import (
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"

	"fairlead.dev/client"
)

// TestWatchList: a list that a watch begins with may take hours, as long as it comes; a server that sends no end of it, or refuses it,
// does not support it.
func TestWatchList(t *testing.T) {
	const added = `{"type":"ADDED","object":{"kind":"Pod","apiVersion":"v1","metadata":{"name":"p%d","resourceVersion":"%d"}}}` + "\n"
	const end = `{"type":"BOOKMARK","object":{"kind":"Pod","apiVersion":"v1","metadata":{"resourceVersion":"%d","annotations":{%s}}}}` + "\n"
	for name, s := range map[string]struct {
		objects     int
		pause       time.Duration // after each thousand of them
		annotations string        // of the bookmark
		code        int
		fails       bool
	}{
		"short":   {objects: 3, annotations: `"k8s.io/initial-events-end":"true"`},
		"slow":    {objects: 10_000, pause: 50 * time.Second, annotations: `"k8s.io/initial-events-end":"true"`},
		"old":     {objects: 3, fails: true},
		"stuck":   {objects: 10_000, pause: 70 * time.Second, annotations: `"k8s.io/initial-events-end":"true"`, fails: true},
		"refuses": {code: http.StatusUnprocessableEntity, fails: true},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c := serveInBubble(t, func(w http.ResponseWriter, r *http.Request) {
					if q := r.URL.Query(); q.Get("sendInitialEvents") != "true" || q.Get("resourceVersionMatch") != "NotOlderThan" || q.Get("allowWatchBookmarks") != "true" {
						t.Errorf("the client asks for %v", q)
					}
					if s.code != 0 {
						w.WriteHeader(s.code)
						fmt.Fprintf(w, `{"kind":"Status","apiVersion":"v1","status":"Failure","reason":"Invalid","code":%d}`, s.code)
						return
					}
					for i := range s.objects {
						if i > 0 && i%1000 == 0 {
							w.(http.Flusher).Flush()
							select {
							case <-time.After(s.pause):
							case <-r.Context().Done():
								return
							}
						}
						fmt.Fprintf(w, added, i, i+1)
					}
					fmt.Fprintf(w, end, s.objects, s.annotations)
					fmt.Fprintf(w, added, s.objects, s.objects+1)
					w.(http.Flusher).Flush()
					<-r.Context().Done()
				})
				seen := 0
				w, revision, err := client.For[*corev1.Pod](c).WatchList(t.Context(), metav1.ListOptions{}, func(client.Event[*corev1.Pod]) { seen++ })
				if s.fails {
					if !errors.Is(err, client.ErrNoWatchList) {
						t.Errorf("%v; want %v", err, client.ErrNoWatchList)
					}
					return
				}
				if err != nil {
					t.Fatal(err)
				}
				defer w.Stop()
				if seen != s.objects || revision != fmt.Sprint(s.objects) {
					t.Errorf("%d objects at %s; want %d", seen, revision, s.objects)
				}
				ev, err := w.Next(t.Context())
				if err != nil || ev.Object.Name != fmt.Sprint("p", s.objects) {
					t.Errorf("after the list comes %v, %v", ev.Object, err)
				}
			})
		})
	}
}

// serveInBubble returns a client of a server in a synctest bubble, which answers requests for pods by the handler.
func serveInBubble(t *testing.T, pods http.HandlerFunc) *client.Client {
	p := pipes{make(chan net.Conn), make(chan struct{})}
	s := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", client.ContentTypeJSON)
		if r.URL.Path == "/api/v1" {
			io.WriteString(w, `{"resources":[{"name":"pods","kind":"Pod","namespaced":true}]}`)
			return
		}
		pods(w, r)
	})}
	done := make(chan error)
	go func() { done <- s.Serve(p) }()
	config := &rest.Config{Host: "http://server", Dial: p.dial}
	c, err := client.New(config, client.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		s.Close()
		<-done
	})
	return c
}
