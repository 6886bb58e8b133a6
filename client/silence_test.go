package client_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"

	"fairlead.dev/client"
)

// mute is a server in memory that starts a response and then stops sending.
type mute struct{ header, body bool }

func (m mute) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.URL.Path == "/api/v1" {
		return jsonAnswer(strings.NewReader(`{"resources":[{"name":"pods","kind":"Pod","namespaced":true}]}`)), nil
	}
	if !m.header {
		<-r.Context().Done()
		return nil, r.Context().Err()
	}
	begin := ""
	if m.body {
		begin = `{"type":"ADDED","object":{"metadata":{"name":"a"}}}` + "\n"
	}
	return jsonAnswer(io.MultiReader(strings.NewReader(begin), untilDone{r.Context()})), nil
}

func jsonAnswer(body io.Reader) *http.Response {
	return &http.Response{StatusCode: 200, Header: http.Header{"Content-Type": {client.ContentTypeJSON}}, Body: io.NopCloser(body), ContentLength: -1}
}

type untilDone struct{ ctx context.Context }

func (u untilDone) Read([]byte) (int, error) {
	<-u.ctx.Done()
	return 0, u.ctx.Err()
}

// TestSilence: a server that stops speaking is given up after the time that was set, or
// three minutes, whether it has begun its answer or not; a watch that may be quiet is not.
func TestSilence(t *testing.T) {
	for name, c := range map[string]struct {
		server  mute
		limit   time.Duration
		after   time.Duration
		watch   bool
		quietly bool
	}{
		"no answer":            {server: mute{}, after: 3 * time.Minute},
		"half an answer":       {server: mute{header: true}, after: 3 * time.Minute},
		"a limit of one's own": {server: mute{header: true}, limit: 20 * time.Second, after: 20 * time.Second},
		"for ever":             {server: mute{}, limit: -1},
		"no watch":             {server: mute{}, watch: true, after: 3 * time.Minute},
		"watch":                {server: mute{header: true, body: true}, watch: true, after: 3 * time.Minute},
		"watch, no bookmarks":  {server: mute{header: true, body: true}, watch: true, quietly: true},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c2, err := client.New(&rest.Config{Transport: c.server}, client.Options{Silence: c.limit})
				if err != nil {
					t.Fatal(err)
				}
				pods := client.For[*corev1.Pod](c2).Namespace("default")
				ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
				defer cancel()
				begun := time.Now()
				if c.watch {
					var w *client.Watch[*corev1.Pod]
					if w, err = pods.Watch(ctx, metav1.ListOptions{AllowWatchBookmarks: !c.quietly}); err == nil {
						for _, err = range w.Events(ctx) {
						}
					}
				} else {
					_, err = pods.Get(ctx, "web")
				}
				if c.after == 0 {
					if !errors.Is(err, context.DeadlineExceeded) {
						t.Errorf("ended with %v", err)
					}
					return
				}
				if !errors.Is(err, client.ErrSilent) || time.Since(begun) != c.after {
					t.Errorf("%v after %v, want silence after %v", err, time.Since(begun), c.after)
				}
			})
		})
	}
}
