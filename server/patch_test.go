package server_test

import "testing"

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
