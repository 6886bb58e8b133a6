package server_test

import (
	"crypto/x509"
	"encoding/pem"
	"strings"
	"testing"
)

func certPEM(c *x509.Certificate) []byte {
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: c.Raw})
}

// exchange is one request and the expected response: the code, and pieces of the body, of which
// those with a leading ! must be missing.
type exchange struct {
	send, body string
	headers    []string
	code       int
	want       []string
}

// talk sends the requests in order.
func (c *cluster) talk(list []exchange) {
	c.t.Helper()
	for _, x := range list {
		a := c.do(x.send, x.body, x.headers...)
		if a.code != x.code {
			c.t.Errorf("%s\n%s\n  got code %d, want %d\n  %s", x.send, x.body, a.code, x.code, a.body)
			continue
		}
		for _, w := range x.want {
			not := strings.HasPrefix(w, "!")
			if strings.Contains(a.body, strings.TrimPrefix(w, "!")) == not {
				c.t.Errorf("%s\n%s\n  misses %s\n  in %d %s", x.send, x.body, w, a.code, a.body)
			}
		}
	}
}

const (
	maps     = "/api/v1/namespaces/default/configmaps"
	pods     = "/api/v1/namespaces/default/pods"
	mapA     = `{"kind":"ConfigMap","apiVersion":"v1","metadata":{"name":"a","labels":{"x":"y"}},"data":{"k":"v"}}`
	smallPod = `{"kind":"Pod","apiVersion":"v1","metadata":{"name":"p"},"spec":{"containers":[{"name":"c","image":"i"}]}}`
	asTable  = "Accept: application/json;as=Table;v=v1;g=meta.k8s.io"
	proto    = "Accept: application/vnd.kubernetes.protobuf"
)

func TestCreate(t *testing.T) {
	c := start(t)
	c.talk([]exchange{
		{send: "POST " + maps, body: mapA, code: 201, want: []string{`{"kind":"ConfigMap","apiVersion":"v1","metadata":{"resourceVersion":"`, `"namespace":"default"`, `"uid":"`, `"creationTimestamp":"`}},
		{send: "POST " + maps, body: mapA, code: 409, want: []string{`"message":"configmaps \"a\" already exists","reason":"AlreadyExists","details":{"name":"a","kind":"configmaps"},"code":409`}},
		{send: "POST " + maps, body: `{"metadata":{"generateName":"g-"}}`, code: 201, want: []string{`"name":"g-`, `"generateName":"g-"`}},
		{send: "POST " + maps, body: `{"metadata":{"name":"b","namespace":"other"}}`, code: 400, want: []string{`the namespace of the provided object does not match the namespace sent on the request`}},
		{send: "POST " + maps, body: `{"kind":"Service","apiVersion":"v1","metadata":{"name":"b"}}`, code: 400, want: []string{`Service in version \"v1\" cannot be handled as a ConfigMap: converting (v1.Service) to (core.ConfigMap): unknown conversion`}},
		{send: "POST " + maps, body: `{"kind":"Nope","apiVersion":"v1"}`, code: 400, want: []string{`no kind \"Nope\" is registered for version \"v1\"`}},
		{send: "POST " + maps, body: `{`, code: 400, want: []string{`the object provided is unrecognized (must be of type ConfigMap): couldn't get version/kind; json parse error: unexpected end of JSON input ({)`}},
		{send: "POST " + maps, body: `{"metadata":{"name":"A b"}}`, code: 422, want: []string{`"reason":"Invalid"`, `"field":"metadata.name"`, `ConfigMap \"A b\" is invalid: metadata.name: Invalid value: \"A b\"`}},
		{send: "POST " + maps, body: `{"metadata":{}}`, code: 422, want: []string{`metadata.name: Required value: name or generateName is required`}},
		{send: "POST " + maps, body: `{"data":{"k":5}}`, code: 400, want: []string{`ConfigMap in version \"v1\" cannot be handled as a ConfigMap: json: cannot unmarshal number into Go struct field ConfigMap.data of type string`}},
		{send: "POST " + maps, body: `{"metadata":{"name":"rv","resourceVersion":"1"}}`, code: 500, want: []string{`resourceVersion should not be set on objects to be created`}},
		{send: "POST " + maps + " text/plain", body: mapA, code: 415, want: []string{`accepted media types include: application/json, application/yaml, application/vnd.kubernetes.protobuf`}},
		{send: "POST " + maps, body: mapA, headers: []string{"Accept: text/html"}, code: 406, want: []string{`406: Not Acceptable\n\nAvailable representations: application/json, application/yaml, application/vnd.kubernetes.protobuf`}},
		{send: "POST " + maps + " application/yaml", body: "metadata:\n  name: yam\ndata:\n  a: b\n", code: 201, want: []string{`"name":"yam"`}},
		{send: "POST /api/v1/configmaps", body: mapA, code: 405, want: []string{`"reason":"MethodNotAllowed"`}},
		{send: "POST " + maps + "?dryRun=All", body: `{"metadata":{"name":"dry"}}`, code: 201, want: []string{`"uid":"`, `!resourceVersion`}},
		{send: "POST " + maps + "?dryRun=All", body: mapA, code: 409},
		{send: "POST " + maps + "?dryRun=some", body: mapA, code: 422, want: []string{`dryRun: Unsupported value: [\"some\"]: supported values: \"All\"`}},
		{send: "GET " + maps + "/dry", code: 404},
		{send: "POST " + maps, body: strings.Repeat(" ", 3<<20) + mapA, code: 413, want: []string{`Request entity too large: limit is 3145728`, `"reason":"RequestEntityTooLarge"`}},
		{send: "POST /api/v1/namespaces/default/pods", body: `{"metadata":{"name":"fat"},"spec":{"containers":[{"name":"c","image":"i","args":["` + strings.Repeat("x", 1600<<10) + `"]}]}}`,
			code: 413, want: []string{`Request entity too large: request is too large: `, `"reason":"RequestEntityTooLarge"`}},
		{send: "GET /api/v1/namespaces/default/pods/fat", code: 404},
	})
}

