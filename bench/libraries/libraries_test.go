package main

import (
	"bytes"
	"encoding/json"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

// TestTemplate: the template writes pods, each with its own name, equal in both encodings.
func TestTemplate(t *testing.T) {
	for _, n := range []int{0, 4242, 99_999} {
		var fromJSON, fromProto corev1.Pod
		line := newTemplate(frame(false, "ADDED", templatePod())).append(nil, n, firstRev+n)
		var ev struct{ Object json.RawMessage }
		if err := json.Unmarshal(line, &ev); err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal(ev.Object, &fromJSON); err != nil {
			t.Fatal(err)
		}
		var event metav1.WatchEvent
		if err := event.Unmarshal(newTemplate(frame(true, "ADDED", templatePod())).append(nil, n, firstRev+n)[4:]); err != nil {
			t.Fatal(err)
		}
		var u runtime.Unknown
		if err := u.Unmarshal(bytes.TrimPrefix(event.Object.Raw, []byte("k8s\x00"))); err != nil {
			t.Fatal(err)
		}
		if err := fromProto.Unmarshal(u.Raw); err != nil {
			t.Fatal(err)
		}
		fromProto.TypeMeta = fromJSON.TypeMeta
		if a, b := must(json.Marshal(fromJSON)), must(json.Marshal(fromProto)); !bytes.Equal(a, b) {
			t.Fatalf("JSON and protobuf differ:\n%s\n%s", a, b)
		}
		if fromJSON.Name != podName(n) || fromJSON.Namespace != podSpace(n) || fromJSON.Spec.NodeName != nodeName(n) || !fromJSON.CreationTimestamp.Equal(&metav1.Time{Time: born(n)}) {
			t.Errorf("pod %d is %s/%s on %s, born %s", n, fromJSON.Namespace, fromJSON.Name, fromJSON.Spec.NodeName, fromJSON.CreationTimestamp)
		}
	}
}

// TestLibraries: each library does each row's work, in small.
func TestLibraries(t *testing.T) {
	s := sizes{pods: []int{200}, events: 200, items: 1000}
	for _, r := range s.rows() {
		if r.Row == "lookups" {
			continue // its answers depend on its size, and every other row has an informer too
		}
		for _, name := range order {
			r.Library = name
			t.Run(r.name+"/"+name, func(t *testing.T) {
				if r.Pods > 0 {
					tape, err := startTape(r.Pods)
					if err != nil {
						t.Fatal(err)
					}
					defer tape.stop()
					r.URL = tape.url
				}
				f := r.measure()
				for _, s := range r.shown {
					if _, ok := f[s.key]; !ok {
						t.Errorf("no figure %s in %v", s.key, f)
					}
				}
			})
		}
	}
}
