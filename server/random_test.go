package server_test

import (
	"encoding/json"
	"math/rand"
	"reflect"
	"testing"

	jsonpatch "gopkg.in/evanphx/json-patch.v4"
	"k8s.io/apimachinery/pkg/api/apitesting/fuzzer"
	"k8s.io/apimachinery/pkg/api/equality"
	metafuzzer "k8s.io/apimachinery/pkg/apis/meta/fuzzer"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/conversion"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/apimachinery/pkg/runtime/serializer/protobuf"
	"k8s.io/apimachinery/pkg/util/strategicpatch"
	"k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/randfill"

	"fairlead.dev/resource"
	"fairlead.dev/resource/builtin"
	"fairlead.dev/server"
)

// medias are the encodings that every built-in kind has.
var medias = []string{"application/json", "application/vnd.kubernetes.protobuf"}

var protobufs = protobuf.NewSerializer(scheme.Scheme, scheme.Scheme)

func encoded(t *testing.T, media string, obj runtime.Object) string {
	t.Helper()
	if media == "application/json" {
		data, err := json.Marshal(obj)
		if err != nil {
			t.Fatal(err)
		}
		return string(data)
	}
	data, err := runtime.Encode(protobufs, obj)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// decoded is the object in an answer, without what the server keeps in its metadata.
func decoded(t *testing.T, media, body string, into resource.Object) resource.Object {
	t.Helper()
	var err error
	if media == "application/json" {
		err = json.Unmarshal([]byte(body), into)
	} else {
		_, _, err = protobufs.Decode([]byte(body), nil, into)
	}
	if err != nil {
		t.Fatalf("%s: %v: %.300q", media, err, body)
	}
	into.SetUID("")
	into.SetResourceVersion("")
	into.SetGeneration(0)
	into.SetCreationTimestamp(metav1.Time{})
	into.SetManagedFields(nil)
	return into
}

// semantics are upstream's, where JSON within an object has no order of its own.
var semantics = func() conversion.Equalities {
	e := equality.Semantic.Copy()
	if err := e.AddFunc(func(a, b runtime.RawExtension) bool {
		var x, y any
		return string(a.Raw) == string(b.Raw) || json.Unmarshal(a.Raw, &x) == nil && json.Unmarshal(b.Raw, &y) == nil && reflect.DeepEqual(x, y)
	}); err != nil {
		panic(err)
	}
	return e
}()

// same fails if the objects differ in more than in how nothing is written: protobuf
// has no empty lists.
func same(t *testing.T, what string, got, want resource.Object) {
	t.Helper()
	got.GetObjectKind().SetGroupVersionKind(schema.GroupVersionKind{})
	want.GetObjectKind().SetGroupVersionKind(schema.GroupVersionKind{})
	if !semantics.DeepEqual(got, want) {
		t.Fatalf("%s\nis   %s\nwant %s", what, encoded(t, "application/json", got), encoded(t, "application/json", want))
	}
}

// fresh is an empty object of the same kind.
func fresh(obj resource.Object) resource.Object {
	return reflect.New(reflect.TypeOf(obj).Elem()).Interface().(resource.Object)
}

// lenient are the built-in kinds without their rules: so any object
// at all of a kind can be written.
func lenient(cfg *server.Config) {
	var all []*resource.Resource
	for _, r := range builtin.Resources() {
		r := *r
		r.Name = nil
		r.Strategy = resource.Strategy{AllowCreateOnUpdate: r.Strategy.AllowCreateOnUpdate}
		all = append(all, &r)
	}
	cfg.Resources = all
}

// eachKind calls f for the stored version of every built-in kind that can be created,
// with a maker of random objects of it that all have one name.
func eachKind(t *testing.T, f func(t *testing.T, c *cluster, path string, random func() resource.Object)) {
	c, n := start(t, lenient), 0
	for _, r := range builtin.Resources() {
		v := r.Version(r.StorageVersion)
		if r.Virtual || v == nil || v.ToStorage != nil || r.Closed != "" || !r.Has("create") || !r.Has("update") || !r.Has("patch") {
			continue
		}
		gvk := r.GVK(v.Name)
		if !scheme.Scheme.Recognizes(gvk) {
			continue // CustomResourceDefinitions, which client-go does not know
		}
		n++
		t.Run(gvk.Kind, func(t *testing.T) {
			filler := fill(int64(n))
			f(t, c, collection(r, gvk), func() resource.Object {
				obj := v.New().(resource.Object)
				filler.Fill(obj)
				labels, notes := obj.GetLabels(), obj.GetAnnotations()
				meta := reflect.ValueOf(obj).Elem().FieldByName("ObjectMeta")
				meta.Set(reflect.ValueOf(metav1.ObjectMeta{Name: "x", Labels: tame(labels), Annotations: tame(notes)}))
				if r.Namespaced {
					obj.SetNamespace("default")
				}
				obj.GetObjectKind().SetGroupVersionKind(gvk)
				return obj
			})
		})
	}
	if n < 40 {
		t.Errorf("only %d kinds", n)
	}
}

// tame makes the labels valid ones.
func tame(m map[string]string) map[string]string {
	if len(m) == 0 {
		return nil
	}
	return map[string]string{"k": "v" + string(rune('a'+len(m)%26))}
}

func fill(seed int64) *randfill.Filler {
	return fuzzer.FuzzerFor(metafuzzer.Funcs, rand.NewSource(seed), serializer.NewCodecFactory(scheme.Scheme)).MaxDepth(12)
}

func collection(r *resource.Resource, gvk schema.GroupVersionKind) string {
	path := "/apis/" + gvk.Group + "/" + gvk.Version
	if gvk.Group == "" {
		path = "/api/" + gvk.Version
	}
	if r.Namespaced {
		path += "/namespaces/default"
	}
	return path + "/" + r.Plural
}

// TestRandomObjectsKeepTheirMeaning: what is written in one encoding is what is read
// in any other, for every kind.
func TestRandomObjectsKeepTheirMeaning(t *testing.T) {
	eachKind(t, func(t *testing.T, c *cluster, path string, random func() resource.Object) {
		c.t = t
		for i := range 6 {
			obj, media := random(), medias[i%len(medias)]
			verb := "PUT " + path + "/x "
			if i == 0 {
				verb = "POST " + path + " "
			}
			c.must(verb+media, encoded(t, media, obj))
			for _, m := range medias {
				got := decoded(t, m, c.must("GET "+path+"/x", "", "Accept: "+m).body, fresh(obj))
				same(t, "written as "+media+", read as "+m, got, decoded(t, "application/json", encoded(t, "application/json", obj), fresh(obj)))
			}
		}
	})
}

// TestRandomPatches: a patch from one random object to another does to the stored one
// what the reference implementations do.
func TestRandomPatches(t *testing.T) {
	compared := map[string]int{}
	eachKind(t, func(t *testing.T, c *cluster, path string, random func() resource.Object) {
		c.t = t
		first := random()
		c.must("POST "+path, encoded(t, "application/json", first))
		for i := range 6 {
			a, b := encoded(t, "application/json", random()), encoded(t, "application/json", random())
			stored := c.must("GET "+path+"/x", "").body
			var change, want []byte
			var err, refused error
			media := "application/merge-patch+json"
			if i%2 == 0 {
				media = "application/strategic-merge-patch+json"
				if change, err = strategicpatch.CreateTwoWayMergePatch([]byte(a), []byte(b), fresh(first)); err == nil {
					want, refused = strategicpatch.StrategicMergePatch([]byte(stored), change, fresh(first))
				}
			} else if change, err = jsonpatch.CreateMergePatch([]byte(a), []byte(b)); err == nil {
				want, refused = jsonpatch.MergePatch([]byte(stored), change)
			}
			if err != nil {
				continue // no patch leads from the one to the other: keys of lists are the same
			}
			got := c.do("PATCH "+path+"/x "+media, string(change))
			if refused != nil {
				if got.code < 400 {
					t.Errorf("%s %s: %d, the reference refuses: %v", media, change, got.code, refused)
				}
				continue
			}
			if got.code != 200 {
				t.Fatalf("%s %s\nto %s: %d %s", media, change, stored, got.code, got.body)
			}
			compared[media]++
			same(t, media+" "+string(change)+"\nto "+stored, decoded(t, "application/json", got.body, fresh(first)), decoded(t, "application/json", string(want), fresh(first)))
		}
	})
	for _, m := range []string{"application/merge-patch+json", "application/strategic-merge-patch+json"} {
		if compared[m] < 100 {
			t.Errorf("only %d of %s", compared[m], m)
		}
	}
}
