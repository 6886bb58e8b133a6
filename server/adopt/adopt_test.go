package adopt_test

import (
	"bytes"
	"encoding/json"
	"testing"

	"fairlead.dev/resource"
	"fairlead.dev/resource/builtin"
	"fairlead.dev/server/adopt"
	"fairlead.dev/storage"
	"fairlead.dev/storage/local"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/serializer/protobuf"
)

const key = "/registry/pods/default/a"

func pod(node string) *corev1.Pod {
	return &corev1.Pod{
		TypeMeta:   metav1.TypeMeta{APIVersion: "v1", Kind: "Pod"},
		ObjectMeta: metav1.ObjectMeta{Name: "a", Namespace: "default", Labels: map[string]string{"app": "x"}},
		Spec:       corev1.PodSpec{NodeName: node},
	}
}

// stored is a pod as kube-apiserver stores it.
func stored(t *testing.T, p *corev1.Pod) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := protobuf.NewSerializer(resource.Scheme(), resource.Scheme()).Encode(p, &b); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// check looks for want with its defaults.
func check(t *testing.T, what string, kv *storage.KeyValue, want *corev1.Pod) {
	t.Helper()
	for _, r := range builtin.Resources() {
		if r.GroupResource() == corev1.Resource("pods") {
			r.Strategy.Default(want)
		}
	}
	if kv == nil {
		t.Fatalf("%s: nothing", what)
	}
	var got corev1.Pod
	if err := json.Unmarshal(kv.Value, &got); err != nil {
		t.Fatalf("%s: %v in %q", what, err, kv.Value)
	}
	if diff := cmp.Diff(want, &got); diff != "" {
		t.Errorf("%s: %s", what, diff)
	}
}

func TestProtobufIsReadAsJSON(t *testing.T) {
	below, err := local.Open("", local.Options{InMemory: true})
	if err != nil {
		t.Fatal(err)
	}
	s := adopt.New(below, builtin.Resources())
	defer s.Close()
	c, err := s.Watch("/", storage.NoEnd, 1)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	plain := []byte(`{"kind":"Pod"}`)
	unknown := []byte("k8s\x00\n\x00")
	for _, txn := range []storage.Txn{
		{Then: []storage.Op{{Key: key, Value: stored(t, pod("n1"))}}},
		{Then: []storage.Op{{Key: key, Value: stored(t, pod("n2"))}, {Key: "/json", Value: plain}}},
		{Then: []storage.Op{{Type: storage.Delete, Key: key}}},
		{Then: []storage.Op{{Key: key, Value: stored(t, pod("n3"))}, {Key: "/unknown", Value: unknown}}},
	} {
		if _, err := s.Commit(t.Context(), txn); err != nil {
			t.Fatal(err)
		}
	}

	b, err := c.Next()
	if err != nil || len(b.Events) != 6 {
		t.Fatalf("%+v, %v", b, err)
	}
	check(t, "created", b.Events[0].KV, pod("n1"))
	check(t, "changed", b.Events[1].KV, pod("n2"))
	check(t, "before the change", b.Events[1].Prev, pod("n1"))
	check(t, "deleted", b.Events[3].Prev, pod("n2"))
	if got := b.Events[2].KV.Value; string(got) != string(plain) {
		t.Errorf("JSON became %q", got)
	}
	if got := b.Events[5].KV.Value; string(got) != string(unknown) {
		t.Errorf("what nobody can read became %q", got)
	}

	r, err := s.Range(t.Context(), storage.RangeRequest{Start: "/", End: storage.NoEnd})
	if err != nil || len(r.KVs) != 3 {
		t.Fatalf("%+v, %v", r, err)
	}
	check(t, "listed", r.KVs[1], pod("n3"))
	if kv := r.KVs[1]; kv.ModRevision != 5 || kv.CreateRevision != 5 || kv.Version != 1 {
		t.Errorf("with %+v", kv)
	}
	res, err := s.Commit(t.Context(), storage.Txn{If: []storage.Condition{{Key: key, ModRevision: 2}}})
	if err != nil || res.Succeeded {
		t.Fatalf("%+v, %v", res, err)
	}
	check(t, "what a condition found", res.Current[0], pod("n3"))

	// The store below still has what was written: it is shared, not changed.
	raw, err := below.Range(t.Context(), storage.RangeRequest{Start: key})
	if err != nil || !bytes.HasPrefix(raw.KVs[0].Value, []byte("k8s\x00")) {
		t.Errorf("below: %+v, %v", raw, err)
	}
}
