package client_test

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"io"
	"net/http"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"

	"fairlead.dev/client"
)

// servedPod is a running pod as a server sends it, with its managedFields.
//
//go:embed testdata/pod.json
var servedPod []byte

// echo answers discovery, and every other request with the same bytes, without a server: it
// leaves the client's own work to measure.
type echo struct{ discovery, body []byte }

func (e echo) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.Body != nil {
		_, _ = io.Copy(io.Discard, r.Body)
	}
	if r.URL.Path == "/api/v1" {
		return echo{body: e.discovery}.answer(r), nil
	}
	return e.answer(r), nil
}

func (e echo) answer(r *http.Request) *http.Response {
	return &http.Response{StatusCode: 200, Body: io.NopCloser(bytes.NewReader(e.body)), ContentLength: int64(len(e.body)), Request: r}
}

func echoOf(tb testing.TB, body []byte) echo {
	discovery, err := json.Marshal(metav1.APIResourceList{APIResources: []metav1.APIResource{
		{Name: "pods", Kind: "Pod", Namespaced: true}, {Name: "events", Kind: "Event", Namespaced: true},
	}})
	if err != nil {
		tb.Fatal(err)
	}
	return echo{discovery, body}
}

func echoing(tb testing.TB, body []byte) *client.Client {
	c, err := client.New(&rest.Config{Transport: echoOf(tb, body)}, client.Options{})
	if err != nil {
		tb.Fatal(err)
	}
	return c
}

// BenchmarkWrite is the client's share of writes.
func BenchmarkWrite(b *testing.B) {
	pods := client.For[*corev1.Pod](echoing(b, servedPod)).Namespace("default")
	pod, err := pods.Get(ctx, "web")
	if err != nil {
		b.Fatal(err)
	}
	fresh := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{GenerateName: "web-", Labels: pod.Labels, Annotations: pod.Annotations}, Spec: pod.Spec}
	binding := &corev1.Binding{ObjectMeta: metav1.ObjectMeta{Name: pod.Name, Namespace: pod.Namespace, UID: pod.UID},
		Target: corev1.ObjectReference{Kind: "Node", Name: "node-1"}}
	for _, call := range []struct {
		name string
		do   func() error
	}{
		{"create", func() error { _, err := pods.Create(ctx, fresh); return err }},
		{"status", func() error { _, err := pods.UpdateStatus(ctx, pod); return err }},
		{"binding", func() error { return pods.CreateSubresource(ctx, pod.Name, "binding", binding, nil) }},
		{"delete", func() error {
			return pods.Delete(ctx, pod.Name, metav1.DeleteOptions{Preconditions: &metav1.Preconditions{UID: &pod.UID}})
		}},
	} {
		b.Run(call.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if err := call.do(); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
