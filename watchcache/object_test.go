package watchcache_test

import (
	"bytes"
	"encoding/json"
	"reflect"
	"testing"
	"unicode/utf8"

	"fairlead.dev/storage"
	"fairlead.dev/watchcache"
)

func object(t testing.TB, w *world, value string) (*watchcache.Object, error) {
	t.Helper()
	kv := &storage.KeyValue{Key: "/registry/pods/a/x", Value: []byte(value), ModRevision: 42}
	before := bytes.Clone(kv.Value)
	o, err := watchcache.NewObject(kv, w.pods)
	if !bytes.Equal(kv.Value, before) {
		t.Fatal("the stored bytes were changed")
	}
	return o, err
}

func TestResourceVersionIsSpliced(t *testing.T) {
	w := newWorld(t, watchcache.HubOptions{})
	for _, c := range []struct{ stored, want string }{
		{`{"kind":"Pod","metadata":{"name":"x"}}`, `{"kind":"Pod","metadata":{"resourceVersion":"42","name":"x"}}`},
		{`{"metadata":{}}`, `{"metadata":{"resourceVersion":"42"}}`},
		{`{ "metadata" : { } , "a":1}`, `{ "metadata" : {"resourceVersion":"42" } , "a":1}`},
		{`{"metadata":null,"a":1}`, `{"metadata":{"resourceVersion":"42"},"a":1}`},
		{`{"a":1}`, `{"metadata":{"resourceVersion":"42"},"a":1}`},
		{`{}`, `{"metadata":{"resourceVersion":"42"}}`},
		{` { } `, ` {"metadata":{"resourceVersion":"42"} } `},
		{`{"spec":{"metadata":{"a":1}},"s":"\"metadata\":{","metadata":{"b":2}}`,
			`{"spec":{"metadata":{"a":1}},"s":"\"metadata\":{","metadata":{"resourceVersion":"42","b":2}}`},
		{`{"m\u0065tadata":{"b":2}}`, `{"m\u0065tadata":{"resourceVersion":"42","b":2}}`},
		// A resource version in the stored value is replaced by the object's own.
		{`{"metadata":{"resourceVersion":"7"}}`, `{"metadata":{"resourceVersion":"42"}}`},
		{`{"metadata":{"name":"x","resourceVersion":"7"}}`, `{"metadata":{"resourceVersion":"42","name":"x"}}`},
		{`{"metadata":{"resourceVersion":"7" , "name":"x"},"b":1}`, `{"metadata":{"resourceVersion":"42","name":"x"},"b":1}`},
		{`{"metadata":{"a":1,"resourc\u0065Version":"7","c":{"resourceVersion":"8"}}}`,
			`{"metadata":{"resourceVersion":"42","a":1,"c":{"resourceVersion":"8"}}}`},
		{`{"metadata":{"name":"x"},"involvedObject":{"resourceVersion":"9"}}`,
			`{"metadata":{"resourceVersion":"42","name":"x"},"involvedObject":{"resourceVersion":"9"}}`},
	} {
		o, err := object(t, w, c.stored)
		if err != nil {
			t.Errorf("%s: %v", c.stored, err)
			continue
		}
		if got := string(o.AppendJSON([]byte("before "))); got != "before "+c.want {
			t.Errorf("%s:\n got %s\nwant %s", c.stored, got[7:], c.want)
		}
	}
	for _, stored := range []string{``, `[]`, `"x"`, `null`, `{"metadata":[]}`, `{"metadata":"x"}`, `{"a":`, `{"a" 1}`, "k8s\x00"} {
		if _, err := object(t, w, stored); err == nil {
			t.Errorf("%q was read", stored)
		}
	}
}

func TestFactsAreRead(t *testing.T) {
	w := newWorld(t, watchcache.HubOptions{})
	o, err := object(t, w, `{"status":{"x":[{"phase":"no"}],"phase":"Run\u006eing"},"spec":{"a":{"nodeName":"no"},"nodeName":"n1"},
		"metadata":{"uid":"u","annotations":{"labels":"{\"a\":\"b\"}"},"labels":{"a":"1","b\"":"\"2\"","c":""}}}`)
	if err != nil {
		t.Fatal(err)
	}
	if o.UID() != "u" || o.Namespace() != "a" || o.Name() != "x" || o.Key() != "/registry/pods/a/x" {
		t.Errorf("identity: %s %s/%s", o.UID(), o.Namespace(), o.Name())
	}
	for field, want := range map[string]string{
		"spec.nodeName": "n1", "status.phase": "Running", "metadata.name": "x", "metadata.namespace": "a", "no.such": "",
	} {
		if got := o.Fields().Get(field); got != want || o.Fields().Has(field) != (field != "no.such") {
			t.Errorf("%s = %q, want %q", field, got, want)
		}
	}
	for key, want := range map[string]string{"a": "1", `b"`: `"2"`, "c": "", "d": ""} {
		got, ok := o.Labels().Lookup(key)
		if got != want || ok != (key != "d") || o.Labels().Has(key) != ok || o.Labels().Get(key) != got {
			t.Errorf("label %s = %q, %t, want %q", key, got, ok, want)
		}
	}
	if o, _ := object(t, w, `{"spec":{"nodeName":null},"status":{"phase":{}}}`); o.Fields().Get("spec.nodeName") != "" || o.Fields().Get("status.phase") != "Pending" {
		t.Error("what is no text is not the zero value")
	}
}

