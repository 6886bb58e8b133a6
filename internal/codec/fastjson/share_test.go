package fastjson_test

import (
	stdjson "encoding/json"
	"fmt"
	"reflect"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"sigs.k8s.io/json"

	"fairlead.dev/internal/codec/fastjson"
)

// pod returns the JSON of a pod of one of some Deployments.
func pod(t *testing.T, n int) []byte {
	t.Helper()
	p := &corev1.Pod{}
	p.Name, p.Labels = fmt.Sprint("web-", n), map[string]string{"app": fmt.Sprint("web-", n%3)}
	p.Spec.Tolerations = []corev1.Toleration{{Key: "a"}, {Key: "b"}}
	p.Spec.EnableServiceLinks = new(bool)
	p.Spec.Containers = []corev1.Container{{Name: p.Name, Resources: corev1.ResourceRequirements{
		Requests: corev1.ResourceList{"cpu": resource.MustParse("100m")},
	}}}
	b, err := stdjson.Marshal(p)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// TestShares checks that a Sharer decodes like upstream, and that equal parts of objects share
// memory. Two parts that are hashed to the same slots displace each other, so a run in which
// that happened is repeated with other objects.
func TestShares(t *testing.T) {
	const runs = 5 // one in twenty has such a collision
	for run := range runs {
		pods := decodeShared(t, run)
		unshared := 0
		for n := range pods[3:] {
			if a, b := &pods[n], &pods[n+3]; !shareParts(a, b) { // of the same Deployment
				unshared++
			}
			if cap(pods[n+3].Spec.Tolerations) != 2 {
				t.Fatal("a shared slice has room that an append would write to")
			}
		}
		if unshared <= len(pods)/10 {
			return
		}
		t.Logf("equal parts of %d pods are not shared", unshared)
	}
	t.Errorf("equal parts are not shared in any of %d runs", runs)
}

// decodeShared decodes a run's pods with one Sharer, and compares them with upstream's result.
func decodeShared(t *testing.T, run int) []corev1.Pod {
	t.Helper()
	s := fastjson.NewSharer()
	var pods []corev1.Pod
	for n := range 1000 {
		var got, want corev1.Pod
		b := []byte(strings.NewReplacer("web-", fmt.Sprintf("web%d-", run), `"key":"`, fmt.Sprintf(`"key":"%d`, run), "100m", fmt.Sprintf("10%dm", run)).Replace(string(pod(t, n))))
		if !s.Unmarshal(b, &got) {
			t.Fatal("gave up")
		}
		if err := json.UnmarshalCaseSensitivePreserveInts(b, &want); err != nil {
			t.Fatal(err)
		}
		if !reflect.DeepEqual(got, want) {
			t.Fatalf("pod %d:\n got %+v\nwant %+v", n, got, want)
		}
		pods = append(pods, got)
	}
	return pods
}

// shareParts reports whether the equal parts of two pods are the same memory.
func shareParts(a, b *corev1.Pod) bool {
	at := func(v any) uintptr { return reflect.ValueOf(v).Pointer() }
	return at(a.Labels) == at(b.Labels) && at(a.Spec.Tolerations) == at(b.Spec.Tolerations) &&
		at(a.Spec.EnableServiceLinks) == at(b.Spec.EnableServiceLinks) &&
		at(a.Spec.Containers[0].Resources.Requests) == at(b.Spec.Containers[0].Resources.Requests)
}

// TestSharesNot checks that values excluded by the tag, duplicate members and long values are not shared.
func TestSharesNot(t *testing.T) {
	type list struct {
		Items []*corev1.Pod `json:"items" share:"no"`
		Names []*string     `json:"names"`
	}
	s := fastjson.NewSharer()
	var first, a, b list
	text := []byte(`{"items":[{"metadata":{"name":"a"}}],"names":["x"]}`)
	if !s.Unmarshal(text, &first) || !s.Unmarshal(text, &a) || !s.Unmarshal(text, &b) {
		t.Fatal("gave up")
	}
	if a.Items[0] == b.Items[0] {
		t.Error("an item that is its list's own is shared")
	}
	if a.Names[0] != b.Names[0] {
		t.Error("equal slices are not shared")
	}
	for _, twice := range []string{
		`{"metadata":{"labels":{"a":"1"},"labels":{"b":"2"}}}`, `{"spec":{"priority":1,"priority":2}}`,
		`{"metadata":{"labels":{"a":"1"}},"metadata":{"labels":{"b":"2"}}}`,
	} {
		for range 3 {
			if s.Unmarshal([]byte(twice), new(corev1.Pod)) {
				t.Errorf("took %s", twice)
			}
		}
	}
}

// TestSharerGivesUp checks that a Sharer that has seen objects accepts no more input than Unmarshal, and that both
// read the same, wherever a byte is changed or the input is cut off.
func TestSharerGivesUp(t *testing.T) {
	s := fastjson.NewSharer()
	b := pod(t, 1)
	for range 3 {
		s.Unmarshal(b, new(corev1.Pod))
	}
	gaveUp, read := 0, 0
	for at := range b {
		for _, c := range []byte("\"{}[],:0 n\\") {
			spoilt := append([]byte{}, b...)
			spoilt[at] = c
			for _, bad := range [][]byte{spoilt, b[:at]} {
				var got, want corev1.Pod
				took, sound := s.Unmarshal(bad, &got), fastjson.Unmarshal(bad, &want)
				switch {
				case !took:
					gaveUp++
				case !sound || !reflect.DeepEqual(got, want):
					t.Fatalf("from %s\nread %+v\nwant %+v %v", bad, got, want, sound)
				default:
					read++
				}
			}
		}
	}
	if gaveUp == 0 || read == 0 {
		t.Errorf("gave up %d times and read %d", gaveUp, read)
	}
}
