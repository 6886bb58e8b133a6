package controlplane_test

import (
	"bytes"
	"crypto/tls"
	"flag"
	"fmt"
	"io"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	flowcontrolv1 "k8s.io/api/flowcontrol/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	resourcev1alpha3 "k8s.io/api/resource/v1alpha3"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	apiregistrationv1 "k8s.io/kube-aggregator/pkg/apis/apiregistration/v1"
	"k8s.io/utils/ptr"

	"fairlead.dev/client"
	"fairlead.dev/internal/controllers/podcontrol/waittest"
	"fairlead.dev/internal/controlplane"
	"fairlead.dev/internal/controlplane/controlplanetest"
	"fairlead.dev/internal/nodegroups"
	"fairlead.dev/trace"
)

var update = flag.Bool("update", false, "write docs/metrics.md anew")

const metricsPage = "../../docs/metrics.md"

// TestMetricsPage checks that docs/metrics.md has all metrics of a control plane that has admitted, refused, reconciled, scheduled
// and run objects, as the server describes them.
func TestMetricsPage(t *testing.T) {
	const maxBody = 100_000
	plugin := newKMS(t)
	defer plugin.up()()
	v := &vault{T: t, file: filepath.Join(t.TempDir(), "encryption.yaml"), options: controlplane.Options{Encryption: controlplane.Encryption{Reloads: true}}}
	v.configure(plugin.config())
	api := gangsAPI(t, "DRAResourcePoolStatus")
	api.Asked = append(api.Asked, resourcev1alpha3.SchemeGroupVersion.WithResource("resourcepoolstatusrequests"))
	cp := controlplanetest.Start(t, controlplane.Options{
		Controllers: controlplane.ControllerNames(), Scheduler: true, Nodes: 1, Trace: trace.New(trace.Options{}),
		Limits: controlplane.Limits{MaxBodyBytes: maxBody}, MemoryLimit: 1 << 40, Encryption: v.options.Encryption, API: api,
		NodeGroups: twoGroups(t),
	})
	v.configure(plugin.config() + "# again\n")
	v.put(controlplanetest.Clientset(t, cp), "encrypted", "x")
	c := controlplanetest.Client(t, cp)
	get := controlplanetest.Getter(t, cp.Config())
	// The groups are stored as a ConfigMap, which the webhook of admitAndRefuse refuses.
	awaitFamilies(t, get, "fairlead_node_group_creation_duration_seconds", "fairlead_node_group_failures_total")
	admitAndRefuse(t, c)
	runDeployment(t, c)
	failToSchedule(t, c)
	preemptGroup(t, cp)
	(&pools{t, controlplanetest.Clientset(t, cp), t.Context()}).failToAnswer()
	failHandshake(t, cp)
	loseAPIService(t, c)
	exceedLimit(t, cp.Config(), maxBody)
	refuseByLevel(t, c, cp.Config())
	if code, body := get("/livez"); code != http.StatusOK {
		t.Fatal(code, body)
	}

	var page strings.Builder
	page.WriteString(metricsIntroduction)
	// An event is counted when it has passed its last hops, and an API service when its controller has seen it.
	families := awaitFamilies(t, get,
		"resourcepoolstatusrequest_controller_request_processing_errors_total", "fairlead_event_hop_duration_seconds",
		"apiserver_watch_events_dispatch_duration_seconds", "workqueue_work_duration_seconds", "controller_runtime_reconcile_total",
		"apiserver_watch_events_sizes", "aggregator_unavailable_apiservice_total", "fairlead_config_reloads_total",
	)
	writeFamilies(&page, families)
	page.WriteString("## /metrics/slis\n\n")
	clear(families)
	_, text := get("/metrics/slis")
	readFamilies(families, text)
	writeFamilies(&page, families)

	text = strings.TrimSuffix(page.String(), "\n")
	if *update {
		if err := os.WriteFile(metricsPage, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile(metricsPage)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(got), text); diff != "" {
		t.Errorf("docs/metrics.md is not that of the server; write it by -update:\n%s", diff)
	}
}

const metricsIntroduction = `# Metrics

This page is made from the metrics of a running server: ` + "`go test ./internal/controlplane -run TestMetricsPage -update`" + `.

` + "`fairlead up`" + ` and ` + "`fairlead server`" + ` serve these families at ` + "`/metrics`" + ` in Prometheus' text format, to users with the right to get that
path: ` + "`kubectl get --raw /metrics`" + `. Names and labels are those of kube-apiserver, kube-scheduler, client-go, Kubernetes' work queues and
controller-runtime, so dashboards for those work; Fairlead's own families begin with ` + "`fairlead_`" + `. One process has all parts, so
one scrape of it has the metrics of all: see [monitoring](#monitoring). The families of the process,
` + "`go_`" + ` and ` + "`process_`" + `, are those of Prometheus' Go library and are not listed. A family without samples is not served; with the
first failure come ` + "`apiserver_request_aborts_total` and `etcd_request_errors_total`" + `, by the labels of the families beside them.
The families that begin with ` + "`etcd_`" + ` count requests to the store, be it the embedded one or etcd.
[grafana.json](grafana.json) is a dashboard, and [trace.md](trace.md) explains the hops. Simulated kubelets serve
[metrics of nodes](nodes.md#metrics-of-kubelets) at paths of their own.

## Monitoring

[kubernetes-mixin](https://github.com/kubernetes-monitoring/kubernetes-mixin) has rules, alerts and dashboards for the API server, the
scheduler and controller-manager. A test checks that ` + "`fairlead up`" + ` serves all families that they read of
a control plane; the others come from kubelets, kube-proxy, kube-state-metrics and node_exporter. The mixin tells the parts apart by the label
` + "`job`" + `. Either scrape the server three times, as the jobs kube-apiserver, kube-scheduler and kube-controller-manager:

` + "```yaml" + `
scrape_configs:
  - job_name: kube-apiserver # and the same as kube-scheduler, and as kube-controller-manager
    scheme: https
    authorization: {credentials_file: token} # made by kubectl create token, of an account with the ClusterRole system:monitoring
    tls_config: {ca_file: .fairlead/ca.crt}
    static_configs: [{targets: ["127.0.0.1:6443"]}]
` + "```" + `

or set the mixin's selectors (` + "`kubeSchedulerSelector`, `kubeControllerManagerSelector`" + `) to the one job. A scheduler or controllers in a
process of their own (` + "`fairlead scheduler`, `fairlead controllers`" + `) serve their families with ` + "`--secure-port=10259`" + ` or ` + "`10257`" + `,
to the same users. So does ` + "`fairlead nodes`" + ` with ` + "`--secure-port=10260`" + ` for its node groups.

## /metrics

`

// awaitFamilies reads the families of /metrics until those of the names are among them.
func awaitFamilies(t *testing.T, get func(string, ...string) (int, string), names ...string) map[string]*family {
	t.Helper()
	for end := time.Now().Add(90 * time.Second); ; {
		families := map[string]*family{}
		_, text := get("/metrics")
		readFamilies(families, text)
		missing := slices.DeleteFunc(slices.Clone(names), func(name string) bool { return families[name] != nil })
		if len(missing) == 0 {
			return families
		}
		if time.Now().After(end) {
			t.Fatalf("/metrics has no %v", missing)
		}
	}
}

// twoGroups returns node groups: one with a node that takes no pods, and one without stock.
func twoGroups(t *testing.T) *nodegroups.Options {
	t.Helper()
	path := filepath.Join(t.TempDir(), "groups.yaml")
	const groups = `
apiVersion: config.fairlead.dev/v1alpha1
kind: NodeGroups
groups:
- {name: one, min: 1, max: 1, template: [{spec: {taints: [{key: none, effect: NoSchedule}]}}]}
- {name: none, min: 1, max: 1, stock: 0, template: [{}]}
`
	if err := os.WriteFile(path, []byte(groups), 0o600); err != nil {
		t.Fatal(err)
	}
	file, err := nodegroups.Load(path)
	if err != nil {
		t.Fatal(err)
	}
	return &nodegroups.Options{File: file, Address: "127.0.0.1:0"}
}

// family is a family of metrics.
type family struct {
	kind, help string
	labels     map[string]bool
}

var (
	familyHead = regexp.MustCompile(`^# (HELP|TYPE) (\S+) (.*)$`)
	sampleLine = regexp.MustCompile(`^(\w+?)(?:_bucket|_sum|_count)?\{(.*)\} `)
	labelName  = regexp.MustCompile(`(\w+)="(?:[^"\\]|\\.)*"`)
)

// readFamilies reads the families in Prometheus' text format, except those of the process.
func readFamilies(all map[string]*family, text string) {
	last := &family{}
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		if m := familyHead.FindStringSubmatch(line); m != nil {
			if last = all[m[2]]; last == nil {
				last = &family{labels: map[string]bool{}}
				if !strings.HasPrefix(m[2], "go_") && !strings.HasPrefix(m[2], "process_") {
					all[m[2]] = last
				}
			}
			if m[1] == "HELP" {
				last.help = m[3]
			} else {
				last.kind = m[3]
			}
		} else if m := sampleLine.FindStringSubmatch(line); m != nil {
			for _, l := range labelName.FindAllStringSubmatch(m[2], -1) {
				if l[1] != "le" && l[1] != "quantile" {
					last.labels[l[1]] = true
				}
			}
		}
	}
}

