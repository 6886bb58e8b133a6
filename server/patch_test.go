package server_test

import (
	"fmt"
	"sync"
	"testing"
)

// TestPatchedMembers checks that a patch changes or removes the members that it names, wherever they
// are, and no others.
func TestPatchedMembers(t *testing.T) {
	c := start(t)
	const maps = "/api/v1/namespaces/default/configmaps"
	json, merge, strategic := " application/json-patch+json", " application/merge-patch+json", " application/strategic-merge-patch+json"
	c.must("POST "+maps, `{"metadata":{"name":"a","labels":{"l":"1"}},"data":{"x":"1","y":"2"},"binaryData":{"b":"AAEC"}}`)
	for _, step := range []struct {
		patch, body string
		want        map[string]string // an absent member is ""
	}{
		{merge, `{"metadata":{"labels":{"l":"2"}}}`, map[string]string{"metadata.labels.l": "2", "data.x": "1", "data.y": "2", "binaryData.b": "AAEC"}},
		{merge, `{"data":{"x":null,"z":"3"}}`, map[string]string{"metadata.labels.l": "2", "data.x": "", "data.y": "2", "data.z": "3"}},
		{strategic, `{"data":{"y":null},"metadata":{"labels":null}}`, map[string]string{"metadata.labels.l": "", "data.y": "", "data.z": "3", "binaryData.b": "AAEC"}},
		{json, `[{"op":"remove","path":"/binaryData"},{"op":"add","path":"/data/q","value":"4"}]`, map[string]string{"binaryData.b": "", "data.q": "4", "data.z": "3"}},
		{merge, `{"data":null}`, map[string]string{"data.q": "", "data.z": "", "metadata.name": "a"}},
		{merge, `{"data":{"n":"5"}}`, map[string]string{"data.n": "5", "data.z": ""}},
	} {
		answer := c.must("PATCH "+maps+"/a"+step.patch, step.body)
		stored := c.must("GET "+maps+"/a", "")
		for path, want := range step.want {
			for _, a := range []struct{ of, got string }{{"the answer", answer.text(path)}, {"the store", stored.text(path)}} {
				if a.got != want {
					t.Errorf("after %s: %s of %s is %q, want %q", step.body, path, a.of, a.got, want)
				}
			}
		}
	}
}

// TestRacingPatches checks that each of many concurrent patches of one object is applied.
func TestRacingPatches(t *testing.T) {
	c := start(t)
	c.must("POST "+maps, mapA)
	var wg sync.WaitGroup
	for i := range 20 {
		wg.Go(func() {
			a := c.do("PATCH "+maps+"/a application/merge-patch+json", fmt.Sprintf(`{"data":{"k%d":"v"}}`, i))
			if a.code != 200 {
				t.Errorf("%d %s", a.code, a.body)
			}
		})
	}
	wg.Wait()
	data, _ := c.must("GET "+maps+"/a", "").at("data").(map[string]any)
	if len(data) != 21 {
		t.Errorf("%d keys: %v", len(data), data)
	}
}

func TestPatch(t *testing.T) {
	c := start(t)
	rev := c.must("POST "+pods, smallPod).text("metadata.resourceVersion")
	json, merge, strategic := " application/json-patch+json", " application/merge-patch+json", " application/strategic-merge-patch+json"
	p := "PATCH " + pods + "/p"
	c.talk([]exchange{
		{send: p + merge, body: `{"metadata":{"labels":{"a":"b"}}}`, code: 200, want: []string{`"labels":{"a":"b"}`}},
		{send: p + json, body: `[{"op":"test","path":"/metadata/labels/a","value":"b"},{"op":"replace","path":"/metadata/labels/a","value":"c"}]`, code: 200, want: []string{`"labels":{"a":"c"}`}},
		{send: p + json, body: `[{"op":"test","path":"/metadata/labels/a","value":"b"}]`, code: 422, want: []string{`the server rejected our request due to an error in our request`}},
		{send: p + json, body: `{}`, code: 400, want: []string{`error decoding patch`}},
		{send: p + strategic, body: `{"spec":{"containers":[{"name":"c","image":"j"}]}}`, code: 200, want: []string{`"image":"j"`, `"terminationMessagePath"`}},
		{send: p + strategic, body: `{"spec":{"containers":[{"name":"other","image":"j"}]}}`, code: 422, want: []string{`spec.containers: Forbidden: pod updates may not add or remove containers`}},
		{send: p + merge, body: `{"metadata":{"resourceVersion":"` + rev + `"}}`, code: 409, want: []string{`the object has been modified`}},
		{send: p + merge, body: `{"metadata":{"uid":"other"}}`, code: 422, want: []string{`metadata.uid: Invalid value: \"other\": field is immutable`}},
		{send: p + merge, body: `{"metadata":{"name":"q"}}`, code: 400, want: []string{`the name of the object (q) does not match the name on the URL (p)`}},
		{send: p + merge, body: `{`, code: 400},
		{send: p + "?fieldValidation=Strict" + merge, body: `{"spec":{"odd":1}}`, code: 422, want: []string{`strict decoding error: unknown field \"spec.odd\"`}},
		{send: p + "?dryRun=All" + merge, body: `{"metadata":{"labels":{"a":"dry"}}}`, code: 200, want: []string{`"a":"dry"`}},
		{send: "GET " + pods + "/p", code: 200, want: []string{`"a":"c"`}},
		{send: "PATCH " + pods + "/q" + merge, body: `{}`, code: 404},
		{send: p + " application/json", body: `{}`, code: 415, want: []string{`"message":"415: Unsupported Media Type","reason":"UnsupportedMediaType","details":{},"code":415`}},
		{send: p + " application/apply-patch+yaml", body: `{}`, code: 422, want: []string{`fieldManager: Required value: is required for apply patch`}},
		{send: p + " application/apply-patch+cbor", body: `{}`, code: 415},
		{send: p + "?force=true" + merge, body: `{}`, code: 422, want: []string{`force: Forbidden: may not be specified for non-apply patch`}},
	})
	a := c.must(p+merge, `{"spec":{"odd":1}}`)
	if w := a.header.Values("Warning"); len(w) != 1 || w[0] != `299 - "unknown field \"spec.odd\""` {
		t.Errorf("warnings: %q", w)
	}
}
