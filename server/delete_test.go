package server_test

import (
	"fmt"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
)

// TestProtobufOptions sends delete options in the group's version, as clients do.
func TestProtobufOptions(t *testing.T) {
	c := start(t)
	cfg := c.config()
	cfg.ContentType = "application/vnd.kubernetes.protobuf"
	k := kubernetes.NewForConfigOrDie(cfg)
	d := `{"metadata":{"name":"d"},"spec":{"selector":{"matchLabels":{"a":"b"}},"template":{"metadata":{"labels":{"a":"b"}},"spec":{"containers":[{"name":"c","image":"i"}]}}}}`
	c.must("POST /apis/apps/v1/namespaces/default/deployments", d)
	policy := metav1.DeletePropagationForeground
	if err := k.AppsV1().Deployments("default").Delete(t.Context(), "d", metav1.DeleteOptions{PropagationPolicy: &policy}); err != nil {
		t.Fatal(err)
	}
	got, err := k.AppsV1().Deployments("default").Get(t.Context(), "d", metav1.GetOptions{})
	if err != nil || len(got.Finalizers) != 1 || got.Generation != 2 {
		t.Errorf("%v %v", got, err)
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
