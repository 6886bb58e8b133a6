package compat

import (
	"bytes"
	"context"
	"crypto/tls"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	reviewv1 "k8s.io/api/admission/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/google/go-cmp/cmp"
)

// auditPolicy has a rule of each level.
const auditPolicy = `apiVersion: audit.k8s.io/v1
kind: Policy
omitStages: []
rules:
- level: None
  nonResourceURLs: ["/healthz*"]
- level: Metadata
  resources: [{group: "", resources: [secrets]}]
- level: Request
  resources: [{group: apps, resources: [deployments, deployments/*]}]
  omitManagedFields: true
- level: RequestResponse
  namespaces: [lean]
  omitManagedFields: true
- level: RequestResponse
`

// audited is a request whose events are compared.
type audited struct {
	name, method, path, body string
	header                   map[string]string
	// last is the last stage of its events, "" for ResponseComplete and "-" for a request without events.
	last string
}

const (
	asJSON = "application/json"
	pod    = `{"apiVersion":"v1","kind":"Pod","metadata":{"name":%q},"spec":{"containers":[{"name":"c","image":"registry.example/i:1"}]}}`
	hooked = `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":%q,"labels":{"hooked":"yes"}},"data":{"a":"b"}}`
)

// auditedRequests are sent in this order to both servers.
func auditedRequests(hook string, ca []byte) []audited {
	put := func(path, body string) audited { return audited{method: "PUT", path: path, body: body} }
	post := func(path, body string) audited { return audited{method: "POST", path: path, body: body} }
	get := func(path string) audited { return audited{method: "GET", path: path} }
	del := func(path, body string) audited { return audited{method: "DELETE", path: path, body: body} }
	patch := func(kind, path, body string) audited {
		return audited{method: "PATCH", path: path, body: body, header: map[string]string{"Content-Type": kind}}
	}
	with := func(r audited, header ...string) audited {
		if r.header == nil {
			r.header = map[string]string{}
		}
		for i := 0; i < len(header); i += 2 {
			r.header[header[i]] = header[i+1]
		}
		return r
	}
	named := func(name string, r audited) audited { r.name = name; return r }
	ends := func(stage string, r audited) audited { r.last = stage; return r }
	client := fmt.Sprintf(`{"url":%q,"caBundle":%q}`, hook, base64.StdEncoding.EncodeToString(ca))
	webhook := func(kind, name, path, policy string) string {
		return fmt.Sprintf(`{"apiVersion":"admissionregistration.k8s.io/v1","kind":%q,"metadata":{"name":%q},"webhooks":[{"name":"%s.example.com","clientConfig":%s,
"rules":[{"apiGroups":[""],"apiVersions":["v1"],"operations":["CREATE"],"resources":["configmaps"]}],"objectSelector":{"matchLabels":{"hooked":"yes"}},
"failurePolicy":%q,"sideEffects":"None","timeoutSeconds":5,"admissionReviewVersions":["v1"]}]}`,
			kind, name, name, strings.Replace(client, hook, hook+path, 1), policy)
	}
	return []audited{
		ends("-", get("/healthz")),
		get("/version"), get("/api"), get("/api/v1"), get("/apis/apps/v1"), get("/nothing"), get("/apis/none.example.com/v1/things"),
		named("no credentials", ends("ResponseStarted", with(get("/api/v1/namespaces"), "Authorization", "Bearer wrong"))),
		named("a bad timeout", ends("ResponseStarted", get("/api/v1/namespaces/default?timeout=x"))),
		get("/api/v1/namespaces/default"), get("/api/v1/namespaces/none"),
		post("/api/v1/namespaces", `{"apiVersion":"v1","kind":"Namespace","metadata":{"name":"lean"}}`),
		post("/api/v1/namespaces", `{"apiVersion":"v1","kind":"Namespace","metadata":{"name":"guarded","labels":{"pod-security.kubernetes.io/audit":"restricted","pod-security.kubernetes.io/enforce":"baseline"}}}`),
		post("/api/v1/namespaces/default/serviceaccounts", `{"apiVersion":"v1","kind":"ServiceAccount","metadata":{"name":"default"}}`),
		post("/api/v1/namespaces/guarded/serviceaccounts", `{"apiVersion":"v1","kind":"ServiceAccount","metadata":{"name":"default"}}`),
		post("/api/v1/namespaces/default/serviceaccounts/default/token", `{"apiVersion":"authentication.k8s.io/v1","kind":"TokenRequest","spec":{"audiences":["a"]}}`),
		post("/api/v1/namespaces/default/configmaps", `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a"},"data":{"k":"v"}}`),
		named("exists", post("/api/v1/namespaces/default/configmaps", `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a"},"data":{"k":"v"}}`)),
		named("invalid", post("/api/v1/namespaces/default/configmaps", `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"A_"}}`)),
		named("undecodable", post("/api/v1/namespaces/default/configmaps", `{"apiVersion":"v1","kind":"Con`)),
		named("another kind", post("/api/v1/namespaces/default/configmaps", `{"apiVersion":"v1","kind":"Secret"}`)),
		named("yaml", with(post("/api/v1/namespaces/default/configmaps?dryRun=All", "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  generateName: b-\n"), "Content-Type", "application/yaml")),
		named("protobuf", with(get("/api/v1/namespaces/default/configmaps/a"), "Accept", "application/vnd.kubernetes.protobuf")),
		named("protobuf list", with(get("/api/v1/namespaces/default/configmaps"), "Accept", "application/vnd.kubernetes.protobuf")),
		named("table", with(get("/api/v1/namespaces/default/configmaps"), "Accept", "application/json;as=Table;v=v1;g=meta.k8s.io")),
		named("partial", with(get("/api/v1/namespaces/default/configmaps"), "Accept", "application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io")),
		put("/api/v1/namespaces/default/configmaps/a", `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a"},"data":{"k":"w"}}`),
		named("another name", put("/api/v1/namespaces/default/configmaps/a", `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"b"}}`)),
		patch("application/merge-patch+json", "/api/v1/namespaces/default/configmaps/a", `{"data":{"k":"x"}}`),
		patch("application/json-patch+json", "/api/v1/namespaces/default/configmaps/a", `[{"op":"replace","path":"/data/k","value":"y"}]`),
		patch("application/strategic-merge-patch+json", "/api/v1/namespaces/default/configmaps/a", `{"data":{"k":"z"}}`),
		patch("application/apply-patch+yaml", "/api/v1/namespaces/default/configmaps/applied?fieldManager=m", "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: applied}\ndata: {k: v}\n"),
		named("bad patch", patch("application/json-patch+json", "/api/v1/namespaces/default/configmaps/a", `[{"op":"test","path":"/data/k","value":"no"}]`)),
		get("/api/v1/namespaces/default/configmaps?labelSelector=a%3Db&limit=500"),
		named("watch", audited{method: "GET", path: "/api/v1/namespaces/default/configmaps?watch=true&timeoutSeconds=1"}),
		named("delete with options", del("/api/v1/namespaces/default/configmaps/a", `{"apiVersion":"v1","kind":"DeleteOptions","propagationPolicy":"Background"}`)),
		del("/api/v1/namespaces/default/configmaps/applied?gracePeriodSeconds=0", ""),
		del("/api/v1/namespaces/default/configmaps/none", ""),
		post("/api/v1/namespaces/default/pods", fmt.Sprintf(pod, "p")),
		get("/api/v1/namespaces/default/pods/p"),
		named("the log of a pod without a node", get("/api/v1/namespaces/default/pods/p/log")),
		post("/api/v1/namespaces/default/pods/p/binding", `{"apiVersion":"v1","kind":"Binding","metadata":{"name":"p"},"target":{"kind":"Node","name":"n"}}`),
		post("/api/v1/namespaces/default/pods/p/eviction", `{"apiVersion":"policy/v1","kind":"Eviction","metadata":{"name":"p"}}`),
		post("/api/v1/namespaces/guarded/pods", fmt.Sprintf(pod, "violates-restricted")),
		named("violates baseline", post("/api/v1/namespaces/guarded/pods", `{"apiVersion":"v1","kind":"Pod","metadata":{"name":"q"},"spec":{"hostNetwork":true,"containers":[{"name":"c","image":"i"}]}}`)),
		named("lean", post("/api/v1/namespaces/lean/configmaps", `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a"},"data":{"k":"v"}}`)),
		get("/api/v1/namespaces/lean/configmaps"),
		named("lean table", with(get("/api/v1/namespaces/lean/configmaps"), "Accept", "application/json;as=Table;v=v1;g=meta.k8s.io")),
		named("metadata only", post("/api/v1/namespaces/default/secrets", `{"apiVersion":"v1","kind":"Secret","metadata":{"name":"s"},"stringData":{"k":"hidden"}}`)),
		get("/api/v1/namespaces/default/secrets/none"),
		post("/apis/apps/v1/namespaces/default/deployments", `{"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"d"},"spec":{"selector":{"matchLabels":{"a":"b"}},"template":{"metadata":{"labels":{"a":"b"}},"spec":{"containers":[{"name":"c","image":"registry.example/i:1"}]}}}}`),
		get("/apis/apps/v1/namespaces/default/deployments/d/scale"),
		put("/apis/apps/v1/namespaces/default/deployments/d/scale", `{"apiVersion":"autoscaling/v1","kind":"Scale","metadata":{"name":"d","namespace":"default"},"spec":{"replicas":0}}`),
		patch("application/merge-patch+json", "/apis/apps/v1/namespaces/default/deployments/d/scale", `{"spec":{"replicas":1}}`),
		put("/apis/apps/v1/namespaces/default/deployments/d/status", `{"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"d","namespace":"default"},"spec":{"selector":{"matchLabels":{"a":"b"}},"template":{"metadata":{"labels":{"a":"b"}},"spec":{"containers":[{"name":"c","image":"registry.example/i:1"}]}}},"status":{"replicas":1}}`),
		post("/apis/authorization.k8s.io/v1/selfsubjectaccessreviews", `{"apiVersion":"authorization.k8s.io/v1","kind":"SelfSubjectAccessReview","spec":{"resourceAttributes":{"verb":"get","resource":"pods"}}}`),
		// first, since kube-apiserver begins with the mode that last allowed a user to impersonate
		named("impersonation of a service account", with(get("/api/v1/namespaces/default/configmaps"), "Impersonate-User", "system:serviceaccount:default:default")),
		named("impersonation", with(get("/api/v1/namespaces/default/configmaps"), "Impersonate-User", "jane", "Impersonate-Group", "devs", "Impersonate-Extra-Scope", "x")),
		named("invalid impersonation", with(get("/api/v1/namespaces/default/configmaps"), "Impersonate-Group", "devs")),
		post("/apis/admissionregistration.k8s.io/v1/mutatingwebhookconfigurations", webhook("MutatingWebhookConfiguration", "change", "/change", "Fail")),
		post("/apis/admissionregistration.k8s.io/v1/mutatingwebhookconfigurations", webhook("MutatingWebhookConfiguration", "none", "/none", "Ignore")),
		post("/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations", webhook("ValidatingWebhookConfiguration", "check", "/check", "Ignore")),
		post("/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations", webhook("ValidatingWebhookConfiguration", "none", "/none", "Ignore")),
		post("/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicies", `{"apiVersion":"admissionregistration.k8s.io/v1","kind":"ValidatingAdmissionPolicy","metadata":{"name":"checked"},"spec":{
"matchConstraints":{"resourceRules":[{"apiGroups":[""],"apiVersions":["v1"],"operations":["CREATE"],"resources":["configmaps"]}],"objectSelector":{"matchLabels":{"hooked":"yes"}}},
"validations":[{"expression":"true"},{"expression":"object.data.a == 'c'","message":"a is not c"}],
"auditAnnotations":[{"key":"size","valueExpression":"string(size(object.data))"},{"key":"nothing","valueExpression":"null"}]}}`),
		post("/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicybindings", `{"apiVersion":"admissionregistration.k8s.io/v1","kind":"ValidatingAdmissionPolicyBinding","metadata":{"name":"binding"},"spec":{"policyName":"checked","validationActions":["Audit","Warn"]}}`),
		named("webhooks and a policy", post("/api/v1/namespaces/default/configmaps", fmt.Sprintf(hooked, "hooked"))),
		del("/api/v1/namespaces/default/configmaps", ""),
		get("/api/v1/componentstatuses/etcd-0"),
		named("endpoints", get("/api/v1/namespaces/default/endpoints/kubernetes")),
	}
}

