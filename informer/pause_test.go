package informer_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/rest"

	"fairlead.dev/client"
	"fairlead.dev/informer"
)

// wire is a server in memory, so that time can be the test's.
type wire func(r *http.Request) (*http.Response, error)

func (f wire) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.URL.Path == "/api/v1" {
		return reply(strings.NewReader(`{"resources":[{"name":"pods","kind":"Pod","namespaced":true}]}`))
	}
	return f(r)
}

func reply(body io.Reader) (*http.Response, error) {
	return &http.Response{StatusCode: 200, Header: http.Header{"Content-Type": {client.ContentTypeJSON}}, Body: io.NopCloser(body), ContentLength: -1}, nil
}

// silent is the body of a watch without events that lasts until ctx ends.
type silent struct{ ctx context.Context }

func (s silent) Read([]byte) (int, error) {
	<-s.ctx.Done()
	return 0, s.ctx.Err()
}

func overWire(t *testing.T, w wire, o informer.Options[*corev1.Pod]) *informer.Informer[*corev1.Pod] {
	c, err := client.New(&rest.Config{Transport: w}, client.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return informer.New(client.For[*corev1.Pod](c), o)
}

// TestServerThatNeverEndsItsList is one that does not know sendInitialEvents and takes
// the request for a plain watch.
func TestServerThatNeverEndsItsList(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		i := overWire(t, func(r *http.Request) (*http.Response, error) {
			if r.URL.Query().Get("watch") == "true" {
				return reply(silent{r.Context()})
			}
			return reply(strings.NewReader(`{"metadata":{"resourceVersion":"7"},"items":[{"metadata":{"name":"a","namespace":"b"}}]}`))
		}, informer.Options[*corev1.Pod]{})
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan error)
		go func() { done <- i.Run(ctx) }()
		select {
		case <-i.Synced():
		case <-time.After(time.Hour):
			t.Fatal("not synced within an hour")
		}
		if _, ok := i.Store().Get("b", "a"); !ok || i.Store().Revision() != "7" {
			t.Errorf("store at %s without the pod", i.Store().Revision())
		}
		cancel()
		<-done
	})
}

// TestPausesGrow counts the attempts of an informer whose server is away for an hour.
func TestPausesGrow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var attempts, failures int
		away := errors.New("no route to host")
		i := overWire(t, func(*http.Request) (*http.Response, error) {
			attempts++
			return nil, away
		}, informer.Options[*corev1.Pod]{OnError: func(err error) {
			if failures++; !errors.Is(err, away) {
				t.Errorf("error %v", err)
			}
		}})
		ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
		defer cancel()
		if err := i.Run(ctx); err != nil {
			t.Error(err)
		}
		if attempts < 150 || attempts > 600 || failures < attempts-1 {
			t.Errorf("%d attempts and %d failures in an hour", attempts, failures)
		}
		if err := i.Run(ctx); err == nil {
			t.Error("it ran twice")
		}
	})
}

func TestResync(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		i := overWire(t, func(r *http.Request) (*http.Response, error) {
			return reply(io.MultiReader(strings.NewReader(`{"type":"ADDED","object":{"metadata":{"name":"a","resourceVersion":"1"}}}
{"type":"BOOKMARK","object":{"metadata":{"resourceVersion":"5","annotations":{"k8s.io/initial-events-end":"true"}}}}
`), silent{r.Context()}))
		}, informer.Options[*corev1.Pod]{Resync: time.Minute})
		updates := 0
		i.Handle(informer.Handler[*corev1.Pod]{Update: func(old, new *corev1.Pod) {
			if updates++; old != new {
				t.Error("a resync with a change")
			}
		}})
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Minute+time.Second)
		defer cancel()
		i.Run(ctx)
		if updates != 10 {
			t.Errorf("%d resyncs in 10 minutes of one pod", updates)
		}
	})
}

