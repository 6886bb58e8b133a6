package server_test

import (
	"strings"
	"testing"
)

// TestGatedFields checks that fields of feature gates that are off are absent from what is stored, which is no
// error even under strict field validation.
func TestGatedFields(t *testing.T) {
	c := start(t)
	for _, x := range []struct{ path, body, gone string }{
		{"/api/v1/nodes", `{"apiVersion":"v1","kind":"Node","metadata":{"name":"n"},"spec":{"podPreemptionPolicy":{"disableResizePreemption":["a/b"]}}}`, "podPreemptionPolicy"},
		{"/api/v1/namespaces/default/pods", `{"apiVersion":"v1","kind":"Pod","metadata":{"name":"p"},"spec":{
			"containers":[{"name":"c","image":"i","volumeMounts":[{"name":"v","mountPath":"/v","bindMountOptions":["noexec"]}],
				"livenessProbe":{"httpGet":{"port":80,"protocol":"HTTP2"}}}],
			"volumes":[{"name":"v","emptyDir":{"mode":448}},{"name":"s","secret":{"secretName":"s","defaultUser":1,"items":[{"key":"a","path":"a","user":1}]}}],
			"evictionResponders":[{"name":"a.example.com/a"}],"schedulingGroup":{"podGroupName":"g"}}}`,
			`bindMountOptions "protocol":"HTTP2" "mode" defaultUser "user" evictionResponders schedulingGroup`},
		{"/apis/batch/v1/namespaces/default/jobs", `{"apiVersion":"batch/v1","kind":"Job","metadata":{"name":"j"},"spec":{"scheduling":{},
			"template":{"spec":{"restartPolicy":"Never","containers":[{"name":"c","image":"i"}]}}}}`, `"scheduling"`},
		{"/apis/resource.k8s.io/v1/resourceslices", `{"apiVersion":"resource.k8s.io/v1","kind":"ResourceSlice","metadata":{"name":"s"},"spec":{
			"driver":"d.example.com","pool":{"name":"p","generation":1,"resourceSliceCount":1},"allNodes":true,"skipNodeOperations":["PrepareResources"],
			"devices":[{"name":"d"}]}}`, "skipNodeOperations"},
	} {
		a := c.do("POST "+x.path+"?fieldValidation=Strict", x.body)
		if a.code != 201 {
			t.Errorf("POST %s: %d %s", x.path, a.code, a.body)
			continue
		}
		spec, _, _ := strings.Cut(a.body[strings.Index(a.body, `"spec":`):], `"status"`)
		for field := range strings.FieldsSeq(x.gone) {
			if strings.Contains(spec, field) {
				t.Errorf("POST %s: %s is kept: %s", x.path, field, spec)
			}
		}
	}
}