func TestFieldPathsAreTriedInOrder(t *testing.T) {
	hub, err := watchcache.NewHub(newMemStore(), watchcache.HubOptions{})
	if err != nil {
		t.Fatal(err)
	}
	c := hub.Add(watchcache.Options{Prefix: "/registry/x/", Fields: []watchcache.Field{
		{Label: "f", Paths: [][]string{{"a", "first"}, {"second"}}, Zero: "none"}, {Label: "never"},
	}})
	for value, want := range map[string]string{
		`{"second":2,"a":{"first":true}}`:  "true",
		`{"a":{"first":1},"second":"2"}`:   "1",
		`{"a":{"first":null},"second":-2}`: "-2",
		`{"a":"first"}`:                    "none",
	} {
		o, err := watchcache.NewObject(&storage.KeyValue{Key: "/registry/x/y", Value: []byte(value)}, c)
		if err != nil {
			t.Fatal(err)
		}
		if got := o.Fields().Get("f"); got != want || o.Fields().Get("never") != "" || o.Name() != "y" || o.Namespace() != "" {
			t.Errorf("%s: %q, want %q", value, got, want)
		}
	}
}

// FuzzObject compares the scanner's attributes with those that encoding/json decodes.
func FuzzObject(f *testing.F) {
	for _, seed := range []string{
		`{"kind":"Pod","metadata":{"name":"x","uid":"u","labels":{"a":"b"}},"spec":{"nodeName":"n"},"status":{"phase":"p"}}`,
		`{"metadata":{"resourceVersion":"1","uid":1},"spec":{"nodeName":true}}`,
		`{"metadata":null,"spec":null}`, `{}`, `{"a":[{"metadata":{}}]}`, `{"metadata":{"labels":{"\u0061":"\ud800"}}}`,
		`{"metadata":{"resourceVersion":`, `{"metadata":{"a":"\\","resourceVersion":{},"b":[]}}`, `{"metadata":{"labels":{"a":1}},"spec":{"nodeName":1e3}}`,
	} {
		f.Add(seed)
	}
	w := newWorld(f, watchcache.HubOptions{})
	f.Fuzz(func(t *testing.T, value string) {
		o, err := object(t, w, value)
		var shown []byte
		if err == nil {
			shown = o.AppendJSON(nil)
			o.Labels().Has("a")
			o.Fields().Get("spec.nodeName")
		}
		var want map[string]any
		if !utf8.ValidString(value) || repeatsKeys(value) || decode(value, &want) != nil || want == nil {
			return
		}
		meta, isObject := want["metadata"].(map[string]any)
		if err != nil {
			if want["metadata"] == nil || isObject {
				t.Fatalf("not read: %v", err)
			}
			return
		}
		if meta == nil {
			meta = map[string]any{}
			want["metadata"] = meta
		}
		meta["resourceVersion"] = "42"
		var got map[string]any
		if err := decode(string(shown), &got); err != nil || !reflect.DeepEqual(got, want) || repeatsKeys(string(shown)) {
			t.Fatalf("shown as %s: %v", shown, err)
		}
		uid, _ := text(meta["uid"])
		if string(o.UID()) != uid {
			t.Errorf("uid %q, want %q", o.UID(), uid)
		}
		set, _ := meta["labels"].(map[string]any)
		for key, v := range set {
			value, isString := v.(string)
			if got, ok := o.Labels().Lookup(key); got != value || ok != isString {
				t.Errorf("label %q = %q, %t, want %q", key, got, ok, value)
			}
		}
		for _, field := range podOptions.Fields {
			value := field.Zero
			if outer, ok := want[field.Paths[0][0]].(map[string]any); ok {
				if s, ok := text(outer[field.Paths[0][1]]); ok {
					value = s
				}
			}
			if got := o.Fields().Get(field.Label); got != value {
				t.Errorf("%s = %q, want %q", field.Label, got, value)
			}
		}
	})
}

func decode(s string, into any) error {
	d := json.NewDecoder(bytes.NewReader([]byte(s)))
	d.UseNumber()
	if err := d.Decode(into); err != nil {
		return err
	}
	if !json.Valid([]byte(s)) {
		return json.Unmarshal([]byte(s), into)
	}
	return nil
}

func text(v any) (string, bool) {
	switch v := v.(type) {
	case string:
		return v, true
	case json.Number:
		return v.String(), true
	case bool:
		if v {
			return "true", true
		}
		return "false", true
	}
	return "", false
}

// repeatsKeys reports whether any object has a key twice.
func repeatsKeys(s string) bool {
	d := json.NewDecoder(bytes.NewReader([]byte(s)))
	d.UseNumber()
	var keys []map[string]bool
	var isKey []bool
	for {
		tok, err := d.Token()
		if err != nil {
			return false
		}
		top := len(keys) - 1
		switch tok := tok.(type) {
		case json.Delim:
			if tok == '{' || tok == '[' {
				if top >= 0 {
					isKey[top] = true
				}
				var m map[string]bool
				if tok == '{' {
					m = map[string]bool{}
				}
				keys, isKey = append(keys, m), append(isKey, true)
				continue
			}
			keys, isKey = keys[:top], isKey[:top]
			continue
		case string:
			if top >= 0 && keys[top] != nil && isKey[top] {
				if keys[top][tok] {
					return true
				}
				keys[top][tok] = true
				isKey[top] = false
				continue
			}
		}
		if top >= 0 {
			isKey[top] = true
		}
	}
}
