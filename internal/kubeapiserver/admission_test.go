package kubeapiserver_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/utils/ptr"
)

// admissionFile writes an AdmissionConfiguration with the plugins, in YAML.
func admissionFile(t *testing.T, plugins string) string {
	t.Helper()
	return writeFile(t, t.TempDir(), "admission.yaml", "apiVersion: apiserver.config.k8s.io/v1\nkind: AdmissionConfiguration\nplugins:\n"+plugins)
}

func writeFile(t *testing.T, dir, name, text string) string {
	t.Helper()
	path := filepath.Join(dir, name)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// makePod creates a pod that is completed by changes, and returns it.
func makePod(t *testing.T, c *kubernetes.Clientset, namespace, name string, changes ...func(*corev1.Pod)) (*corev1.Pod, error) {
	t.Helper()
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "c", Image: "i:1"}}}}
	for _, change := range changes {
		change(pod)
	}
	return c.CoreV1().Pods(namespace).Create(t.Context(), pod, metav1.CreateOptions{})
}

func makeNamespace(t *testing.T, c *kubernetes.Clientset, name string, annotations map[string]string) {
	t.Helper()
	if _, err := c.CoreV1().Namespaces().Create(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name, Annotations: annotations}}, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
}

func message(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

// TestPodSecurityConfiguration: a namespace without labels has the defaults, unless something is exempt.
func TestPodSecurityConfiguration(t *testing.T) {
	const inFile = `
apiVersion: pod-security.admission.config.k8s.io/v1
kind: PodSecurityConfiguration
defaults: {enforce: baseline, enforce-version: v1.30}
exemptions: {usernames: [ada], namespaces: [kube-system], runtimeClasses: [trusted]}
`
	file := admissionFile(t, "- {name: PodSecurity, path: podsecurity.yaml}\n")
	writeFile(t, filepath.Dir(file), "podsecurity.yaml", inFile)
	as := start(t, "--admission-control-config-file="+file, "--disable-admission-plugins=ServiceAccount,RuntimeClass")
	root, ada := as("root-token"), as("ada-token")
	onHost := func(p *corev1.Pod) { p.Spec.HostNetwork = true }
	trusted := func(p *corev1.Pod) { p.Spec.RuntimeClassName = ptr.To("trusted") }
	const want = `pods "a" is forbidden: violates PodSecurity "baseline:v1.30": host namespaces (hostNetwork=true)`
	if _, err := makePod(t, root, "default", "a", onHost); message(err) != want {
		t.Errorf("root in default: %v", err)
	}
	for _, c := range []struct {
		name, namespace string
		as              *kubernetes.Clientset
		changes         []func(*corev1.Pod)
	}{
		{"namespace", "kube-system", root, []func(*corev1.Pod){onHost}},
		{"user", "default", ada, []func(*corev1.Pod){onHost}},
		{"class", "default", root, []func(*corev1.Pod){onHost, trusted}},
		{"harmless", "default", root, nil},
	} {
		if _, err := makePod(t, c.as, c.namespace, c.name, c.changes...); err != nil {
			t.Errorf("%s: %v", c.name, err)
		}
	}
	r := root.CoreV1().RESTClient().Patch("application/merge-patch+json").AbsPath("/api/v1/namespaces/kube-system").
		Body([]byte(`{"metadata":{"labels":{"pod-security.kubernetes.io/enforce":"restricted"}}}`)).Do(t.Context())
	if w := r.Warnings(); r.Error() != nil || len(w) != 1 || w[0].Text != `namespace "kube-system" is exempt from Pod Security, and the policy (enforce=restricted:v1.30) will be ignored` {
		t.Errorf("the labels of an exempt namespace: %v %v", r.Error(), w)
	}
}

// TestEventRateLimit writes events until a limit is reached.
func TestEventRateLimit(t *testing.T) {
	as := start(t, "--enable-admission-plugins=EventRateLimit", "--admission-control-config-file="+admissionFile(t, `
- name: EventRateLimit
  configuration:
    apiVersion: eventratelimit.admission.k8s.io/v1alpha1
    kind: Configuration
    limits:
    - {type: Namespace, qps: 1, burst: 2}
    - {type: User, qps: 1, burst: 3}
`))
	event := func(user, namespace string, dryRun ...string) error {
		_, err := as(user).CoreV1().Events(namespace).Create(t.Context(), &corev1.Event{
			ObjectMeta: metav1.ObjectMeta{GenerateName: "e"}, InvolvedObject: corev1.ObjectReference{Kind: "Pod", Namespace: namespace, Name: "p"},
		}, metav1.CreateOptions{DryRun: dryRun})
		return err
	}
	refused := func(namespace string) (err error) { // the bucket refills by one event a second
		for range 100 {
			if err = event("root-token", namespace); err != nil {
				return err
			}
		}
		return nil
	}
	err := refused("default")
	if !apierrors.IsTooManyRequests(err) || !strings.Contains(message(err), "limit reached on type Namespace for key default") {
		t.Errorf("many events of a namespace: %v", err)
	}
	if err := refused("kube-system"); !apierrors.IsTooManyRequests(err) || !strings.Contains(message(err), "limit reached on type User for key root") {
		t.Errorf("many events of a user: %v", err)
	}
	if err := event("ada-token", "kube-public"); err != nil {
		t.Errorf("the first event of a user in a namespace: %v", err)
	}
	for range 10 {
		if err := event("ada-token", "kube-public", metav1.DryRunAll); err != nil {
			t.Errorf("an event that is not written: %v", err)
		}
	}
}

// TestLimitedResources: resources that are limited by default need a quota that covers them.
func TestLimitedResources(t *testing.T) {
	as := start(t, "--disable-admission-plugins=ServiceAccount", "--admission-control-config-file="+admissionFile(t, `
- name: ResourceQuota
  configuration:
    apiVersion: apiserver.config.k8s.io/v1
    kind: ResourceQuotaConfiguration
    limitedResources:
    - {resource: pods, matchContains: [requests.cpu]}
    - {resource: pods, matchScopes: [{scopeName: PriorityClass, operator: In, values: [system-cluster-critical]}]}
`))
	root := as("root-token")
	cpu := func(p *corev1.Pod) {
		p.Spec.Containers[0].Resources.Requests = corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("1")}
	}
	critical := func(p *corev1.Pod) { p.Spec.PriorityClassName = "system-cluster-critical" }
	if _, err := makePod(t, root, "default", "free"); err != nil {
		t.Error(err)
	}
	if _, err := makePod(t, root, "default", "cpu", cpu); !apierrors.IsForbidden(err) || !strings.HasSuffix(message(err), "is forbidden: insufficient quota to consume: requests.cpu") {
		t.Errorf("a limited resource: %v", err)
	}
	if _, err := makePod(t, root, "default", "critical", critical); !strings.HasPrefix(message(err), "insufficient quota to match these scopes: [{PriorityClass In [system-cluster-critical]}]") {
		t.Errorf("a limited scope: %v", err)
	}
	hard := corev1.ResourceList{corev1.ResourceRequestsCPU: resource.MustParse("2")}
	q := &corev1.ResourceQuota{ObjectMeta: metav1.ObjectMeta{Name: "q"}, Spec: corev1.ResourceQuotaSpec{Hard: hard}}
	q, err := root.CoreV1().ResourceQuotas("default").Create(t.Context(), q, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	q.Status = corev1.ResourceQuotaStatus{Hard: hard, Used: corev1.ResourceList{corev1.ResourceRequestsCPU: resource.MustParse("0")}}
	if _, err := root.CoreV1().ResourceQuotas("default").UpdateStatus(t.Context(), q, metav1.UpdateOptions{}); err != nil {
		t.Fatal(err)
	}
	if _, err := makePod(t, root, "default", "cpu", cpu); err != nil {
		t.Errorf("a covered resource: %v", err)
	}
}

// TestPlacementPlugins: pods get the node selector and the tolerations of their namespace, or else of the cluster.
func TestPlacementPlugins(t *testing.T) {
	as := start(t, "--enable-admission-plugins=PodNodeSelector,PodTolerationRestriction", "--disable-admission-plugins=ServiceAccount,DefaultTolerationSeconds",
		"--admission-control-config-file="+admissionFile(t, `
- name: PodNodeSelector
  configuration:
    podNodeSelectorPluginConfig: {clusterDefaultNodeSelector: "zone=a", strict: "disk=ssd,zone=a"}
- name: PodTolerationRestriction
  configuration:
    apiVersion: podtolerationrestriction.admission.k8s.io/v1alpha1
    kind: Configuration
    default: [{key: team, operator: Equal, value: x, effect: NoSchedule}]
    whitelist: [{key: team, operator: Exists}]
`))
	root := as("root-token")
	makeNamespace(t, root, "strict", nil)
	makeNamespace(t, root, "own", map[string]string{
		"scheduler.alpha.kubernetes.io/node-selector":        "zone=b",
		"scheduler.alpha.kubernetes.io/defaultTolerations":   `[{"key":"own","operator":"Exists"}]`,
		"scheduler.alpha.kubernetes.io/tolerationsWhitelist": "",
	})
	selects := func(key, value string) func(*corev1.Pod) {
		return func(p *corev1.Pod) { p.Spec.NodeSelector = map[string]string{key: value} }
	}
	tolerates := func(key string) func(*corev1.Pod) {
		return func(p *corev1.Pod) {
			p.Spec.Tolerations = []corev1.Toleration{{Key: key, Operator: corev1.TolerationOpExists}}
		}
	}
	for _, c := range []struct {
		namespace, selector, toleration string
	}{{"default", "a", "team"}, {"own", "b", "own"}} {
		pod, err := makePod(t, root, c.namespace, "plain")
		if err != nil {
			t.Fatal(err)
		}
		if pod.Spec.NodeSelector["zone"] != c.selector || len(pod.Spec.Tolerations) != 1 || pod.Spec.Tolerations[0].Key != c.toleration {
			t.Errorf("%s: the pod has %v and %v", c.namespace, pod.Spec.NodeSelector, pod.Spec.Tolerations)
		}
	}
	for _, c := range []struct {
		namespace string
		change    func(*corev1.Pod)
		want      string
	}{
		{"default", selects("zone", "b"), `pods "p" is forbidden: pod node label selector conflicts with its namespace node label selector`},
		{"strict", selects("disk", "hdd"), `pods "p" is forbidden: pod node label selector labels conflict with its namespace whitelist`},
		{"default", tolerates("other"), "pod tolerations (possibly merged with namespace default tolerations) conflict with its cluster whitelist"},
		{"own", tolerates("other"), ""},
	} {
		if _, err := makePod(t, root, c.namespace, "p", c.change); message(err) != c.want {
			t.Errorf("%s: %v, want %q", c.namespace, err, c.want)
		}
	}
}

// TestAdmissionConfigurationErrors starts with files that kube-apiserver refuses.
func TestAdmissionConfigurationErrors(t *testing.T) {
	plugin := func(name, configuration string) string {
		return "--admission-control-config-file=" + admissionFile(t, "- {name: "+name+", configuration: "+configuration+"}\n")
	}
	const events = "{apiVersion: eventratelimit.admission.k8s.io/v1alpha1, kind: Configuration, limits: "
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"--admission-control-config-file=missing.yaml"}, `failed to read plugin config: unable to read admission control configuration from "missing.yaml"`},
		{[]string{"--admission-control-config-file=" + writeFile(t, t.TempDir(), "a", "kind: X")}, `failed to read plugin config: Object 'apiVersion' is missing`},
		{[]string{"--admission-control-config-file=" + admissionFile(t, "- {name: x, nonsense: 1}")}, `unknown field "plugins[0].nonsense"`},
		{[]string{plugin("PodSecurity", "{apiVersion: pod-security.admission.config.k8s.io/v1, kind: PodSecurityConfiguration, defaults: {enforce: some}}")},
			`couldn't init admission plugin "PodSecurity": PodSecurity invalid: defaults.enforce: Invalid value: "some": must be one of privileged, baseline, restricted`},
		{[]string{"--enable-admission-plugins=EventRateLimit"}, `couldn't init admission plugin "EventRateLimit": limits: Invalid value: null: must not be empty`},
		{[]string{"--enable-admission-plugins=EventRateLimit", plugin("EventRateLimit", events+"[{type: All, qps: 1, burst: 1}]}")}, `limits[0].type: Unsupported value: "All"`},
		{[]string{"--enable-admission-plugins=EventRateLimit", plugin("EventRateLimit", events+"[{type: Server, qps: 1, burst: 0}]}")}, `limits[0].burst: Invalid value: 0: must be positive`},
		{[]string{"--enable-admission-plugins=EventRateLimit", plugin("EventRateLimit", "{apiVersion: x/v1, kind: Configuration}")}, `no kind "Configuration" is registered for version "x/v1"`},
		{[]string{"--enable-admission-plugins=ImagePolicyWebhook"}, `couldn't init admission plugin "ImagePolicyWebhook": no config specified`},
		{[]string{"--enable-admission-plugins=ImagePolicyWebhook", plugin("ImagePolicyWebhook", "{imagePolicy: {kubeConfigFile: x, allowTTL: 3600}}")}, `valid value is between 1s and 30m0s, got 1h0m0s`},
		{[]string{plugin("ResourceQuota", "{apiVersion: apiserver.config.k8s.io/v1, kind: ResourceQuotaConfiguration, limitedResources: [{matchContains: [x]}]}")}, `limitedResources[0].resource: Required value`},
		{[]string{"--enable-admission-plugins=PodTolerationRestriction", plugin("PodTolerationRestriction", "{apiVersion: podtolerationrestriction.admission.k8s.io/v1alpha1, kind: Configuration, default: [{key: a b}]}")}, `invalid config: [podtolerationrestriction.default[0].key: Invalid value: "a b"`},
		{[]string{plugin("MutatingAdmissionWebhook", "{apiVersion: apiserver.config.k8s.io/v1, kind: WebhookAdmissionConfiguration, kubeConfigFile: x}")}, `kubeConfigFile: Invalid value: "x": must be an absolute file path`},
		{[]string{plugin("ValidatingAdmissionPolicy", "{apiVersion: apiserver.config.k8s.io/v1, kind: ValidatingAdmissionPolicyConfiguration, staticManifestsDir: /x}")}, `staticManifestsDir requires the ManifestBasedAdmissionControlConfig feature gate to be enabled`},
	} {
		if got := startFails(t, c.args...); !strings.Contains(got, c.want) {
			t.Errorf("%q: %s\nwant %s", c.args, got, c.want)
		}
	}
}