func TestFieldValidation(t *testing.T) {
	c := start(t)
	bad := `{"metadata":{"name":"x"},"spec":1,"data":{"a":"1","a":"2"}}`
	c.talk([]exchange{{send: "POST " + maps + "?fieldValidation=Strict", body: bad, code: 400, want: []string{
		`ConfigMap in version \"v1\" cannot be handled as a ConfigMap: strict decoding error: `, `unknown field \"spec\"`, `duplicate field \"data.a\"`}},
		{send: "POST " + maps + "?fieldValidation=Odd", body: bad, code: 422, want: []string{`fieldValidation: Unsupported value`}},
	})
	a := c.must("POST "+maps, bad)
	if w := a.header.Values("Warning"); len(w) != 2 || w[0] != `299 - "unknown field \"spec\""` && w[1] != `299 - "unknown field \"spec\""` {
		t.Errorf("warnings: %q", w)
	}
	a = c.must("POST "+maps+"?fieldValidation=Ignore", strings.Replace(bad, `"x"`, `"z"`, 1))
	if w := a.header.Values("Warning"); len(w) != 0 {
		t.Errorf("warnings: %q", w)
	}
	a = c.must("POST "+maps+" application/yaml", "metadata:\n  name: v\ndata:\n  a: b\n  a: c\n")
	if w := a.header.Values("Warning"); len(w) != 1 || !strings.Contains(w[0], `line 5: key \"a\" already set in map`) {
		t.Errorf("warnings: %q", w)
	}
}

