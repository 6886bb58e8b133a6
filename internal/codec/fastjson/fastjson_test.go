package fastjson_test

import (
	stdjson "encoding/json"
	"math/rand"
	"reflect"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/intstr"
	"sigs.k8s.io/json"
	"sigs.k8s.io/randfill"

	"fairlead.dev/client"
	"fairlead.dev/internal/codec/fastjson"
)

// filler fills objects with values that survive encoding.
func filler(seed int64) *randfill.Filler {
	odd := []string{"", "plain", "with \"quotes\" and \\", "line\nbreak\ttab", "größe 世界", "\u2028", "</script>", "k:{\"uid\":\"1\"}"}
	return randfill.New().RandSource(rand.NewSource(seed)).NilChance(0.3).NumElements(0, 3).MaxDepth(12).Funcs(
		func(s *string, c randfill.Continue) { *s = odd[c.Intn(len(odd))] },
		func(n *int64, c randfill.Continue) { *n = c.Int63n(1e18) - 1e17 }, // numbers of 19 digits are left to encoding/json
		func(t *metav1.Time, c randfill.Continue) { t.Time = time.Unix(c.Int63n(1<<33), 0) },
		func(t *metav1.MicroTime, c randfill.Continue) { t.Time = time.Unix(c.Int63n(1<<33), c.Int63n(1e6)*1e3) },
		func(q *resource.Quantity, c randfill.Continue) {
			*q = *resource.NewMilliQuantity(c.Int63n(1e9), resource.DecimalSI)
		},
		func(i *intstr.IntOrString, c randfill.Continue) { *i = intstr.FromInt32(int32(c.Intn(100))) },
		func(r *runtime.RawExtension, c randfill.Continue) { r.Raw = []byte(`{"a":[1,"]",{"b":null}]}`) },
		func(j *apiextensionsv1.JSON, c randfill.Continue) { j.Raw = []byte(`{"a":[1,"]",{"b":null}]}`) },
		func(f *metav1.FieldsV1, c randfill.Continue) {
			*f = *metav1.NewFieldsV1(`{"f:metadata":{"k:{\"x\":1}":{}}}`)
		},
	)
}

// TestSameAsTheGeneralDecoder fills every kind of the scheme at random and checks that both decoders read the same
// from its JSON, and that this one never gives up.
func TestSameAsTheGeneralDecoder(t *testing.T) {
	kinds := 0
	for gvk, typ := range client.Scheme.AllKnownTypes() {
		if gvk.Version == runtime.APIVersionInternal || gvk.Kind == "WatchEvent" {
			continue
		}
		kinds++
		f, sharer := filler(int64(kinds)), fastjson.NewSharer()
		for i := range 5 {
			in := reflect.New(typ).Interface()
			f.Fill(in)
			b, err := stdjson.Marshal(in)
			if err != nil {
				t.Fatalf("%v: %v", gvk, err)
			}
			compare(t, gvk.String(), b, typ, leftOut[gvk.Kind])
			for range max(1, 2-i) { // the second time all texts have been seen
				compareBy(t, sharer.Unmarshal, gvk.String()+", shared", b, typ, leftOut[gvk.Kind])
			}
			written, _, ok := fastjson.Marshal(in)
			if !ok && !leftOut[gvk.Kind] {
				t.Fatalf("%v: gave up", gvk)
			}
			if ok && string(written) != string(b) {
				t.Fatalf("%v: wrote %s\nwant %s", gvk, written, b)
			}
		}
	}
	if kinds < 100 {
		t.Errorf("only %d kinds", kinds)
	}
}

func compare(t *testing.T, what string, b []byte, typ reflect.Type, mayGiveUp bool) {
	t.Helper()
	compareStrict(t, what, b, typ, mayGiveUp)
	compareBy(t, fastjson.Unmarshal, what, b, typ, mayGiveUp)
}

func compareBy(t *testing.T, unmarshal func([]byte, any) bool, what string, b []byte, typ reflect.Type, mayGiveUp bool) {
	t.Helper()
	want, got := reflect.New(typ).Interface(), reflect.New(typ).Interface()
	if err := json.UnmarshalCaseSensitivePreserveInts(b, want); err != nil {
		t.Fatalf("%s: %v", what, err)
	}
	switch took := unmarshal(b, got); {
	case !took && mayGiveUp:
		return
	case !took:
		t.Fatalf("%s: gave up on %s", what, b)
	}
	if !reflect.DeepEqual(got, want) {
		t.Fatalf("%s: from %s\nread %+v\nwant %+v", what, b, got, want)
	}
}

// leftOut are kinds with values without a codec: the schema of a definition is recursive and has codecs of its own.
var leftOut = map[string]bool{
	"CustomResourceDefinition": true, "CustomResourceDefinitionList": true, "ConversionReview": true,
}