// TestAudit compares the events of our audit log with those of kube-apiserver's, for the same policy and requests.
func TestAudit(t *testing.T) {
	hooks := httptest.NewTLSServer(http.HandlerFunc(answerReview))
	defer hooks.Close()
	ca := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: hooks.Certificate().Raw})
	requests := auditedRequests(hooks.URL, ca)
	var events []map[string][]any
	for _, start := range []func(*testing.T, ...string) upstream{startUpstream, startOurs} {
		dir := t.TempDir()
		policy, log := filepath.Join(dir, "policy.yaml"), filepath.Join(dir, "audit.log")
		if err := os.WriteFile(policy, []byte(auditPolicy), 0o600); err != nil {
			t.Fatal(err)
		}
		server := start(t, "--audit-policy-file="+policy, "--audit-log-path="+log, "--audit-log-mode=blocking", "--feature-gates=ConstrainedImpersonation=true")
		events = append(events, auditRun(t, server, log, requests))
	}
	for i, r := range requests {
		id := auditID(i)
		if diff := cmp.Diff(events[0][id], events[1][id]); diff != "" {
			t.Errorf("%s %s %s (-kube-apiserver +fairlead):\n%s", r.name, r.method, r.path, diff)
		}
	}
}

// insecure is a client that accepts any certificate.
var insecure = &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}}}

