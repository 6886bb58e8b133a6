package server_test

import (
	"fmt"
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

func TestForbiddenAndUnauthorized(t *testing.T) {
	c := start(t, func(cfg *server.Config) {
		cfg.Authenticator = auth.AuthenticatorFunc(func(r *httpRequest) (*auth.User, bool, error) {
			name := r.Header.Get("User")
			return &auth.User{Name: name}, name != "", nil
		})
		cfg.Authorizer = auth.AuthorizerFunc(func(_ ctx, a auth.Attributes) (auth.Decision, string, error) {
			return auth.AllowIf(a.User.Name == "root" || a.Path == "/version"), "no rule", nil
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
