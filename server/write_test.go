package server_test

import (
	"fmt"
	"strings"
	"testing"

	"fairlead.dev/internal/server/auth"
	"fairlead.dev/server"
)

func TestUpdate(t *testing.T) {
	c := start(t)
	a := c.must("POST "+maps, mapA)
	rev, uid := a.text("metadata.resourceVersion"), a.text("metadata.uid")
	with := func(meta, data string) string {
		return `{"kind":"ConfigMap","apiVersion":"v1","metadata":{"name":"a"` + meta + `},"data":{"k":"` + data + `"}}`
	}
	c.talk([]exchange{
		{send: "PUT " + maps + "/b", body: `{"metadata":{"name":"b"}}`, code: 404, want: []string{`configmaps \"b\" not found`}},
		{send: "PUT " + maps + "/b", body: with("", "w"), code: 400, want: []string{`the name of the object (a) does not match the name on the URL (b)`}},
		{send: "PUT " + maps + "/a", body: `{}`, code: 400, want: []string{`the name of the object (a based on URL) was undeterminable: name must be provided`}},
		{send: "PUT " + maps + "/a", body: with(`,"namespace":"other"`, "w"), code: 400},
		{send: "PUT " + maps + "/a", body: with(`,"resourceVersion":"1"`, "w"), code: 409, want: []string{`"message":"Operation cannot be fulfilled on configmaps \"a\": the object has been modified; please apply your changes to the latest version and try again","reason":"Conflict"`}},
		{send: "PUT " + maps + "/a", body: with(`,"uid":"other"`, "w"), code: 409, want: []string{`Precondition failed: UID in precondition: other, UID in object meta: ` + uid}},
		{send: "PUT " + maps + "/a?dryRun=All", body: with("", "dry"), code: 200, want: []string{`"k":"dry"`, `"resourceVersion":"` + rev + `"`}},
		{send: "GET " + maps + "/a", code: 200, want: []string{`"k":"v"`}},
		{send: "PUT " + maps + "/a", body: with(`,"labels":{"x":"y"}`, "v"), code: 200, want: []string{`"resourceVersion":"` + rev + `"`}}, // no change
		{send: "PUT " + maps + "/a", body: with(`,"resourceVersion":"`+rev+`"`, "w"), code: 200, want: []string{`"k":"w"`, `"uid":"` + uid, `!"resourceVersion":"` + rev + `"`, `!labels`}},
		{send: "PUT " + maps + "/a", body: with("", "u"), code: 200, want: []string{`"k":"u"`}},
	})
	lease := "/apis/coordination.k8s.io/v1/namespaces/default/leases"
	c.talk([]exchange{
		{send: "PUT " + lease + "/l", body: `{"metadata":{"name":"l"},"spec":{"holderIdentity":"me"}}`, code: 201},
		{send: "PUT " + lease + "/l", body: `{"metadata":{"name":"l"},"spec":{"holderIdentity":"you"}}`, code: 422, want: []string{`metadata.resourceVersion: Invalid value: 0: must be specified for an update`}},
	})
}