// TestRelistsWithBackoff: a server whose revisions move on and which has forgotten each of
// them as soon as it has been listed is not listed again and again.
func TestRelistsWithBackoff(t *testing.T) {
	for _, streamed := range []bool{true, false} {
		t.Run(fmt.Sprintf("streamedLists=%v", streamed), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				const expired = `{"type":"ERROR","object":{"kind":"Status","apiVersion":"v1","status":"Failure","reason":"Expired","code":410}}` + "\n"
				lists, rev := 0, 0
				i := overWire(t, func(r *http.Request) (*http.Response, error) {
					rev++
					switch q := r.URL.Query(); {
					case q.Get("sendInitialEvents") != "" && streamed:
						lists++
						return reply(strings.NewReader(fmt.Sprintf(`{"type":"BOOKMARK","object":{"metadata":{"resourceVersion":"%d","annotations":{"k8s.io/initial-events-end":"true"}}}}`+"\n", rev) + expired))
					case q.Get("sendInitialEvents") != "":
						return &http.Response{StatusCode: 400, Body: http.NoBody, Request: r}, nil
					case q.Get("watch") != "":
						return reply(strings.NewReader(expired))
					}
					lists++
					return reply(strings.NewReader(fmt.Sprintf(`{"metadata":{"resourceVersion":"%d"},"items":[]}`, rev)))
				}, informer.Options[*corev1.Pod]{})
				ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
				defer cancel()
				if err := i.Run(ctx); err != nil {
					t.Error(err)
				}
				if lists < 900 || lists > 3600 {
					t.Errorf("%d lists in an hour", lists)
				}
			})
		})
	}
}

// TestChangesWithinTheList: a server may send changes before the end of the initial events. The store has the last state of each
// object, and a handler gets each once: in the order of the server, unless objects were modified.
func TestChangesWithinTheList(t *testing.T) {
	event := func(kind, name string, version int) string {
		return fmt.Sprintf(`{"type":"%s","object":{"metadata":{"name":"%s","namespace":"x","uid":"%s","resourceVersion":"%d"}}}`+"\n", kind, name, name, version)
	}
	const end = `{"type":"BOOKMARK","object":{"metadata":{"resourceVersion":"9","annotations":{"k8s.io/initial-events-end":"true"}}}}` + "\n"
	for name, c := range map[string]struct {
		sent    string
		want    []string
		ordered bool
	}{
		"none":              {event("ADDED", "c", 1) + event("ADDED", "a", 2) + event("ADDED", "d", 3) + event("ADDED", "b", 4), []string{"c1", "a2", "d3", "b4"}, true},
		"deleted":           {event("ADDED", "c", 1) + event("ADDED", "a", 2) + event("DELETED", "c", 3) + event("ADDED", "b", 4), []string{"a2", "b4"}, true},
		"deleted and again": {event("ADDED", "c", 1) + event("ADDED", "a", 2) + event("DELETED", "c", 3) + event("ADDED", "c", 4), []string{"a2", "c4"}, true},
		"only deleted":      {event("DELETED", "c", 1) + event("ADDED", "a", 2), []string{"a2"}, true},
		"modified":          {event("ADDED", "c", 1) + event("ADDED", "a", 2) + event("MODIFIED", "c", 3), []string{"a2", "c3"}, false},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				i := overWire(t, func(r *http.Request) (*http.Response, error) {
					return reply(io.MultiReader(strings.NewReader(c.sent+end), silent{r.Context()}))
				}, informer.Options[*corev1.Pod]{})
				version := func(p *corev1.Pod) string { return p.Name + p.ResourceVersion }
				var got, stored []string
				i.Handle(informer.Handler[*corev1.Pod]{
					Add:    func(p *corev1.Pod, initial bool) { got = append(got, version(p)) },
					Update: func(old, new *corev1.Pod) { t.Errorf("update from %s to %s", version(old), version(new)) },
					Delete: func(last *corev1.Pod) { t.Errorf("deletion of %s", version(last)) },
				})
				ctx, cancel := context.WithCancel(t.Context())
				done := make(chan error)
				go func() { done <- i.Run(ctx) }()
				<-i.Synced()
				for _, p := range i.Store().List("x") {
					stored = append(stored, version(p))
				}
				cancel()
				<-done
				if !c.ordered {
					slices.Sort(got)
				}
				if !slices.Equal(got, c.want) {
					t.Errorf("the handler got %v, not %v", got, c.want)
				}
				slices.Sort(stored)
				if !slices.Equal(stored, slices.Sorted(slices.Values(c.want))) {
					t.Errorf("the store has %v, not %v", stored, c.want)
				}
			})
		})
	}
}
