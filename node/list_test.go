package node_test

import (
	"bytes"
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"

	"fairlead.dev/client"
	"fairlead.dev/controller"
	"fairlead.dev/informer"
	"fairlead.dev/node"
	"fairlead.dev/testenv"
)

// TestServersOfInitialEvents starts nodes, which have a pod already, on servers that send initial events, refuse to, or do not
// know the option. Only the last two are asked for lists of pods.
func TestServersOfInitialEvents(t *testing.T) {
	refuse := func(req *http.Request) *http.Response {
		body, _ := json.Marshal(apierrors.NewInvalid(metav1.SchemeGroupVersion.WithKind("ListOptions").GroupKind(), "", nil).Status())
		return &http.Response{
			StatusCode: http.StatusUnprocessableEntity, Request: req,
			Header: http.Header{"Content-Type": {"application/json"}}, Body: io.NopCloser(bytes.NewReader(body)),
		}
	}
	ignore := func(req *http.Request) *http.Response {
		q := req.URL.Query()
		q.Del("sendInitialEvents")
		q.Del("resourceVersionMatch")
		q.Del("allowWatchBookmarks") // with which this server would send them all the same
		req.URL.RawQuery = q.Encode()
		return nil
	}
	for _, c := range []struct {
		name  string
		asked func(*http.Request) *http.Response // a response, or nil to pass the request on
		lists bool
	}{
		{"sends them", func(*http.Request) *http.Response { return nil }, false},
		{"refuses", refuse, true},
		{"does not know them", ignore, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				server := testenv.New(t, testenv.Options{Bubble: true, Controllers: []string{"serviceaccount"}, NoScheduler: true, NoNodes: true})
				pods := client.For[*corev1.Pod](server.Client(t)).Namespace("default")
				accounts := client.For[*corev1.ServiceAccount](server.Client(t)).Namespace("default")
				await(t, accounts, "default", "there", func(*corev1.ServiceAccount) bool { return true })
				if _, err := pods.Create(t.Context(), boundPod("before", "node-1", "")); err != nil {
					t.Fatal(err)
				}

				var lists atomic.Int32
				config := rest.CopyConfig(server.Config())
				config.Wrap(func(next http.RoundTripper) http.RoundTripper {
					return wire(func(req *http.Request) (*http.Response, error) {
						if q := req.URL.Query(); strings.HasSuffix(req.URL.Path, "/pods") && req.Method == http.MethodGet {
							if q.Get("watch") == "" {
								lists.Add(1)
							}
							if q.Get("sendInitialEvents") != "" {
								if res := c.asked(req); res != nil {
									return res, nil
								}
							}
						}
						return next.RoundTrip(req)
					})
				})
				own, err := client.New(config, client.Options{})
				if err != nil {
					t.Fatal(err)
				}
				recorder := client.NewRecorder(own, "kubelet")
				defer recorder.Close()
				stop := start(t, controller.Env{Client: own, Informers: informer.NewSet(own), Recorder: recorder, Log: slog.New(slog.DiscardHandler)}, node.Options{Count: 1})
				defer stop()
				time.Sleep(2 * time.Minute) // a server that does not know them sends no end of them
				await(t, pods, "before", "running", running)
				if _, err := pods.Create(t.Context(), boundPod("after", "node-1", "")); err != nil {
					t.Fatal(err)
				}
				await(t, pods, "after", "running", running)
				if n := lists.Load(); (n > 0) != c.lists {
					t.Errorf("%d lists of pods", n)
				}
			})
		})
	}
}
