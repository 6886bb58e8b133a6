package builtin_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"fairlead.dev/internal/resource"
)

const pod = `
apiVersion: v1
kind: Pod
metadata: {name: web, namespace: default}
spec: {containers: [{name: a, image: nginx}]}
`

const deployment = `
apiVersion: apps/v1
kind: Deployment
metadata: {name: web, namespace: default}
spec:
  selector: {matchLabels: {app: web}}
  template: {metadata: {labels: {app: web}}, spec: {containers: [{name: a, image: nginx}]}}
`

const service = `
apiVersion: v1
kind: Service
metadata: {name: web, namespace: default}
spec: {ports: [{port: 80}]}
`

const job = `
apiVersion: batch/v1
kind: Job
metadata: {name: once, namespace: default, uid: u1}
spec: {template: {spec: {restartPolicy: Never, containers: [{name: a, image: nginx}]}}}
`

// A job that brings its labels itself.
const ownJob = `
apiVersion: batch/v1
kind: Job
metadata: {name: once, namespace: default}
spec:
  manualSelector: true
  selector: {matchLabels: {a: b}}
  template: {metadata: {labels: {a: b}}, spec: {restartPolicy: Never, containers: [{name: a, image: nginx}]}}
`

// Common mistakes: an object with one text replaced by another, and the prefixes of the resulting errors.
var faultTests = []struct {
	name, object, text, by string
	want                   []string
}{
	{"sound pod", pod, "", "", nil},
	{"sound deployment", deployment, "", "", nil},
	{"sound service", service, "", "", nil},
	{"sound job", job, "", "", nil},
	{"name in capitals", pod, "name: web", "name: Web", []string{
		`metadata.name: Invalid value: "Web": a lowercase RFC 1123 subdomain must consist of`}},
	{"no name", pod, "name: web, ", "", []string{"metadata.name: Required value: name or generateName is required"}},
	{"service named like a host", service, "name: web", "name: web.example", []string{
		`metadata.name: Invalid value: "web.example": must not contain dots`}},
	{"odd label", pod, "namespace: default", "namespace: default, labels: {a b: c d}", []string{
		`metadata.labels: Invalid value: "a b": name part must consist of`,
		`metadata.labels: Invalid value: "c d": a valid label must be`}},
	{"no containers", pod, "{name: a, image: nginx}", "", []string{"spec.containers: Required value"}},
	{"no image", pod, ", image: nginx", "", []string{"spec.containers[0].image: Required value"}},
	{"no container name", pod, "name: a, ", "", []string{"spec.containers[0].name: Required value"}},
	{"two of a name", pod, "image: nginx}", "image: nginx}, {name: a, image: y}", []string{
		`spec.containers[1].name: Duplicate value: "a"`}},
	{"port out of range", pod, "image: nginx", "image: nginx, ports: [{containerPort: 70000}]", []string{
		"spec.containers[0].ports[0].containerPort: Invalid value: 70000: must be between 1 and 65535, inclusive"}},
	{"request above limit", pod, "image: nginx", `image: nginx, resources: {requests: {cpu: "2"}, limits: {cpu: "1"}}`, []string{
		`spec.containers[0].resources.requests: Invalid value: "2": must be less than or equal to cpu limit of 1`}},
	{"negative amount", pod, "image: nginx", `image: nginx, resources: {requests: {memory: "-1"}}`, []string{
		`spec.containers[0].resources.requests[memory]: Invalid value: "-1": must be greater than or equal to 0`}},
	{"unknown restart policy", pod, "spec: {", "spec: {restartPolicy: Sometimes, ", []string{
		`spec.restartPolicy: Unsupported value: "Sometimes": supported values: "Always", "OnFailure", "Never"`}},
	{"mount of no volume", pod, "image: nginx", "image: nginx, volumeMounts: [{name: v, mountPath: /v}]", []string{
		`spec.containers[0].volumeMounts[0].name: Not found: "v"`}},
	{"variable without a name", pod, "image: nginx", "image: nginx, env: [{value: x}]", []string{
		"spec.containers[0].env[0].name: Required value"}},
	{"probe of two kinds", pod, "image: nginx", "image: nginx, livenessProbe: {tcpSocket: {port: 1}, exec: {command: [a]}}", []string{
		"spec.containers[0].livenessProbe.tcpSocket: Forbidden: may not specify more than 1 handler type"}},
	{"template without the selector's labels", deployment, "labels: {app: web}", "labels: {app: other}", []string{
		"spec.template.metadata.labels: Invalid value: {\"app\":\"other\"}: `selector` does not match template `labels`"}},
	{"no selector", deployment, "selector: {matchLabels: {app: web}}", "paused: false", []string{
		"spec.selector: Required value",
		"spec.template.metadata.labels: Invalid value: {\"app\":\"web\"}: `selector` does not match template `labels`"}},
	{"negative replicas", deployment, "spec:\n", "spec:\n  replicas: -1\n", []string{
		"spec.replicas: Invalid value: -1: must be greater than or equal to 0"}},
	{"template that ends", deployment, "spec: {containers", "spec: {restartPolicy: Never, containers", []string{
		`spec.template.spec.restartPolicy: Unsupported value: "Never": supported values: "Always"`}},
	{"job that never ends", job, "restartPolicy: Never", "restartPolicy: Always", []string{
		`spec.template.spec.restartPolicy: Required value: valid values: "OnFailure", "Never"`}},
	{"service without ports", service, "{port: 80}", "", []string{"spec.ports: Required value"}},
	{"service port out of range", service, "port: 80", "port: 0", []string{
		"spec.ports[0].port: Invalid value: 0: must be between 1 and 65535, inclusive",
		"spec.ports[0].targetPort: Invalid value: 0: must be between 1 and 65535, inclusive"}},
	{"service ports without names", service, "{port: 80}", "{port: 80}, {port: 81}", []string{
		"spec.ports[0].name: Required value", "spec.ports[1].name: Required value"}},
}

