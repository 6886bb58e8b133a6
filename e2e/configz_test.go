package e2e

import (
	"encoding/json"
	"net/http"
	"reflect"
	"slices"
	"testing"

	"k8s.io/client-go/rest"
)

// configz starts a part with an address of its own, and returns what an administrator reads at its /configz.
func (p *process) configz(t *testing.T, part ...string) map[string]map[string]any {
	t.Helper()
	port := freePort(t)
	p.part(append(part, "--secure-port="+port, "--bind-address=127.0.0.1")...)
	config := rest.CopyConfig(p.config())
	config.TLSClientConfig.Insecure, config.TLSClientConfig.CAData, config.TLSClientConfig.CAFile = true, nil, ""
	admin, err := rest.HTTPClientFor(config)
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]map[string]any{}
	eventually(t, "/configz of "+part[0], func() bool {
		res, err := admin.Get("https://127.0.0.1:" + port + "/configz")
		if err != nil {
			return false
		}
		defer res.Body.Close()
		if res.StatusCode != http.StatusOK { // the part learns by a watch whose certificates it trusts
			return false
		}
		if got := res.Header.Get("Content-Type"); got != "application/json" {
			t.Errorf("%s: Content-Type %q", part[0], got)
		}
		if err := json.NewDecoder(res.Body).Decode(&all); err != nil {
			t.Fatal(err)
		}
		return true
	})
	return all
}

// TestConfigz: the parts serve their configuration under the names of kube-controller-manager and kube-scheduler, as JSON of the
// external types: those of the former have Go's names at the top, those of the latter JSON's.
func TestConfigz(t *testing.T) {
	t.Parallel()
	p := launch(t, "server", "--in-memory", "--data-dir", t.TempDir(), "--listen", "127.0.0.1:0")
	defer p.stop()
	election := func(lease string) map[string]any {
		return map[string]any{
			"leaderElect": true, "leaseDuration": "20s", "renewDeadline": "12s", "retryPeriod": "3s",
			"resourceLock": "leases", "resourceName": lease, "resourceNamespace": "kube-system",
		}
	}
	times := []string{"--leader-elect-lease-duration=20s", "--leader-elect-renew-deadline=12s", "--leader-elect-retry-period=3s"}

	all := p.configz(t, append([]string{"controllers", "--controllers=job,-cronjob"}, times...)...)
	want := map[string]any{
		"kind": "KubeControllerManagerConfiguration", "apiVersion": "kubecontrollermanager.config.k8s.io/v1alpha1",
		"Generic": map[string]any{"Controllers": []any{"job", "-cronjob"}, "LeaderElection": election("kube-controller-manager")},
	}
	if got := all["kubecontrollermanager.config.k8s.io"]; len(all) != 1 || !reflect.DeepEqual(got, want) {
		t.Errorf("controllers: %v, want %v", all, want)
	}

	all = p.configz(t, append([]string{"scheduler"}, times...)...)
	got := all["componentconfig"]
	if len(all) != 1 || got["kind"] != "KubeSchedulerConfiguration" || got["apiVersion"] != "kubescheduler.config.k8s.io/v1" || !reflect.DeepEqual(got["leaderElection"], election("kube-scheduler")) {
		t.Errorf("scheduler: %v", all)
	}
	for _, name := range []string{"parallelism", "clientConnection", "enableProfiling", "enableContentionProfiling", "percentageOfNodesToScore", "podInitialBackoffSeconds", "podMaxBackoffSeconds"} {
		if _, ok := got[name]; !ok {
			t.Errorf("scheduler: no %s in %v", name, got)
		}
	}
	profiles, _ := got["profiles"].([]any)
	if len(profiles) != 1 {
		t.Fatalf("scheduler: profiles %v", got["profiles"])
	}
	profile, _ := profiles[0].(map[string]any)
	plugins, _ := profile["pluginConfig"].([]any)
	fits := func(p any) bool {
		of, _ := p.(map[string]any)
		args, _ := of["args"].(map[string]any)
		return of["name"] == "NodeResourcesFit" && args["kind"] == "NodeResourcesFitArgs"
	}
	if profile["schedulerName"] != "default-scheduler" || !slices.ContainsFunc(plugins, fits) {
		t.Errorf("scheduler: profile %v", profile)
	}
}
