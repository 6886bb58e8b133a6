package e2e

import (
	"io"
	"net/http"
	"os"
	"slices"
	"strings"
	"testing"

	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"
	"k8s.io/client-go/rest"
)

// elsewhere are the families that kubernetes-mixin reads from other programs than a control plane, by the beginning of their
// names.
var elsewhere = []struct{ prefix, reason string }{
	{"container_", "cAdvisor's, which a kubelet serves at its own address"},
	{"kube_", "kube-state-metrics makes them of objects"},
	{"kubelet_", "a kubelet serves them at its own address"},
	{"kubeproxy_", "kube-proxy's: simulated nodes forward no packets"},
	{"node_", "node_exporter's"},
	{"scheduler_volume_scheduling_duration_seconds", "kube-scheduler does not have it any more, and the dashboard's panel is empty there, too"},
	{"storage_operation_", "of a kubelet's volume plugins"},
	{"up", "Prometheus makes it of its scrapes"},
	{"volume_manager_", "of a kubelet's volume manager"},
	{"windows_", "windows_exporter's"},
}

// TestKubernetesMixin checks that `fairlead up` serves the families, with their labels, that kubernetes-mixin reads, except those
// of other programs.
func TestKubernetesMixin(t *testing.T) {
	p := up(t, t.TempDir(), "--nodes", "1")
	p.settled()
	p.kubectl("create", "deployment", "web", "--image=web")
	p.kubectl("wait", "--for=condition=available", "deployment/web", "--timeout="+patience.String())
	p.loseAPIService()
	p.outlast()
	reads := mixinFamilies(t)
	var missing map[string]string
	// An API service is checked, and a reconcile counted, some time after the object has changed.
	eventually(t, "families that were counted only once", func() bool {
		missing = lacks(reads, p.families())
		return missing["aggregator_unavailable_apiservice_total"] == "" && missing["workqueue_queue_duration_seconds"] == ""
	})
	used := map[string]bool{}
	for name, why := range missing {
		at := slices.IndexFunc(elsewhere, func(e struct{ prefix, reason string }) bool { return strings.HasPrefix(name, e.prefix) })
		if at < 0 {
			t.Errorf("kubernetes-mixin reads %s: %s", name, why)
			continue
		}
		used[elsewhere[at].prefix] = true
	}
	for _, e := range elsewhere {
		if !used[e.prefix] {
			t.Errorf("no family that begins with %s is missing", e.prefix)
		}
	}
}

// mixinFamilies returns the labels that kubernetes-mixin reads, by family.
func mixinFamilies(t *testing.T) map[string][]string {
	t.Helper()
	text, err := os.ReadFile("testdata/kubernetes-mixin.txt")
	if err != nil {
		t.Fatal(err)
	}
	all := map[string][]string{}
	for line := range strings.Lines(string(text)) {
		if line = strings.TrimSpace(line); line == "" || line[0] == '#' {
			continue
		}
		name, labels, _ := strings.Cut(line, " ")
		all[name] = strings.FieldsFunc(labels, func(r rune) bool { return r == ',' })
	}
	return all
}

// families returns the families of /metrics.
func (p *process) families() map[string]*dto.MetricFamily {
	p.t.Helper()
	parser := expfmt.NewTextParser(model.LegacyValidation)
	all, err := parser.TextToMetricFamilies(strings.NewReader(p.kubectl("get", "--raw", "/metrics") + "\n"))
	if err != nil {
		p.t.Fatal(err)
	}
	return all
}

// lacks returns the families that are missing, or that have a sample without a label, with the reason.
func lacks(reads map[string][]string, served map[string]*dto.MetricFamily) map[string]string {
	missing := map[string]string{}
	for name, labels := range reads {
		family := served[name]
		if family == nil {
			missing[name] = "it is not served"
			continue
		}
		for _, m := range family.Metric {
			for _, label := range labels {
				if !slices.ContainsFunc(m.Label, func(l *dto.LabelPair) bool { return l.GetName() == label }) {
					missing[name] = "no label " + label
				}
			}
		}
	}
	return missing
}

// loseAPIService makes an API service that is no longer available, since it has no server.
func (p *process) loseAPIService() {
	p.t.Helper()
	p.kubectlWithInput(`apiVersion: apiregistration.k8s.io/v1
kind: APIService
metadata: {name: v1.example.com}
spec: {group: example.com, version: v1, groupPriorityMinimum: 1, versionPriority: 1, insecureSkipTLSVerify: true, service: {namespace: default, name: gone}}
`, "create", "-f", "-")
	p.kubectl("wait", "--for=condition=Available=false", "apiservice/v1.example.com", "--timeout="+patience.String())
	p.kubectl("patch", "apiservice", "v1.example.com", "--subresource=status", "--type=merge", "-p", `{"status": {"conditions": [{"type": "Available", "status": "True"}]}}`)
	p.kubectl("create", "service", "clusterip", "gone", "--tcp=443") // a change of the Service has it checked again
}

// outlast sends a request that the server ends because its body does not come.
func (p *process) outlast() {
	p.t.Helper()
	config := p.config()
	h, err := rest.HTTPClientFor(config)
	if err != nil {
		p.t.Fatal(err)
	}
	body, end := io.Pipe()
	defer end.Close()
	res, err := h.Post(config.Host+"/api/v1/namespaces/default/configmaps?timeout=100ms", "application/json", body)
	if err != nil {
		p.t.Fatal(err)
	}
	defer res.Body.Close()
	if res.StatusCode != http.StatusGatewayTimeout {
		p.t.Errorf("a request without an end: %s", res.Status)
	}
}