// origins are the programs whose names families have, by the families' prefixes.
var origins = map[string]string{
	"aggregator":         "kube-apiserver",
	"apiserver":          "kube-apiserver",
	"authenticated":      "kube-apiserver",
	"authentication":     "kube-apiserver",
	"authorization":      "kube-apiserver",
	"etcd":               "kube-apiserver",
	"rest_client":        "client-go",
	"scheduler":          "kube-scheduler",
	"controller_runtime": "controller-runtime",
	"fairlead":           "Fairlead",
	"kubernetes":         "kube-apiserver",
	"workqueue":          "kube-controller-manager",

	"resourcepoolstatusrequest_controller": "kube-controller-manager",
}

func origin(name string) string {
	for prefix, program := range origins {
		if strings.HasPrefix(name, prefix+"_") {
			return program
		}
	}
	return ""
}

// writeFamilies writes a list of families, by their origins.
func writeFamilies(w *strings.Builder, all map[string]*family) {
	byOrigin := map[string][]string{}
	for _, name := range slices.Sorted(maps.Keys(all)) {
		byOrigin[origin(name)] = append(byOrigin[origin(name)], name)
	}
	for _, program := range slices.Sorted(maps.Keys(byOrigin)) {
		fmt.Fprintf(w, "Names of %s:\n\n", program)
		for _, name := range byOrigin[program] {
			f := all[name]
			labels := ""
			if len(f.labels) > 0 {
				labels = " by `" + strings.Join(slices.Sorted(maps.Keys(f.labels)), "`, `") + "`"
			}
			fmt.Fprintf(w, "- `%s`, %s%s: %s\n", name, f.kind, labels, f.help)
		}
		w.WriteString("\n")
	}
}

