package fastjson_test

import (
	"bytes"
	stdjson "encoding/json"
	"reflect"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"fairlead.dev/client"
	"fairlead.dev/internal/codec/fastjson"
)

type marshaler interface{ Marshal() ([]byte, error) }

// byWayOfGo produces the message by way of the Go value.
func byWayOfGo(t *testing.T, text []byte, typ reflect.Type) []byte {
	t.Helper()
	obj := reflect.New(typ).Interface()
	if err := stdjson.Unmarshal(text, obj); err != nil {
		t.Fatal(err)
	}
	want, err := obj.(marshaler).Marshal()
	if err != nil {
		t.Fatal(err)
	}
	return want
}

// TestTranscodeIsTheGeneralWay fills every kind of the scheme that has a message at random, and compares the result
// with decoding and Marshal.
func TestTranscodeIsTheGeneralWay(t *testing.T) {
	kinds, taken := 0, 0
	for gvk, typ := range client.Scheme.AllKnownTypes() {
		if _, ok := reflect.New(typ).Interface().(marshaler); !ok || gvk.Version == runtime.APIVersionInternal {
			continue
		}
		kinds++
		took := false
		f := filler(int64(kinds))
		for range 8 {
			in := reflect.New(typ).Interface()
			f.Fill(in)
			text, err := stdjson.Marshal(in)
			if err != nil {
				t.Fatalf("%v: %v", gvk, err)
			}
			got, ok := fastjson.AppendTranscoded(nil, text, typ)
			if !ok {
				continue
			}
			took = true
			if want := byWayOfGo(t, text, typ); !bytes.Equal(got, want) {
				t.Fatalf("%v: from %s\nmade %q\nwant %q", gvk, text, got, want)
			}
		}
		if took {
			taken++
		} else {
			t.Errorf("%v: gave up", gvk)
		}
	}
	if taken < 100 {
		t.Errorf("only %d kinds", taken)
	}
}

func TestTranscodeOddForms(t *testing.T) {
	pod := reflect.TypeFor[corev1.Pod]()
	for _, s := range []string{
		`{}`, ` { "metadata" : { "name" : "a" , "labels" : { } } , "spec" : { "containers" : [ ] } } `,
		`{"metadata":null,"spec":{"containers":null,"nodeSelector":null,"hostNetwork":null,"nodeName":null,"priority":null}}`,
		`{"unknown":{"deep":[1.5e3,{"x":"}\"]"},true,null]},"metadata":{"name":"a","more":1}}`,
		`{"status":{},"metadata":{"uid":"u","name":"a"},"kind":"Pod"}`,
		`{"metadata":{"name":"\u00e9\ud83d\ude00\n","generation":-5,"annotations":{"b":"\"","a":"2","\n":"x"}}}`,
		`{"metadata":{"creationTimestamp":"2026-01-02T03:04:05+02:00","deletionTimestamp":"1969-12-31T23:59:59Z"}}`,
		`{"spec":{"priority":-1,"containers":[{"resources":{"limits":{"cpu":"1000","memory":"1024Mi","a":"0","b":"1500m","c":"1.5","d":2,"e":"100000k","f":"12E","g":"1e3","h":"128Mi","i":"+1","j":"01"}}}]}}`,
		`{"spec":{"containers":[{"livenessProbe":{"httpGet":{"port":"http"}}},{"livenessProbe":{"httpGet":{"port":80}}}]}}`,
	} {
		got, ok := fastjson.AppendTranscoded(nil, []byte(s), pod)
		if !ok {
			t.Errorf("gave up on %s", s)
		} else if want := byWayOfGo(t, []byte(s), pod); !bytes.Equal(got, want) {
			t.Errorf("from %s\nmade %q\nwant %q", s, got, want)
		}
	}
	for _, s := range []string{
		``, `[]`, `{`, `{"metadata":{}`, `{"metadata":{}}}`, `{"metadata":{"name":1}}`, `{"metadata":{"name":"a","name":"b"}}`, `{"metadata":{"labels":{"a":"1","a":"2"}}}`,
		`{"metadata":{"labels":{"b":"1","a":"2","b":"3"}}}`, `{"metadata":{"labels":{"a":null}}}`, `{"spec":{"containers":[null]}}`, `{"spec":{"priority":2147483648}}`,
		`{"spec":{"hostNetwork":1}}`, `{"metadata":{"creationTimestamp":"yesterday"}}`, `{"spec":{"containers":[{"resources":{"limits":{"cpu":"x"}}}]}}`,
	} {
		if _, ok := fastjson.AppendTranscoded(nil, []byte(s), pod); ok {
			t.Errorf("took %s", s)
		}
	}
}

// TestTranscodeMetadata converts the metadata of any object.
func TestTranscodeMetadata(t *testing.T) {
	text, _ := stdjson.Marshal(servedPod())
	typ := reflect.TypeFor[metav1.PartialObjectMetadata]()
	got, ok := fastjson.AppendTranscoded(nil, text, typ)
	if want := byWayOfGo(t, text, typ); !ok || !bytes.Equal(got, want) {
		t.Errorf("made %q\nwant %q", got, want)
	}
}

func FuzzTranscode(f *testing.F) {
	f.Add([]byte(`{"metadata":{"name":"a","labels":{"x":"y"}},"spec":{"containers":[{"name":"c","ports":[{"containerPort":80}],"resources":{"limits":{"cpu":"1"}}}]}}`))
	f.Fuzz(func(t *testing.T, b []byte) {
		got, ok := fastjson.AppendTranscoded(nil, b, reflect.TypeFor[corev1.Pod]())
		var pod corev1.Pod
		if !ok || !fastjson.Unmarshal(b, &pod) {
			return
		}
		if want, err := pod.Marshal(); err != nil || !bytes.Equal(got, want) {
			t.Errorf("made %q\nwant %q", got, want)
		}
	})
}

// BenchmarkTranscode converts a pod's JSON, directly and by way of a Go value.
func BenchmarkTranscode(b *testing.B) {
	text, err := stdjson.Marshal(servedPod())
	if err != nil {
		b.Fatal(err)
	}
	typ := reflect.TypeFor[corev1.Pod]()
	b.Run("at once", func(b *testing.B) {
		b.SetBytes(int64(len(text)))
		b.ReportAllocs()
		for b.Loop() {
			if _, ok := fastjson.AppendTranscoded(nil, text, typ); !ok {
				b.Fatal("gave up")
			}
		}
	})
	b.Run("by way of a pod", func(b *testing.B) {
		b.SetBytes(int64(len(text)))
		b.ReportAllocs()
		for b.Loop() {
			var pod corev1.Pod
			if !fastjson.Unmarshal(text, &pod) {
				b.Fatal("gave up")
			}
			if _, err := pod.Marshal(); err != nil {
				b.Fatal(err)
			}
		}
	})
}