// compareStrict checks that the strict decoder accepts exactly the input that the general one accepts without
// objections.
func compareStrict(t *testing.T, what string, b []byte, typ reflect.Type, mayGiveUp bool) {
	t.Helper()
	want, got := reflect.New(typ).Interface(), reflect.New(typ).Interface()
	objections, err := json.UnmarshalStrict(b, want)
	clean := err == nil && len(objections) == 0
	switch took := fastjson.UnmarshalStrict(b, got); {
	case took && !clean:
		t.Fatalf("%s: took %s, objections %v %v", what, b, objections, err)
	case !took && clean && !mayGiveUp:
		t.Fatalf("%s: gave up on %s", what, b)
	case took && !reflect.DeepEqual(got, want):
		t.Fatalf("%s: from %s\nread %+v\nwant %+v", what, b, got, want)
	}
}

// TestStrings writes each byte at each place of a string, and invalid UTF-8.
func TestStrings(t *testing.T) {
	for c := range 256 {
		for at := range 20 {
			name := []byte("abcdefghijklmnopqrstuvwxyz"[:20])
			name[at] = byte(c)
			for _, s := range []string{string(name), string(name[:at+1]), string(name) + "\xe2\x80\xa8", "é" + string(name)} {
				in := &corev1.ConfigMap{Data: map[string]string{s: s}, ObjectMeta: metav1.ObjectMeta{Name: s}}
				want, err := stdjson.Marshal(in)
				got, _, ok := fastjson.Marshal(in)
				if err != nil || !ok || string(got) != string(want) {
					t.Fatalf("%q: wrote %s %v, want %s", s, got, ok, want)
				}
			}
		}
	}
}

// TestStrictGivesUp checks that the strict decoder gives up on objectionable input at any depth.
func TestStrictGivesUp(t *testing.T) {
	pod := reflect.TypeFor[corev1.Pod]()
	for _, s := range []string{
		`{"metadata":{"name":"a","name":"a"}}`, `{"metadata":{"labels":{"a":"1","a":"1"}}}`, `{"metadata":{"labels":{"a":null,"a":null}}}`,
		`{"spec":{"containers":[{"name":"c","resources":{"limits":{"cpu":"1","cpu":"1"}}}]}}`,
		`{"spec":{"containers":[{"name":"c","imag":"x"}]}}`, `{"Spec":{}}`, `{"spec":{"volumes":[{"name":"v","emptyDir":{},"emptyDir":{}}]}}`,
		`{"metadata":{"labels":{}},"metadata":{}}`, `{"x":1}`, `{"metadata":null,"metadata":null}`,
		`{"spec":{"containers":[{"ports":[{"containerPort":8e1}]}]}}`,
		`{"spec":{"containers":[{"livenessProbe":{"httpGet":{"port":[1,}}}]}}`,
		`{"spec":{"containers":[{"resources":{"limits":{"cpu":1x}}}]}}`,
		`{"spec":{"containers":[{"resources":{"limits":{"cpu":1.50,"memory":null}}}]}}`,
	} {
		compareStrictly(t, s, pod)
	}
	deep := strings.Repeat(`{"not":`, 300) + `{}` + strings.Repeat(`}`, 300)
	if fastjson.UnmarshalStrict([]byte(deep), new(apiextensionsv1.JSONSchemaProps)) {
		t.Error("took an object of any depth")
	}
}

// compareStrictly is compareStrict for input that the decoder may give up on.
func compareStrictly(t *testing.T, s string, typ reflect.Type) {
	t.Helper()
	want, got := reflect.New(typ).Interface(), reflect.New(typ).Interface()
	objections, err := json.UnmarshalStrict([]byte(s), want)
	if !fastjson.UnmarshalStrict([]byte(s), got) {
		return
	}
	if err != nil || len(objections) > 0 || !reflect.DeepEqual(got, want) {
		t.Errorf("took %s as %+v, objections %v %v", s, got, objections, err)
	}
}

func TestOddForms(t *testing.T) {
	pod := reflect.TypeFor[corev1.Pod]()
	for _, s := range []string{
		` { "metadata" : { "name" : "a" , "labels" : { } } , "spec" : { "containers" : [ ] } } `,
		`{"metadata":null,"spec":{"containers":null,"nodeSelector":null,"hostNetwork":null,"nodeName":null,"priority":null}}`,
		`{"metadata":{"creationTimestamp":null,"labels":{"a":null}}}`,
		`{"unknown":{"deep":[1.5e3,{"x":"}\"]"},true,null]},"metadata":{"name":"a"}}`,
		`{"status":{},"metadata":{"name":"a"},"kind":"Pod"}`, // another order
		`{"METADATA":{"name":"a"},"Spec":{}}`,                // names are case sensitive
		`{"metadata":{"name":"\u00e9\ud83d\ude00\n","generation":-5}}`,
		`{"spec":{"priority":2147483647,"activeDeadlineSeconds":123456789012345678}}`,
		`{"metadata":{"labels":{"a":"1"},"name":"x","labels":{"b":"2"}}}`,
	} {
		compare(t, s, []byte(s), pod, false)
	}
}