func auditID(i int) string { return fmt.Sprintf("audited-%d", i) }

// auditRun sends the requests, and returns their events by the ID of the request.
func auditRun(t *testing.T, server upstream, log string, requests []audited) map[string][]any {
	t.Helper()
	for i, r := range requests {
		if r.name == "webhooks and a policy" {
			settle(t, server)
		}
		sendAudited(t, server, i, r)
	}
	deadline := time.Now().Add(patience)
	for {
		events, last := readAudit(t, log)
		missing := ""
		for i, r := range requests {
			want := "ResponseComplete"
			if r.last != "" {
				want = r.last
			}
			if r.last != "-" && !slices.Contains(last[auditID(i)], want) {
				missing = fmt.Sprintf("%s %s has only the stages %v", r.method, r.path, last[auditID(i)])
				break
			}
		}
		if missing == "" {
			return events
		}
		if time.Now().After(deadline) {
			t.Fatal(missing)
		}
		time.Sleep(100 * time.Millisecond) // the log has no other signal
	}
}

// settle waits until the server asks the webhooks and the policy, which it learns of a little later.
func settle(t *testing.T, server upstream) {
	t.Helper()
	for end := time.Now().Add(patience); ; {
		r := audited{method: "POST", path: "/api/v1/namespaces/default/configmaps?dryRun=All", body: fmt.Sprintf(hooked, "probe")}
		response := sendAudited(t, server, -1, r)
		body, _ := io.ReadAll(response)
		if strings.Contains(string(body), "by-the-webhook") && strings.Contains(string(body), "a is not c") && strings.Contains(string(body), "checked by a webhook") {
			return
		}
		if time.Now().After(end) {
			t.Fatalf("the webhooks and the policy are not asked: %s", body)
		}
		time.Sleep(100 * time.Millisecond)
	}
}

