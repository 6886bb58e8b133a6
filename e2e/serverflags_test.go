package e2e

import (
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"k8s.io/client-go/rest"
)

// TestServerFlags: a whole control plane takes kube-apiserver's flags, with the same effect.
func TestServerFlags(t *testing.T) {
	dir, tokens := t.TempDir(), filepath.Join(t.TempDir(), "tokens.csv")
	if err := os.WriteFile(tokens, []byte(`secret-of-jane,jane,1000,"readers"`+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	p := launch(t, "up", "--in-memory", "--data-dir", dir, "--listen=127.0.0.1:0", "--nodes=0",
		"--token-auth-file", tokens, "--anonymous-auth=false", "--service-cluster-ip-range=10.20.0.0/16", "--allow-privileged=false",
		"--runtime-config=flowcontrol.apiserver.k8s.io/v1=false", "--emulated-version=1.36", "--disable-admission-plugins=DefaultTolerationSeconds")

	expect(t, "service", p.kubectl("get", "service", "kubernetes", "-o", "jsonpath={.spec.clusterIP}"), "10.20.0.1")
	expect(t, "version", p.kubectl("get", "--raw=/version"), `"emulationMinor": "36"`)
	expect(t, "disabled API", p.kubectlFails("get", "flowschemas"), "the server doesn't have a resource type")

	pod := func(more string) string {
		return `{apiVersion: v1, kind: Pod, metadata: {name: web}, spec: {containers: [{name: c, image: nginx` + more + `}]}}`
	}
	cmd, cancel := p.command("create", "-f", "-")
	defer cancel()
	cmd.Stdin = strings.NewReader(pod(", securityContext: {privileged: true}"))
	out, err := cmd.CombinedOutput()
	if err == nil {
		t.Error("a privileged pod was created")
	}
	expect(t, "privileged pod", string(out), "disallowed by cluster policy")
	p.kubectl("wait", "--for=create", "serviceaccount/default", "--timeout=90s")
	p.kubectlWithInput(pod(""), "create", "-f", "-")
	if tolerations := p.kubectl("get", "pod", "web", "-o", "jsonpath={.spec.tolerations}"); tolerations != "" {
		t.Errorf("DefaultTolerationSeconds is disabled, but the pod has tolerations: %s", tolerations)
	}

	jane := func(args ...string) string {
		cmd := exec.Command(bin.kubectl, append([]string{"--kubeconfig=/dev/null", "--server", p.Server, "--certificate-authority", filepath.Join(dir, "ca.crt")}, args...)...)
		out, _ := cmd.CombinedOutput()
		return string(out)
	}
	expect(t, "token", jane("--token=secret-of-jane", "auth", "whoami"), "jane", "readers", "system:authenticated")
	expect(t, "user without rights", jane("--token=secret-of-jane", "get", "secrets"), `User "jane" cannot list resource "secrets"`)
	expect(t, "wrong token", jane("--token=wrong", "get", "secrets"), "Unauthorized")
	config := p.config()
	config.CertData, config.KeyData, config.CertFile, config.KeyFile = nil, nil, "", ""
	anonymous, err := rest.HTTPClientFor(config)
	if err != nil {
		t.Fatal(err)
	}
	res, err := anonymous.Get(p.Server + "/version")
	if err != nil {
		t.Fatal(err)
	}
	if res.Body.Close(); res.StatusCode != http.StatusUnauthorized {
		t.Errorf("a request without credentials: %s", res.Status)
	}
}

// TestServerFlagErrors: a flag with a wrong value is named, and the exit code is that of wrong usage.
func TestServerFlagErrors(t *testing.T) {
	for _, c := range []struct{ flags, want string }{
		{"--authorization-mode=Nobody", "--authorization-mode=Nobody: want ABAC"},
		{"--authorization-mode=Webhook", "--authorization-webhook-config-file"},
		{"--tls-cert-file=server.crt", "--tls-private-key-file"},
		{"--service-cluster-ip-range=10.20.0.0", "is not a valid cidr"},
		{"--enable-admission-plugins=Nonsense", `enable-admission-plugins plugin "Nonsense" is unknown`},
		{"--runtime-config=batch/v7=true", "batch/v7"},
		{"--emulated-version=1.12", "1.12"},
		{"--feature-gates=Nonsense=true", "Nonsense"},
		{"--max-requests-inflight=-1", "want 0 or more"},
		{"--max-requests-inflight=0 --max-mutating-requests-inflight=0", "--enable-priority-and-fairness=false"},
		{"--event-ttl=0", "want more than 0"},
		{"--service-account-max-token-expiration=1m", "1 hour"},
		{"--authentication-token-webhook-cache-ttl=long", "--authentication-token-webhook-cache-ttl"},
		{"--authentication-token-webhook-config-file=x --authentication-token-webhook-version=v2", "--authentication-token-webhook-version=v2: want v1beta1 or v1"},
		{"--requestheader-allowed-names=a,", "--requestheader-allowed-names"},
		{"--requestheader-username-headers=X-Remote-User,", "--requestheader-username-headers"},
		{"--requestheader-group-headers=X-Remote-Group,", "--requestheader-group-headers"},
		{"--requestheader-extra-headers-prefix=X-Remote-Extra-,", "--requestheader-extra-headers-prefix"},
		{"--requestheader-uid-headers=X-Number", "--requestheader-uid-headers: want X-Remote-Uid too"},
		{"--etcd-servers-overrides=events#http://127.0.0.1:1", "--etcd-servers-overrides invalid, must be of format: group/resource#servers"},
		{"--etcd-servers-overrides=/events", "--etcd-servers-overrides invalid"},
		{"--etcd-servers-overrides=/events#http://127.0.0.1:1;", "--etcd-servers-overrides invalid"},
		{"--etcd-servers-overrides=/events#http://127.0.0.1:1", "--etcd-servers must be specified"},
		{"--etcd-servers=http://127.0.0.1:1 --etcd-servers-overrides=/services#http://127.0.0.1:1", "services and ipaddresses.networking.k8s.io must be in the same store"},
		{"--etcd-servers=http://127.0.0.1:1 --etcd-servers-overrides=/events#http://127.0.0.1:1 --trace-events=100", "--trace-events excludes --etcd-servers-overrides"},
	} {
		args := append([]string{"server", "--in-memory", "--listen=127.0.0.1:0", "--data-dir", t.TempDir()}, strings.Fields(c.flags)...)
		out, err := exec.Command(bin.fairlead, args...).CombinedOutput()
		if exit, ok := err.(*exec.ExitError); !ok || exit.ExitCode() != 2 {
			t.Errorf("%s: %v, want exit code 2", c.flags, err)
		}
		expect(t, c.flags, string(out), c.want)
	}
}