// runDeployment waits until a Deployment's pod runs.
func runDeployment(t *testing.T, c *client.Client) {
	t.Helper()
	labels := map[string]string{"app": "web"}
	deployments := client.For[*appsv1.Deployment](c).Namespace("default")
	if _, err := deployments.Create(t.Context(), &appsv1.Deployment{
		ObjectMeta: metav1.ObjectMeta{Name: "web"},
		Spec: appsv1.DeploymentSpec{Selector: &metav1.LabelSelector{MatchLabels: labels}, Template: corev1.PodTemplateSpec{
			ObjectMeta: metav1.ObjectMeta{Labels: labels}, Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "web", Image: "web"}}},
		}},
	}); err != nil {
		t.Fatal(err)
	}
	waittest.One(t, deployments, "web", "a ready pod", func(d *appsv1.Deployment) bool { return d.Status.ReadyReplicas == 1 })
}

// failHandshake fails a TLS handshake, and asks for a deprecated kind.
func failHandshake(t *testing.T, cp *controlplane.ControlPlane) {
	t.Helper()
	if _, err := tls.Dial("tcp", strings.TrimPrefix(cp.URL(), "https://"), &tls.Config{}); err == nil {
		t.Fatal("a client that does not know the CA trusts the server")
	}
	if _, err := controlplanetest.Clientset(t, cp).CoreV1().ComponentStatuses().List(t.Context(), metav1.ListOptions{}); err != nil {
		t.Fatal(err)
	}
}