// sendAudited sends a request and returns the warnings and the body of the response.
func sendAudited(t *testing.T, server upstream, i int, r audited) io.Reader {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	at := server.clients.CoreV1().RESTClient().Get().URL()
	req, err := http.NewRequestWithContext(ctx, r.method, at.Scheme+"://"+at.Host+r.path, strings.NewReader(r.body))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+adminToken)
	if r.body != "" {
		req.Header.Set("Content-Type", asJSON)
	}
	req.Header.Set("Audit-ID", auditID(i))
	req.Header.Set("User-Agent", "audited/1.0")
	for name, value := range r.header {
		req.Header.Set(name, value)
	}
	response, err := insecure.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	return strings.NewReader(strings.Join(response.Header.Values("Warning"), "\n") + "\n" + string(body))
}

// readAudit returns the events of the test's requests and their stages, by the ID of the request.
func readAudit(t *testing.T, log string) (map[string][]any, map[string][]string) {
	t.Helper()
	text, err := os.ReadFile(log)
	if err != nil {
		t.Fatal(err)
	}
	events, stages := map[string][]any{}, map[string][]string{}
	for line := range bytes.Lines(text) {
		if !bytes.HasSuffix(line, []byte("\n")) {
			break // being written
		}
		var event map[string]any
		if err := json.Unmarshal(line, &event); err != nil {
			t.Fatalf("%v in %s", err, line)
		}
		id, _ := event["auditID"].(string)
		stage, _ := event["stage"].(string)
		for _, name := range []string{"requestReceivedTimestamp", "stageTimestamp"} {
			if _, ok := event[name].(string); !ok {
				t.Errorf("no %s in %s", name, line)
			}
		}
		events[id] = append(events[id], steady("", event))
		stages[id] = append(stages[id], stage)
	}
	return events, stages
}

