package client_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"sync"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/rest"

	"fairlead.dev/client"
)

// TestBodies: bodies are those of encoding/json, with the kind, and the caller's object
// does not change. internal/codec/fastjson tests this for every kind.
func TestBodies(t *testing.T) {
	c, s := scripted(t, client.Options{}, func(w http.ResponseWriter, r *http.Request) { w.Write(servedPod) })
	pods := client.For[*corev1.Pod](c).Namespace("default")
	served, err := pods.Get(ctx, "web")
	if err != nil {
		t.Fatal(err)
	}
	odd := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "web", Annotations: map[string]string{"<größe>": "a\u2028\x00\"\xff"}}}
	kindless := odd.DeepCopy()
	stamped := odd.DeepCopy()
	stamped.APIVersion, stamped.Kind = "v1", "Pod"
	binding := &corev1.Binding{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Binding"}, Target: corev1.ObjectReference{Name: "node-1"}}
	loose := &unstructured.Unstructured{Object: map[string]any{"apiVersion": "v1", "kind": "Pod",
		"metadata": map[string]any{"name": "web"}, "x": []any{int64(1), 1.5, nil, true, "<&>"}, "int": 7}}
	uid := served.UID
	for _, call := range []struct {
		do   func() error
		want any
	}{
		{func() error { _, err := pods.UpdateStatus(ctx, served); return err }, served},
		{func() error { _, err := pods.Create(ctx, odd); return err }, stamped},
		{func() error { _, err := pods.Update(ctx, stamped); return err }, stamped},
		{func() error {
			return pods.CreateSubresource(ctx, "web", "binding", &corev1.Binding{Target: binding.Target}, nil)
		}, binding},
		{func() error {
			return pods.Delete(ctx, "web", metav1.DeleteOptions{Preconditions: metav1.NewUIDPreconditions(string(uid))})
		},
			&metav1.DeleteOptions{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "DeleteOptions"}, Preconditions: metav1.NewUIDPreconditions(string(uid))}},
		{func() error {
			_, err := client.Dynamic(c, corev1.SchemeGroupVersion.WithResource("pods"), true).Namespace("default").Update(ctx, loose)
			return err
		}, loose},
		{func() error { _, err := pods.Patch(ctx, "web", client.MergePatch(odd)); return err }, odd},
	} {
		if err := call.do(); err != nil {
			t.Fatal(err)
		}
		want, err := json.Marshal(call.want)
		if got := s.body[len(s.body)-1]; err != nil || got != string(want) {
			t.Errorf("sent %s\nwant %s, %v", got, want, err)
		}
	}
	if !equality.Semantic.DeepEqual(odd, kindless) {
		t.Errorf("the caller's object has become %+v", odd)
	}
}

// TestAnswersAreTheirOwn: the result of a write does not change while other responses are
// read.
func TestAnswersAreTheirOwn(t *testing.T) {
	c, err := client.New(&rest.Config{Transport: mirror{echoOf(t, nil)}}, client.Options{})
	if err != nil {
		t.Fatal(err)
	}
	pods := client.For[*corev1.Pod](c).Namespace("default")
	var wg sync.WaitGroup
	for g := range 8 {
		wg.Go(func() {
			var kept []*corev1.Pod
			for i := range 100 {
				p := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprintf("p-%d-%d", g, i), UID: "u",
					ManagedFields: []metav1.ManagedFieldsEntry{{Manager: fmt.Sprint("m-", g, i), FieldsV1: metav1.NewFieldsV1(fmt.Sprintf(`{"f:%d":%d}`, g, i))}}}}
				if i%2 == 0 {
					p.Annotations = map[string]string{"long": fmt.Sprintf("%01000d", g)}
				}
				got, err := pods.Update(ctx, p)
				if err != nil {
					t.Error(err)
					return
				}
				p.APIVersion, p.Kind = "v1", "Pod"
				kept = append(kept, p, got)
			}
			for i := 0; i < len(kept); i += 2 {
				if !equality.Semantic.DeepEqual(kept[i], kept[i+1]) {
					t.Errorf("sent %v\ngot %v", kept[i], kept[i+1])
				}
			}
		})
	}
	wg.Wait()
}

// mirror answers a write with its own body.
type mirror struct{ discovery http.RoundTripper }

func (m mirror) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.Method == http.MethodGet {
		return m.discovery.RoundTrip(r)
	}
	body, err := io.ReadAll(r.Body)
	return echo{body: body}.answer(r), err
}