// failToSchedule waits until a pod that fits no node is known to be so.
func failToSchedule(t *testing.T, c *client.Client) {
	t.Helper()
	pods := client.For[*corev1.Pod](c).Namespace("default")
	if _, err := pods.Create(t.Context(), &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: "large"},
		Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "c", Image: "c", Resources: corev1.ResourceRequirements{
			Requests: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("1M")},
		}}}},
	}); err != nil {
		t.Fatal(err)
	}
	waittest.One(t, pods, "large", "unschedulable", func(p *corev1.Pod) bool { return len(p.Status.Conditions) > 0 })
}

// loseAPIService makes an API service that is no longer available, since it has no server.
func loseAPIService(t *testing.T, c *client.Client) {
	t.Helper()
	services := client.For[*apiregistrationv1.APIService](c)
	service, err := services.Create(t.Context(), &apiregistrationv1.APIService{
		ObjectMeta: metav1.ObjectMeta{Name: "v1.example.com"},
		Spec: apiregistrationv1.APIServiceSpec{
			Group: "example.com", Version: "v1", GroupPriorityMinimum: 1, VersionPriority: 1, InsecureSkipTLSVerify: true,
			Service: &apiregistrationv1.ServiceReference{Namespace: "default", Name: "gone", Port: ptr.To[int32](443)},
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	condition := func(s *apiregistrationv1.APIService) apiregistrationv1.ConditionStatus {
		for _, c := range s.Status.Conditions {
			if c.Type == apiregistrationv1.Available {
				return c.Status
			}
		}
		return ""
	}
	service = waittest.One(t, services, service.Name, "its first check", func(s *apiregistrationv1.APIService) bool { return condition(s) != "" })
	service.Status.Conditions = []apiregistrationv1.APIServiceCondition{{Type: apiregistrationv1.Available, Status: apiregistrationv1.ConditionTrue}}
	if _, err := services.UpdateStatus(t.Context(), service); err != nil {
		t.Fatal(err)
	}
	// A change of the Service has it checked again.
	if _, err := client.For[*corev1.Service](c).Namespace("default").Create(t.Context(), &corev1.Service{
		ObjectMeta: metav1.ObjectMeta{Name: "gone"}, Spec: corev1.ServiceSpec{Ports: []corev1.ServicePort{{Port: 443}}},
	}); err != nil {
		t.Fatal(err)
	}
}

// refuseByLevel makes a level of a single seat, without queues, and sends a request while another one has the seat.
func refuseByLevel(t *testing.T, c *client.Client, config *rest.Config) {
	t.Helper()
	none, all := int32(0), []string{"*"}
	level, err := client.For[*flowcontrolv1.PriorityLevelConfiguration](c).Create(t.Context(), &flowcontrolv1.PriorityLevelConfiguration{
		ObjectMeta: metav1.ObjectMeta{Name: "closed"}, Spec: flowcontrolv1.PriorityLevelConfigurationSpec{
			Type: flowcontrolv1.PriorityLevelEnablementLimited, Limited: &flowcontrolv1.LimitedPriorityLevelConfiguration{
				NominalConcurrencyShares: &none, BorrowingLimitPercent: &none, LimitResponse: flowcontrolv1.LimitResponse{Type: flowcontrolv1.LimitResponseTypeReject},
			},
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := client.For[*flowcontrolv1.FlowSchema](c).Create(t.Context(), &flowcontrolv1.FlowSchema{ObjectMeta: metav1.ObjectMeta{Name: "closed"}, Spec: flowcontrolv1.FlowSchemaSpec{
		PriorityLevelConfiguration: flowcontrolv1.PriorityLevelConfigurationReference{Name: "closed"}, MatchingPrecedence: 500,
		Rules: []flowcontrolv1.PolicyRulesWithSubjects{{
			Subjects:      []flowcontrolv1.Subject{{Kind: "User", User: &flowcontrolv1.UserSubject{Name: "ann"}}},
			ResourceRules: []flowcontrolv1.ResourcePolicyRule{{Verbs: all, APIGroups: all, Resources: all, Namespaces: all}},
		}},
	}}); err != nil {
		t.Fatal(err)
	}
	const path = "/api/v1/namespaces/default/configmaps"
	as := func(user string) *http.Client {
		config := rest.CopyConfig(config)
		config.Impersonate = rest.ImpersonationConfig{UserName: user, Groups: []string{"system:authenticated"}}
		h, err := rest.HTTPClientFor(config)
		if err != nil {
			t.Fatal(err)
		}
		return h
	}
	if resp, err := as("bob").Get(config.Host + path); err != nil { // of a level with queues
		t.Fatal(err)
	} else {
		resp.Body.Close()
	}
	h := as("ann")
	ask := func() *http.Response {
		resp, err := h.Get(config.Host + path)
		if err != nil {
			t.Fatal(err)
		}
		resp.Body.Close()
		return resp
	}
	for ask().Header.Get(flowcontrolv1.ResponseHeaderMatchedPriorityLevelConfigurationUID) != string(level.UID) {
	}
	grantConfigMaps(t, c)
	end := make(chan struct{})
	ended := make(chan string, 1) // how the request that had the seat ended
	go func() {
		for { // refused itself, if it comes before the seat of the last request is free, or before the grant is known
			resp, err := h.Post(config.Host+path, "application/json", &openBody{end: end, closed: make(chan struct{})})
			if err != nil {
				ended <- err.Error()
				return
			}
			resp.Body.Close()
			if resp.StatusCode != http.StatusTooManyRequests && resp.StatusCode != http.StatusForbidden {
				ended <- resp.Status
				return
			}
		}
	}()
	for ask().StatusCode != http.StatusTooManyRequests { // until the server reads the body
		select {
		case how := <-ended:
			t.Fatalf("the request that should hold the seat ended: %s", how)
		default:
		}
	}
	close(end)
	<-ended
}

// openBody is the body of a request that ends when its test says so, or when the transport closes it, as it does after a refusal.
type openBody struct {
	end, closed chan struct{}
	once        sync.Once
}

func (b *openBody) Read([]byte) (int, error) {
	select {
	case <-b.end:
		return 0, io.EOF
	case <-b.closed:
		return 0, io.ErrClosedPipe
	}
}

func (b *openBody) Close() error {
	b.once.Do(func() { close(b.closed) })
	return nil
}

// grantConfigMaps lets ann create ConfigMaps.
func grantConfigMaps(t *testing.T, c *client.Client) {
	t.Helper()
	if _, err := client.For[*rbacv1.ClusterRoleBinding](c).Create(t.Context(), &rbacv1.ClusterRoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: "ann"}, RoleRef: rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: "edit"},
		Subjects: []rbacv1.Subject{{APIGroup: rbacv1.GroupName, Kind: "User", Name: "ann"}},
	}); err != nil {
		t.Fatal(err)
	}
}

// exceedLimit sends a body that is larger than all bodies together may be.
func exceedLimit(t *testing.T, config *rest.Config, maxBody int) {
	t.Helper()
	h, err := rest.HTTPClientFor(config)
	if err != nil {
		t.Fatal(err)
	}
	res, err := h.Post(config.Host+"/api/v1/namespaces/default/configmaps", "application/json", bytes.NewReader(make([]byte, 2*maxBody)))
	if err != nil {
		t.Fatal(err)
	}
	res.Body.Close()
	if res.StatusCode != http.StatusTooManyRequests {
		t.Errorf("a body over the limit: %s", res.Status)
	}
}