var (
	// varying are the fields that differ from run to run.
	varying = map[string]bool{
		"requestReceivedTimestamp": true, "stageTimestamp": true, "uid": true, "resourceVersion": true, "creationTimestamp": true,
		"deletionTimestamp": true, "time": true, "token": true, "expirationTimestamp": true, "continue": true, "serverAddress": true, "ip": true,
		"authentication.kubernetes.io/issued-credential-id": true, "port": true, "lastTransitionTime": true, "startTime": true,
		"apiserver.latency.k8s.io/total": true, "apiserver.latency.k8s.io/etcd": true,
	}
	uidText   = regexp.MustCompile(`[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}`)
	generated = regexp.MustCompile(`\b(b-|kube-api-access-)[a-z0-9]{5}\b`)
)

// steady returns a value without what differs from run to run.
func steady(name string, v any) any {
	switch v := v.(type) {
	case map[string]any:
		for key, value := range v {
			if key == "description" && v["format"] != nil { // of a column of a table
				delete(v, key)
			} else if varying[key] && value != nil {
				v[key] = "varies"
			} else if key == "age" {
				delete(v, key)
			} else {
				v[key] = steady(key, value)
			}
		}
	case []any:
		for i := range v {
			v[i] = steady(name, v[i])
		}
	case string:
		return generated.ReplaceAllString(uidText.ReplaceAllString(v, "UID"), "${1}XXXXX")
	}
	return v
}

// answerReview answers as a webhook that changes, one that checks, and one that has no answer.
func answerReview(w http.ResponseWriter, r *http.Request) {
	review := &reviewv1.AdmissionReview{}
	if err := json.NewDecoder(r.Body).Decode(review); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	answer := &reviewv1.AdmissionResponse{UID: review.Request.UID, Allowed: true}
	switch r.URL.Path {
	case "/change":
		kind := reviewv1.PatchTypeJSONPatch
		answer.Patch, answer.PatchType = []byte(`[{"op":"add","path":"/data/by-the-webhook","value":"1"}]`), &kind
		answer.AuditAnnotations = map[string]string{"changed": "yes"}
	case "/check":
		answer.AuditAnnotations = map[string]string{"checked": "yes"}
		answer.Warnings = []string{"checked by a webhook"}
	default:
		http.Error(w, "no answer", http.StatusInternalServerError)
		return
	}
	review.Response, review.Request = answer, nil
	review.TypeMeta = metav1.TypeMeta{APIVersion: "admission.k8s.io/v1", Kind: "AdmissionReview"}
	w.Header().Set("Content-Type", asJSON)
	json.NewEncoder(w).Encode(review)
}