// create processes an object like a create, up to validation.
func create(t *testing.T, text string) (*resource.Resource, resource.Object, []string) {
	t.Helper()
	r, obj := defaulted(t, text)
	if r.Strategy.PrepareForCreate != nil {
		r.Strategy.PrepareForCreate(obj)
	}
	faults := resource.ValidateObjectMeta(r, obj)
	return r, obj, lines(append(faults, r.Strategy.Validate(obj)...))
}

func TestFaultsReadAsKubernetesWordsThem(t *testing.T) {
	for _, tt := range faultTests {
		t.Run(tt.name, func(t *testing.T) {
			if !strings.Contains(tt.object, tt.text) {
				t.Fatalf("no %q in the object", tt.text)
			}
			_, _, got := create(t, strings.Replace(tt.object, tt.text, tt.by, 1))
			same(t, got, tt.want)
		})
	}
}

var updateTests = []struct {
	name, object, text, by string
	want                   []string
}{
	{"nothing changes", pod, "", "", nil},
	{"image of a pod", pod, "image: nginx", "image: redis", nil},
	{"command of a pod", pod, "image: nginx", "image: nginx, command: [x]", []string{
		"spec: Forbidden: pod updates may not change fields other than `spec.containers[*].image`,"}},
	{"selector of a deployment", deployment, "app: web", "app: x", []string{
		"spec.template.metadata.labels: Invalid value",
		"spec.selector: Invalid value: {\"matchLabels\":{\"app\":\"x\"}}: field is immutable"}},
	{"template of a job", ownJob, "image: nginx", "image: redis", []string{"spec.template: Invalid value: "}},
	{"type of a secret", "apiVersion: v1\nkind: Secret\nmetadata: {name: s, namespace: d}\ntype: a", "type: a", "type: b", []string{
		`type: Invalid value: "b": field is immutable`}},
	{"data of an immutable config map", "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: s, namespace: d}\nimmutable: true\ndata: {a: b}", "a: b", "a: c", []string{
		"data: Forbidden: field is immutable when `immutable` is set"}},
	{"role of a binding", "apiVersion: rbac.authorization.k8s.io/v1\nkind: ClusterRoleBinding\nmetadata: {name: s}\nroleRef: {kind: ClusterRole, name: a}", "name: a", "name: b", []string{
		"roleRef: Invalid value: "}},
	{"parameters of a storage class", "apiVersion: storage.k8s.io/v1\nkind: StorageClass\nmetadata: {name: s}\nprovisioner: p\nparameters: {a: b}", "a: b", "a: c", []string{
		"parameters: Invalid value: null: field is immutable"}},
	{"volume of a claim", "apiVersion: v1\nkind: PersistentVolumeClaim\nmetadata: {name: c, namespace: d}\nspec: {volumeName: a, accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}}", "volumeName: a", "volumeName: b", []string{
		"spec: Forbidden: spec is immutable after creation except"}},
}

func TestWhatMayNotChange(t *testing.T) {
	for _, tt := range updateTests {
		t.Run(tt.name, func(t *testing.T) {
			if !strings.Contains(tt.object, tt.text) {
				t.Fatalf("no %q in the object", tt.text)
			}
			r, old, faults := create(t, tt.object)
			if faults != nil {
				t.Fatal(faults)
			}
			_, obj := defaulted(t, strings.Replace(tt.object, tt.text, tt.by, 1))
			old.SetResourceVersion("1")
			obj.SetResourceVersion("1")
			r.Strategy.PrepareForUpdate(obj, old)
			got := lines(append(resource.ValidateObjectMetaUpdate(obj, old), r.Strategy.ValidateUpdate(obj, old)...))
			same(t, got, tt.want)
		})
	}
}

// The generation counts changes of the spec, not of status or labels.
func TestGenerationCountsChangesOfTheSpec(t *testing.T) {
	r, old, _ := create(t, deployment)
	generation := func(text, by string) int64 {
		_, obj := defaulted(t, strings.Replace(deployment, text, by, 1))
		r.Strategy.PrepareForUpdate(obj, old)
		return obj.GetGeneration()
	}
	got := []int64{
		generation("", ""),
		generation("name: web,", "name: web, labels: {a: b},"),
		generation("spec:\n", "status: {replicas: 4}\nspec:\n"),
		generation("spec:\n", "spec:\n  replicas: 4\n"),
	}
	if want := []int64{1, 1, 1, 2}; !slices.Equal(got, want) {
		t.Errorf("generations %v, want %v", got, want)
	}
}

// same compares the faults' starts, in any order.
func same(t *testing.T, got, want []string) {
	t.Helper()
	slices.Sort(got)
	want = slices.Sorted(slices.Values(want))
	if len(got) == len(want) {
		fits := true
		for i := range got {
			fits = fits && strings.HasPrefix(got[i], want[i])
		}
		if fits {
			return
		}
	}
	t.Errorf("-want +got\n%s", cmp.Diff(want, got))
}
