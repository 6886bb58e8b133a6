package server_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand"
	"reflect"
	"strings"
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
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/apimachinery/pkg/util/strategicpatch"
	"k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/randfill"

	"fairlead.dev/internal/resource"
	"fairlead.dev/internal/resource/builtin"
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

// decoded is the object in a response, without the metadata that the server sets.
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

// semantics are upstream's, for which JSON within an object has no order of its own.
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

// same fails if the objects differ in more than empty lists, which protobuf does not have.
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

// lenient are the built-in kinds without their rules, so that any object of a kind can be
// written.
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

// eachKind calls f for the stored version of every built-in kind that can be created, with a
// function that makes random objects of it, all of one name.
func eachKind(t *testing.T, f func(t *testing.T, c *cluster, path string, random func() resource.Object)) {
	c, n := start(t, lenient), 0
	for _, r := range builtin.Resources() {
		v := r.Version(r.StorageVersion)
		if r.Virtual || v == nil || v.ToStorage != nil || r.Closed != "" || !r.Has("create") || !r.Has("update") || !r.Has("patch") {
			continue
		}
		gvk := r.GVK(v.Name)
		if !scheme.Scheme.Recognizes(gvk) {
			continue // CustomResourceDefinitions are unknown to client-go's scheme
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

// tame makes the labels valid.
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

// TestRandomObjectsKeepTheirMeaning checks for every kind that an object written in one encoding
// is read back in any other.
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

// operations is a JSON patch of random operations on one object, with values from another.
func operations(t *testing.T, r *rand.Rand, stored, other []byte) []byte {
	t.Helper()
	var now, next map[string]any
	for text, into := range map[*[]byte]*map[string]any{&stored: &now, &other: &next} {
		d := json.NewDecoder(bytes.NewReader(*text))
		d.UseNumber()
		if err := d.Decode(into); err != nil {
			t.Fatal(err)
		}
	}
	type op map[string]any
	label := func() string { return "/metadata/labels/" + []string{"a", "b~1c", "d"}[r.Intn(3)] }
	list := []op{{"op": "add", "path": "/metadata/labels", "value": map[string]string{"a": "1", "b/c": "2"}}}
	for range r.Intn(4) {
		switch r.Intn(6) {
		case 0:
			list = append(list, op{"op": "add", "path": label(), "value": fmt.Sprint(r.Intn(9))})
		case 1:
			list = append(list, op{"op": "copy", "from": "/metadata/labels/a", "path": label()})
		case 2:
			list = append(list, op{"op": "move", "from": "/metadata/labels/a", "path": label()})
		case 3:
			list = append(list, op{"op": "test", "path": "/metadata/labels/a", "value": "1"})
		case 4:
			list = append(list, op{"op": "replace", "path": label(), "value": "r"})
		case 5:
			list = append(list, op{"op": "remove", "path": label()})
		}
	}
	for _, part := range sets.List(sets.KeySet(now)) {
		was, ok := now[part].(map[string]any)
		is, there := next[part].(map[string]any)
		if part == "metadata" || !ok || !there {
			continue
		}
		for _, name := range sets.List(sets.KeySet(was)) {
			path := "/" + part + "/" + strings.NewReplacer("~", "~0", "/", "~1").Replace(name)
			v, has := is[name]
			switch r.Intn(3) {
			case 0:
				list = append(list, op{"op": "test", "path": path, "value": was[name]}, op{"op": "remove", "path": path})
			case 1:
				if has {
					list = append(list, op{"op": "replace", "path": path, "value": v})
				}
			}
		}
	}
	text, err := json.Marshal(list)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// TestRandomPatches checks that a patch from one random object to another has the result of the
// reference implementations.
func TestRandomPatches(t *testing.T) {
	compared, r := map[string]int{}, rand.New(rand.NewSource(7))
	forms := []string{string(types.StrategicMergePatchType), string(types.MergePatchType), string(types.JSONPatchType)}
	eachKind(t, func(t *testing.T, c *cluster, path string, random func() resource.Object) {
		c.t = t
		first := random()
		c.must("POST "+path, encoded(t, "application/json", first))
		for i := range 9 {
			a, b := encoded(t, "application/json", random()), encoded(t, "application/json", random())
			stored := c.must("GET "+path+"/x", "").body
			var change, want []byte
			var err, refused error
			media := forms[i%len(forms)]
			switch media {
			case string(types.JSONPatchType):
				change = operations(t, r, []byte(stored), []byte(b))
				var ops jsonpatch.Patch
				if ops, err = jsonpatch.DecodePatch(change); err == nil {
					want, refused = ops.Apply([]byte(stored))
				}
			case string(types.StrategicMergePatchType):
				if change, err = strategicpatch.CreateTwoWayMergePatch([]byte(a), []byte(b), fresh(first)); err == nil {
					want, refused = strategicpatch.StrategicMergePatch([]byte(stored), change, fresh(first))
				}
			default:
				if change, err = jsonpatch.CreateMergePatch([]byte(a), []byte(b)); err == nil {
					want, refused = jsonpatch.MergePatch([]byte(stored), change)
				}
			}
			if err != nil {
				continue // keys of lists are the same, so there is no patch between the two
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
	for _, m := range forms {
		if compared[m] < 100 {
			t.Errorf("only %d of %s", compared[m], m)
		}
	}
}