func TestStatusAndSpecStayApart(t *testing.T) {
	c := start(t)
	deployments := "/apis/apps/v1/namespaces/default/deployments"
	d := `{"metadata":{"name":"d"},"spec":{"replicas":%d,"selector":{"matchLabels":{"a":"b"}},"template":{"metadata":{"labels":{"a":"b"}},"spec":{"containers":[{"name":"c","image":"i"}]}}},"status":{"replicas":%d}}`
	c.talk([]exchange{
		{send: "POST " + deployments, body: fmt.Sprintf(d, 1, 9), code: 201, want: []string{`"generation":1`, `"status":{}`, `"strategy":{"type":"RollingUpdate"`}},
		{send: "PUT " + deployments + "/d/status", body: fmt.Sprintf(d, 5, 1), code: 200, want: []string{`"generation":1`, `"status":{"replicas":1}`, `"spec":{"replicas":1`}},
		{send: "PUT " + deployments + "/d", body: fmt.Sprintf(d, 2, 7), code: 200, want: []string{`"generation":2`, `"status":{"replicas":1}`, `"spec":{"replicas":2`}},
		{send: "PATCH " + deployments + "/d/status application/merge-patch+json", body: `{"spec":{"replicas":8},"status":{"replicas":2}}`, code: 200, want: []string{`"generation":2`, `"status":{"replicas":2}`, `"spec":{"replicas":2`}},
		{send: "GET " + deployments + "/d/status", code: 200, want: []string{`"kind":"Deployment"`}},
		{send: "GET " + deployments + "/d/scale", code: 200, want: []string{`"kind":"Scale","apiVersion":"autoscaling/v1"`, `"spec":{"replicas":2},"status":{"replicas":2,"selector":"a=b"}`}},
		{send: "PUT " + deployments + "/d/scale", body: `{"kind":"Scale","apiVersion":"autoscaling/v1","metadata":{"name":"d"},"spec":{"replicas":4}}`, code: 200, want: []string{`"spec":{"replicas":4}`}},
		{send: "PUT " + deployments + "/d/scale", body: `{"metadata":{"name":"d","resourceVersion":"1"},"spec":{"replicas":4}}`, code: 409},
		{send: "PUT " + deployments + "/d/scale", body: `{"metadata":{"name":"d"},"spec":{"replicas":-4}}`, code: 422, want: []string{`spec.replicas: Invalid value: -4: must be greater than or equal to 0`}},
		{send: "PATCH " + deployments + "/d/scale application/merge-patch+json", body: `{"spec":{"replicas":6}}`, code: 200, want: []string{`"spec":{"replicas":6}`}},
		{send: "GET " + deployments + "/d", code: 200, want: []string{`"generation":4`, `"replicas":6`}},
		{send: "GET " + maps + "/d/scale", code: 404},
	})
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

func TestDelete(t *testing.T) {
	c := start(t)
	c.must("POST "+maps, mapA)
	c.talk([]exchange{
		{send: "DELETE " + maps + "/b", code: 404},
		{send: "DELETE " + maps + "/a", body: `{"preconditions":{"uid":"other"}}`, code: 409, want: []string{`the UID in the precondition (other) does not match the UID in record`}},
		{send: "DELETE " + maps + "/a", body: `{"preconditions":{"resourceVersion":"1"}}`, code: 409, want: []string{`the ResourceVersion in the precondition (1) does not match`}},
		{send: "DELETE " + maps + "/a", body: `{"propagationPolicy":"Odd"}`, code: 422, want: []string{`propagationPolicy: Unsupported value: \"Odd\"`}},
		{send: "DELETE " + maps + "/a", body: `{"propagationPolicy":"Orphan","orphanDependents":true}`, code: 422, want: []string{`orphanDependents and deletionPropagation cannot be both set`}},
		{send: "DELETE " + maps + "/a", body: `{"kind":"Pod","apiVersion":"v1"}`, code: 400},
		{send: "DELETE " + maps + "/a?dryRun=All", code: 200, want: []string{`"status":"Success"`}},
		{send: "GET " + maps + "/a", code: 200},
		{send: "DELETE " + maps + "/a?propagationPolicy=Foreground", code: 200, want: []string{`"kind":"ConfigMap"`, `"deletionTimestamp":"`, `"finalizers":["foregroundDeletion"]`, `"deletionGracePeriodSeconds":0`}},
		{send: "POST " + maps, body: mapA, code: 409, want: []string{`object is being deleted: configmaps \"a\" already exists`}},
		{send: "DELETE " + maps + "/a", code: 200, want: []string{`"deletionTimestamp":"`}},
		{send: "PATCH " + maps + "/a application/merge-patch+json", body: `{"metadata":{"finalizers":["example.com/x"]}}`, code: 422, want: []string{`metadata.finalizers: Forbidden: no new finalizers can be added if the object is being deleted`}},
		{send: "PATCH " + maps + "/a application/merge-patch+json", body: `{"metadata":{"finalizers":null}}`, code: 200},
		{send: "GET " + maps + "/a", code: 404},
		{send: "POST " + maps, body: mapA, code: 201},
		{send: "DELETE " + maps + "/a", body: `{"kind":"DeleteOptions","apiVersion":"v1","orphanDependents":true}`, code: 200, want: []string{`"finalizers":["orphan"]`}},
		{send: "PUT " + maps + "/a", body: `{"metadata":{"name":"a"}}`, code: 200},
		{send: "GET " + maps + "/a", code: 404},
	})
}

// TestOrphanByDefault checks that kinds older than the garbage collector orphan their
// dependents by default.
func TestOrphanByDefault(t *testing.T) {
	const template = `"template":{"metadata":{"labels":{"a":"b"}},"spec":{"restartPolicy":%q,"containers":[{"name":"c","image":"i"}]}}`
	rcs, jobs := "/api/v1/namespaces/default/replicationcontrollers", "/apis/batch/v1/namespaces/default/jobs"
	rc := `{"kind":"ReplicationController","apiVersion":"v1","metadata":{"name":"a"},"spec":{` + fmt.Sprintf(template, "Always") + `}}`
	job := `{"kind":"Job","apiVersion":"batch/v1","metadata":{"name":"a"},"spec":{` + fmt.Sprintf(template, "Never") + `}}`
	c := start(t)
	c.must("POST "+rcs, rc)
	c.must("POST "+jobs, job)
	c.talk([]exchange{
		{send: "DELETE " + rcs + "/a", code: 200, want: []string{`"finalizers":["orphan"]`}},
		{send: "DELETE " + rcs + "/a?propagationPolicy=Background", code: 200},
		{send: "GET " + rcs + "/a", code: 404},
		{send: "DELETE " + jobs + "/a?propagationPolicy=Background", code: 200},
		{send: "GET " + jobs + "/a", code: 404},
	})
	c.must("POST "+jobs, job)
	answer := c.do("DELETE "+jobs+"/a", "")
	if w := answer.header.Get("Warning"); !strings.Contains(w, "child pods are preserved by default") {
		t.Errorf("warning %q", w)
	}
}

func TestGracefulPods(t *testing.T) {
	c := start(t)
	c.must("POST "+pods, smallPod)
	bind := `{"kind":"Binding","apiVersion":"v1","metadata":{"name":"p"},"target":{"kind":"Node","name":"n1"}}`
	c.talk([]exchange{
		{send: "POST " + pods + "/p/binding", body: strings.Replace(bind, `"n1"`, `""`, 1), code: 500, want: []string{`target.name: Required value`}},
		{send: "POST " + pods + "/q/binding", body: bind, code: 400, want: []string{`name in URL does not match name in Binding object`}},
		{send: "POST " + pods + "/p/binding", body: bind, code: 201, want: []string{`"status":"Success"`}},
		{send: "GET " + pods + "/p", code: 200, want: []string{`"nodeName":"n1"`, `"type":"PodScheduled"`}},
		{send: "POST " + pods + "/p/binding", body: bind, code: 409, want: []string{`Operation cannot be fulfilled on pods/binding \"p\": pod p is already assigned to node \"n1\"`}},
		{send: "POST /api/v1/namespaces/default/bindings", body: bind, code: 409},
		{send: "POST " + pods + "/q/binding", body: strings.Replace(bind, `"p"`, `"q"`, 1), code: 404},
		{send: "DELETE " + pods + "/p", code: 200, want: []string{`"deletionGracePeriodSeconds":30`, `"kind":"Pod"`}},
		{send: "DELETE " + pods + "/p?gracePeriodSeconds=60", code: 200, want: []string{`"deletionGracePeriodSeconds":30`}},
		{send: "DELETE " + pods + "/p?gracePeriodSeconds=10", code: 200, want: []string{`"deletionGracePeriodSeconds":10`}},
		{send: "GET " + pods + "/p", code: 200, want: []string{`"deletionGracePeriodSeconds":10`}},
		{send: "DELETE " + pods + "/p?gracePeriodSeconds=0", code: 200, want: []string{`"kind":"Pod"`}},
		{send: "GET " + pods + "/p", code: 404},
		{send: "POST " + pods, body: smallPod, code: 201},
		{send: "DELETE " + pods + "/p", code: 200}, // it has no node
		{send: "GET " + pods + "/p", code: 404},
	})
}

func TestNamespacesGoInTwoSteps(t *testing.T) {
	c := start(t)
	ns := "/api/v1/namespaces"
	c.talk([]exchange{
		{send: "POST " + ns, body: `{"metadata":{"name":"n"}}`, code: 201, want: []string{`"spec":{"finalizers":["kubernetes"]}`, `"status":{"phase":"Active"}`}},
		{send: "DELETE " + ns + "/n", code: 200, want: []string{`"phase":"Terminating"`, `"deletionTimestamp":"`}},
		{send: "DELETE " + ns + "/n", code: 200, want: []string{`"kind":"Namespace"`}},
		{send: "PUT " + ns + "/n", body: `{"metadata":{"name":"n"}}`, code: 200, want: []string{`"finalizers":["kubernetes"]`}},
		{send: "PUT " + ns + "/n/finalize", body: `{"metadata":{"name":"n"},"spec":{}}`, code: 200, want: []string{`!kubernetes"]`}},
		{send: "GET " + ns + "/n", code: 404},
	})
}

func TestDeleteCollection(t *testing.T) {
	c := start(t)
	for i := range 4 {
		c.must("POST "+maps, fmt.Sprintf(`{"metadata":{"name":"m%d","labels":{"odd":"%d"}}}`, i, i%2))
	}
	c.talk([]exchange{
		{send: "DELETE " + maps + "?labelSelector=odd%3D1&dryRun=All", code: 200, want: []string{`"kind":"ConfigMapList"`, `"name":"m1"`, `"name":"m3"`, `!"name":"m2"`}},
		{send: "DELETE " + maps + "?labelSelector=odd%3D1", code: 200},
		{send: "GET " + maps, code: 200, want: []string{`"name":"m0"`, `"name":"m2"`, `!"name":"m1"`, `!"name":"m3"`}},
		{send: "DELETE " + maps, code: 200},
		{send: "GET " + maps, code: 200, want: []string{`"items":[]`}},
	})
}

func TestEvictionAsksTheBudget(t *testing.T) {
	c := start(t)
	c.must("POST "+pods, strings.Replace(smallPod, `"name":"p"`, `"name":"p","labels":{"a":"b"}`, 1))
	c.must("PATCH "+pods+"/p/status application/merge-patch+json", `{"status":{"phase":"Running","conditions":[{"type":"Ready","status":"True"}]}}`)
	pdbs := "/apis/policy/v1/namespaces/default/poddisruptionbudgets"
	c.must("POST "+pdbs, `{"metadata":{"name":"b"},"spec":{"minAvailable":1,"selector":{"matchLabels":{"a":"b"}}}}`)
	ev := `{"kind":"Eviction","apiVersion":"policy/v1","metadata":{"name":"p"}}`
	status := func(s string) exchange {
		return exchange{send: "PATCH " + pdbs + "/b/status application/merge-patch+json", body: `{"status":` + s + `}`, code: 200}
	}
	c.talk([]exchange{
		{send: "POST " + pods + "/p/eviction", body: ev, code: 429, want: []string{`Cannot evict pod as it would violate the pod's disruption budget.`, `still being processed`, `"retryAfterSeconds":10`}},
		status(`{"observedGeneration":1,"disruptionsAllowed":0,"currentHealthy":1,"desiredHealthy":1,"expectedPods":1}`),
		{send: "POST " + pods + "/p/eviction", body: ev, code: 429, want: []string{`The disruption budget b needs 1 healthy pods and has 1 currently`}},
		status(`{"disruptionsAllowed":1,"currentHealthy":2}`),
		{send: "POST " + pods + "/p/eviction?dryRun=All", body: ev, code: 201},
		{send: "GET " + pods + "/p", code: 200},
		{send: "POST " + pods + "/p/eviction", body: ev, code: 201, want: []string{`"status":"Success"`}},
		{send: "GET " + pods + "/p", code: 404},
		{send: "GET " + pdbs + "/b", code: 200, want: []string{`"disruptionsAllowed":0`, `"disruptedPods":{"p":"`}},
	})
}

func TestForbiddenAndUnauthorized(t *testing.T) {
	c := start(t, func(cfg *server.Config) {
		cfg.Authenticator = auth.AuthenticatorFunc(func(r *httpRequest) (*auth.User, bool, error) {
			name := r.Header.Get("User")
			return &auth.User{Name: name}, name != "", nil
		})
		cfg.Authorizer = auth.AuthorizerFunc(func(_ ctx, a auth.Attributes) (bool, string, error) {
			return a.User.Name == "root" || a.Path == "/version", "no rule", nil
		})
	})
	c.talk([]exchange{
		{send: "GET " + maps, code: 401, want: []string{`"message":"Unauthorized","reason":"Unauthorized","code":401`}},
		{send: "GET " + maps + "/a", headers: []string{"User: joe"}, code: 403, want: []string{`configmaps \"a\" is forbidden: User \"joe\" cannot get resource \"configmaps\" in API group \"\" in the namespace \"default\": no rule`, `"details":{"name":"a","kind":"configmaps"}`}},
		{send: "GET /api/v1/nodes", headers: []string{"User: joe"}, code: 403, want: []string{`nodes is forbidden: User \"joe\" cannot list resource \"nodes\" in API group \"\" at the cluster scope`}},
		{send: "PUT " + pods + "/p/status", body: "{}", headers: []string{"User: joe"}, code: 403, want: []string{`cannot update resource \"pods/status\"`}},
		{send: "GET /metrics", headers: []string{"User: joe"}, code: 403, want: []string{`forbidden: User \"joe\" cannot get path \"/metrics\"`}},
		{send: "GET /version", headers: []string{"User: joe"}, code: 200},
		{send: "GET " + maps, headers: []string{"User: root"}, code: 200},
	})
}