func TestGet(t *testing.T) {
	c := start(t)
	rev := c.must("POST "+maps, mapA).text("metadata.resourceVersion")
	c.talk([]exchange{
		{send: "GET " + maps + "/a", code: 200, want: []string{`"data":{"k":"v"}}` + "\n"}},
		{send: "GET " + maps + "/b", code: 404, want: []string{`configmaps \"b\" not found`}},
		{send: "GET /apis/apps/v1/namespaces/default/deployments/b", code: 404, want: []string{`deployments.apps \"b\" not found`, `"details":{"name":"b","group":"apps","kind":"deployments"}`}},
		{send: "GET " + maps + "/a?resourceVersion=0", code: 200},
		{send: "GET " + maps + "/a?resourceVersion=" + rev, code: 200},
		{send: "GET " + maps + "/a?resourceVersion=x", code: 500, want: []string{`resourceVersion: Invalid value: \"x\"`}},
		{send: "GET " + maps + "/a?pretty=true", code: 200, want: []string{"{\n  \"kind\": \"ConfigMap\","}},
		{send: "GET " + maps + "/a", headers: []string{"Accept: application/yaml"}, code: 200, want: []string{"kind: ConfigMap\n", "data:\n  k: v\n"}},
		{send: "GET " + maps + "/a", headers: []string{asTable}, code: 200, want: []string{`"kind":"Table","apiVersion":"meta.k8s.io/v1","metadata":{"resourceVersion":"` + rev + `"}`, `"rows":[{"cells":["a",`, `"kind":"PartialObjectMetadata"`}},
		{send: "GET " + maps + "/a?includeObject=Object", headers: []string{asTable}, code: 200, want: []string{`"object":{"kind":"ConfigMap"`}},
		{send: "GET " + maps + "/a?includeObject=None", headers: []string{asTable}, code: 200, want: []string{`"object":null`}},
		{send: "GET " + maps + "/a?includeObject=Odd", headers: []string{asTable}, code: 400, want: []string{`Unable to convert to Table as requested: includeObject: Invalid value`}},
		{send: "GET " + maps + "/a", headers: []string{"Accept: application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io"}, code: 200, want: []string{`{"kind":"PartialObjectMetadata","apiVersion":"meta.k8s.io/v1","metadata":{"resourceVersion":"` + rev + `","name":"a"`, `!"data"`}},
		{send: "GET " + maps + "/a", headers: []string{"Accept: application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io"}, code: 406, want: []string{`you requested PartialObjectMetadataList, but the requested object is not a list (*core.ConfigMap)`}},
		{send: "GET " + maps + "/a", headers: []string{"Accept: application/json;as=Nope;v=v1;g=meta.k8s.io,application/yaml"}, code: 200, want: []string{"kind: ConfigMap"}},
		{send: "GET " + maps + "/a", headers: []string{proto}, code: 200, want: []string{"k8s\x00"}},
	})
	if a := c.do("HEAD "+maps+"/a", ""); a.code != 405 || a.body != "" {
		t.Errorf("HEAD: %d %q", a.code, a.body)
	}
	if a := c.do("GET "+maps+"/a", "", "Audit-ID: mine"); a.header.Get("Audit-Id") != "mine" || a.header.Get("Cache-Control") != "no-cache, private" {
		t.Errorf("headers: %v", a.header)
	}
}

func TestPathsNobodyServes(t *testing.T) {
	c := start(t)
	c.talk([]exchange{
		{send: "GET /nothing", code: 404, want: []string{"404 page not found\n"}},
		{send: "GET /apis/example.com/v1/things", code: 404, want: []string{"404 page not found\n"}},
		{send: "GET /api/v1/things", code: 404, want: []string{`the server could not find the requested resource`}},
		{send: "GET /api/v1/namespaces/default/nodes", code: 404},
		{send: "GET /api/v1/pods/x", code: 404},
		{send: "GET " + pods + "/x/nothing", code: 404},
		{send: "PUT " + pods, code: 405, want: []string{`the server does not allow this method on the requested resource`}},
		{send: "POST " + pods + "/x", code: 405},
		{send: "DELETE /api/v1/pods", code: 405},
		{send: "DELETE " + pods + "/x/status", code: 405},
		{send: "OPTIONS " + pods, code: 405},
		{send: "GET /healthz", code: 200, want: []string{"ok"}},
		{send: "GET /livez?verbose", code: 200, want: []string{"[+]ping ok\n[+]log ok\n[+]etcd ok\nlivez check passed\n"}},
		{send: "GET /readyz/ping", code: 200, want: []string{"ok"}},
		{send: "GET /readyz/nope", code: 404},
		{send: "GET /", code: 200, want: []string{`"/apis/apps/v1"`}},
		{send: "GET /metrics", code: 200, want: []string{`apiserver_request_total{`, `apiserver_current_inflight_requests{request_kind="readOnly"}`, `apiserver_request_duration_seconds_bucket{`}},
	})
}