// TestGivesUp checks that malformed or unusual input is left to the general decoder.
func TestGivesUp(t *testing.T) {
	for _, s := range []string{
		``, ` `, `{`, `{"metadata"`, `{"metadata":`, `{"metadata":{"name":"a`, `{"metadata":{"name":"a\`, `{"metadata":{"name":"a\"`,
		`{"metadata":{}}}`, `{"metadata":{}} x`, `{"metadata":{},}`, `{"metadata" {}}`, `[]`, `"x"`, `1`,
		`{"metadata":"x"}`, `{"metadata":{"name":1}}`, `{"metadata":{"name":tru}}`, `{"metadata":{"name":nul}}`,
		`{"metadata":{"generation":1.5}}`, `{"metadata":{"generation":1e3}}`, `{"metadata":{"generation":01}}`, `{"metadata":{"generation":-}}`,
		`{"metadata":{"generation":99999999999999999999}}`, `{"spec":{"priority":2147483648}}`, `{"spec":{"hostNetwork":1}}`,
		`{"spec":{"containers":[{},]}}`, `{"spec":{"containers":[{}`, `{"spec":{"containers":{}}}`,
		`{"metadata":{"creationTimestamp":"yesterday"}}`, "{\"metadata\":{\"name\":\"a\nb\"}}", "{\"metadata\":{\"name\":\"a\xff\"}}",
	} {
		var p corev1.Pod
		if fastjson.Unmarshal([]byte(s), &p) && s != "{\"metadata\":{\"name\":\"a\xff\"}}" {
			t.Errorf("took %q", s)
		}
	}
}

// TestCycles checks that cyclic values are refused, as by encoding/json.
func TestCycles(t *testing.T) {
	type ring struct {
		Next  *ring
		Names map[string]ring
		All   []ring
	}
	p, m, l := &ring{}, &ring{Names: map[string]ring{}}, &ring{All: make([]ring, 1)}
	p.Next = p
	m.Names["a"] = *m
	l.All[0] = *l
	for _, x := range []*ring{p, m, l} {
		if b, _, ok := fastjson.Marshal(x); ok {
			t.Errorf("wrote %s", b)
		}
	}
	o := map[string]any{}
	o["self"] = []any{o}
	if b, ok := fastjson.MarshalObject(o); ok {
		t.Errorf("wrote %s", b)
	}
	if b, _, ok := fastjson.Marshal(&ring{Next: &ring{}}); !ok || string(b) != `{"Next":{"Next":null,"Names":null,"All":null},"Names":null,"All":null}` {
		t.Errorf("wrote %s, %v after those", b, ok)
	}
}

// TestEveryByteEverywhere puts each byte at each place of a string.
func TestEveryByteEverywhere(t *testing.T) {
	for c := range 256 {
		for at := range 20 {
			name := []byte("abcdefghijklmnopqrstuvwxyz"[:20])
			name[at] = byte(c)
			b := []byte(`{"metadata":{"name":"` + string(name) + `","namespace":"n"}}`)
			var got, want corev1.Pod
			ok := fastjson.Unmarshal(b, &got)
			err := json.UnmarshalCaseSensitivePreserveInts(b, &want)
			switch {
			case ok && (err != nil || !reflect.DeepEqual(got, want)):
				t.Errorf("byte %#x at %d: read %q, want %q %v", c, at, got.Name, want.Name, err)
			case !ok && c >= ' ' && c < 0x80 && err == nil:
				t.Errorf("byte %#x at %d: gave up", c, at)
			}
		}
	}
}

func FuzzSame(f *testing.F) {
	f.Add([]byte(`{"metadata":{"name":"a","labels":{"x":"y"}},"spec":{"containers":[{"name":"c","ports":[{"containerPort":80}]}]}}`))
	f.Fuzz(func(t *testing.T, b []byte) {
		compareStrictly(t, string(b), reflect.TypeFor[corev1.Pod]())
		var got, want corev1.Pod
		if !fastjson.Unmarshal(b, &got) {
			return
		}
		if json.UnmarshalCaseSensitivePreserveInts(b, &want) == nil && !equality.Semantic.DeepEqual(got, want) {
			t.Errorf("read %+v\nwant %+v", got, want)
		}
	})
}
