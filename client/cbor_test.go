package client_test

import (
	"context"
	"net/http"
	"reflect"
	"strings"
	"sync"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer/cbor/direct"
	"k8s.io/apimachinery/pkg/watch"

	"fairlead.dev/client"
	"fairlead.dev/testenv"
)

// TestEncodings does the same in every encoding, with a server that speaks CBOR and with
// one that does not, and sees the same.
func TestEncodings(t *testing.T) {
	for _, speaks := range []bool{true, false} {
		env := testenv.New(t, testenv.Options{NoNodes: true, NoScheduler: true, CBOR: speaks})
		for _, encoding := range []string{client.ContentTypeJSON, client.ContentTypeProtobuf, client.ContentTypeCBOR} {
			t.Run(encoding[strings.LastIndex(encoding, "/")+1:], func(t *testing.T) {
				var refused, sent int
				var mu sync.Mutex
				c, err := client.New(env.Config(), client.Options{ContentType: encoding, Observe: func(_ context.Context, x client.Exchange) {
					mu.Lock()
					defer mu.Unlock()
					sent++
					if x.Code == 415 {
						refused++
					}
				}})
				if err != nil {
					t.Fatal(err)
				}
				everything(t, c)
				want := 0
				if encoding == client.ContentTypeCBOR && !speaks {
					want = 1 // and never again
				}
				if refused != want {
					t.Errorf("%d of %d requests were refused for their encoding, want %d", refused, sent, want)
				}
			})
		}
	}
}

func everything(t *testing.T, c *client.Client) {
	ctx := t.Context()
	gvr := schema.GroupVersionResource{Version: "v1", Resource: "configmaps"}
	maps := client.For[*corev1.ConfigMap](c).Namespace("default")
	loose := client.Dynamic(c, gvr, true).Namespace("default")
	meta := client.Metadata(c, gvr, true).Namespace("default")

	m := &corev1.ConfigMap{Data: map[string]string{"a": "1"}, BinaryData: map[string][]byte{"b": {0, 255, 7}}}
	m.Name, m.Labels = "settings", map[string]string{"app": "web"}
	made, err := maps.Create(ctx, m)
	if err != nil || made.Kind != "ConfigMap" || made.UID == "" || !reflect.DeepEqual(made.BinaryData, m.BinaryData) {
		t.Fatalf("create: %v %+v", err, made)
	}
	watching, err := maps.Watch(ctx, metav1.ListOptions{ResourceVersion: made.ResourceVersion, FieldSelector: "metadata.name=settings"})
	if err != nil {
		t.Fatal(err)
	}
	defer watching.Stop()
	seen, err := loose.Watch(ctx, metav1.ListOptions{ResourceVersion: made.ResourceVersion, FieldSelector: "metadata.name=settings"})
	if err != nil {
		t.Fatal(err)
	}
	defer seen.Stop()

	u, err := loose.Get(ctx, "settings")
	if err != nil || u.GetKind() != "ConfigMap" || u.GetUID() != made.UID {
		t.Fatalf("dynamic get: %v %v", err, u)
	}
	if err := unstructured.SetNestedField(u.Object, "2", "data", "a"); err != nil {
		t.Fatal(err)
	}
	if u, err = loose.Update(ctx, u); err != nil {
		t.Fatalf("dynamic update: %v", err)
	}
	ev, err := watching.Next(ctx)
	if err != nil || ev.Type != watch.Modified || ev.Object.Data["a"] != "2" || ev.Object.Kind != "ConfigMap" ||
		ev.Object.CreationTimestamp != made.CreationTimestamp || len(ev.Object.ManagedFields) == 0 {
		t.Errorf("watch: %v %+v", err, ev)
	}
	if ev, err := seen.Next(ctx); err != nil || ev.Type != watch.Modified || !reflect.DeepEqual(ev.Object.Object, u.Object) {
		t.Errorf("dynamic watch: %v %+v\nwant %v", err, ev, u.Object)
	}
	if l, err := maps.List(ctx, metav1.ListOptions{LabelSelector: "app=web"}); err != nil || len(l.Items) != 1 || !reflect.DeepEqual(l.Items[0], ev.Object) || l.ResourceVersion == "" {
		t.Errorf("list: %v %+v", err, l)
	}
	if l, err := loose.List(ctx, metav1.ListOptions{LabelSelector: "app=web"}); err != nil || len(l.Items) != 1 || !reflect.DeepEqual(l.Items[0].Object, u.Object) {
		t.Errorf("dynamic list: %v %+v", err, l)
	}
	if p, err := meta.Get(ctx, "settings"); err != nil || p.Labels["app"] != "web" || p.Kind != "PartialObjectMetadata" {
		t.Errorf("metadata: %v %+v", err, p)
	}
	if _, err := maps.Get(ctx, "none"); !apierrors.IsNotFound(err) || !strings.Contains(err.Error(), `configmaps "none" not found`) {
		t.Errorf("what is not there: %v", err)
	}
	if _, err := maps.Patch(ctx, "settings", client.MergePatch(map[string]any{"data": map[string]any{"c": "3"}})); err != nil {
		t.Errorf("patch: %v", err)
	}
	if err := maps.Delete(ctx, "settings"); err != nil {
		t.Errorf("delete: %v", err)
	}
}

// TestFieldsOfNewerServers: a field that the Go type does not have is passed over.
func TestFieldsOfNewerServers(t *testing.T) {
	body, err := direct.Marshal(map[string]any{"kind": "Pod", "apiVersion": "v1",
		"metadata": map[string]any{"name": "web", "color": "blue"}, "spec": map[string]any{"nodeName": "n", "colors": []any{int64(1)}}})
	if err != nil {
		t.Fatal(err)
	}
	c, _ := scripted(t, client.Options{ContentType: client.ContentTypeCBOR}, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", client.ContentTypeCBOR)
		w.Write(append([]byte("\xd9\xd9\xf7"), body...))
	})
	pod, err := client.For[*corev1.Pod](c).Namespace("default").Get(ctx, "web")
	if err != nil || pod.Name != "web" || pod.Spec.NodeName != "n" {
		t.Errorf("%v %+v", err, pod)
	}
}
