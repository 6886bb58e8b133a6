//go:build linux && realnode

package realnode

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
)

// earlierKubelet builds upstream's kubelet of the minor version before that of the nodes, from a module of
// its own, and returns its path in the machines and its version.
func earlierKubelet(t *testing.T) (path, version string) {
	t.Helper()
	const module = "programs/kubelet"
	version, err := output(filepath.Join(cluster.kit.source, module), "go", "list", "-m", "-f", "{{.Version}}", "k8s.io/kubernetes")
	must(t, err)
	return installKubelet(t, module, version), version
}

// stampedKubelet builds the nodes' kubelet with another version stamped into it by the linker: there is
// no kubelet yet that is newer than the server.
func stampedKubelet(t *testing.T, version string) string {
	t.Helper()
	return installKubelet(t, "..", version)
}

func installKubelet(t *testing.T, module, version string) string {
	t.Helper()
	p := program{"kubelet-" + version, module, "k8s.io/kubernetes/cmd/kubelet", kubernetesFlags(version)}
	must(t, cluster.kit.ensure(p, t.Logf))
	path, err := cluster.Server.Install(filepath.Join(cluster.kit.bin(), p.name), filepath.Join(version, "kubelet"))
	must(t, err)
	return path
}

// kubeletConfig is the configuration of a kubelet without `fairlead join`, but for the settings of the machine.
const kubeletConfig = `apiVersion: kubelet.config.k8s.io/v1beta1
kind: KubeletConfiguration
containerRuntimeEndpoint: unix://` + containerdSocket + `
failCgroupV1: false
rotateCertificates: true
authentication: {x509: {clientCAFile: %s}}
`

// startKubelet starts a kubelet without `fairlead join` in the spare machine, which shall get its certificate
// by a bootstrap token. The kubelet is stopped when the test ends. Its output is appended to the
// file log, which has after bytes before.
func startKubelet(t *testing.T, node, token string) (log string, after int) {
	t.Helper()
	m := cluster.Spares[0]
	id, _, _ := strings.Cut(token, ".")
	dir := "/var/lib/kubelet-" + id
	t.Cleanup(func() { must(t, m.Stop("kubelet")) })
	ca, err := os.ReadFile(filepath.Join(cluster.Server.Root(), dataInside, "pki", "ca.crt"))
	must(t, err)
	bootstrap, err := clientcmd.Write(clientcmdapi.Config{
		Clusters:       map[string]*clientcmdapi.Cluster{"c": {Server: "https://" + serverAddress, CertificateAuthorityData: ca}},
		AuthInfos:      map[string]*clientcmdapi.AuthInfo{"token": {Token: token}},
		Contexts:       map[string]*clientcmdapi.Context{"c": {Cluster: "c", AuthInfo: "token"}},
		CurrentContext: "c",
	})
	must(t, err)
	settings, err := os.ReadFile(m.path(kubeletSettings))
	must(t, err)
	for name, text := range map[string][]byte{
		"ca.crt": ca, "bootstrap.conf": bootstrap, "config.yaml": append(fmt.Appendf(nil, kubeletConfig, dir+"/ca.crt"), settings...),
	} {
		must(t, m.write(filepath.Join(dir, name), text))
	}
	before, err := os.ReadFile(m.Log("kubelet"))
	if err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	must(t, m.serve("kubelet", "--config="+dir+"/config.yaml", "--bootstrap-kubeconfig="+dir+"/bootstrap.conf", "--kubeconfig="+dir+"/kubelet.conf",
		"--cert-dir="+dir+"/pki", "--root-dir="+dir, "--hostname-override="+node, "--v=2"))
	return m.Log("kubelet"), len(before)
}

// untilLogged waits until a file has a text for so many times after its first bytes.
func untilLogged(t *testing.T, log string, after int, text string, times int) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	if err := untilText(ctx, log, after, func(all []byte) bool { return bytes.Count(all, []byte(text)) >= times }); err != nil {
		all, _ := os.ReadFile(log)
		t.Fatalf("%d times %q in %s: %v\n%s", times, text, log, err, all[min(after, len(all)):])
	}
}
