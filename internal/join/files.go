package join

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/netip"
	"os"
	"path/filepath"

	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
	"sigs.k8s.io/yaml"
)

// The files of a node, by kubeadm's names where it has them.
const (
	caFile            = "/etc/kubernetes/pki/ca.crt"
	bootstrapFile     = "/etc/kubernetes/bootstrap-kubelet.conf"
	kubeletFile       = "/etc/kubernetes/kubelet.conf"
	kubeletConfigFile = "/var/lib/kubelet/config.yaml"
	certificateFile   = "/var/lib/kubelet/pki/kubelet-client-current.pem"
	proxyFile         = "/etc/kubernetes/kube-proxy.conf"
	proxyConfigFile   = "/etc/kubernetes/kube-proxy.yaml"
	cniFolder         = "/etc/cni/net.d"
	cniFile           = cniFolder + "/10-fairlead.conflist"
)

// bridge is the interface of a node to which its pods are attached.
const bridge = "cni0"

// File is a file that a node needs.
type File struct {
	Path string
	Text []byte
	// Private is a file that only root may read.
	Private bool
}

// write writes the file in place of an older one.
func (f File) write() error {
	if err := os.MkdirAll(filepath.Dir(f.Path), 0o755); err != nil {
		return err
	}
	mode := os.FileMode(0o644)
	if f.Private {
		mode = 0o600
	}
	temporary := f.Path + ".new"
	if err := os.WriteFile(temporary, f.Text, mode); err != nil {
		return err
	}
	return os.Rename(temporary, f.Path)
}

// Joined reports whether this machine has joined a cluster: its kubelet has a certificate and a kubeconfig.
func Joined() bool {
	_, noConfig := os.Stat(kubeletFile)
	_, noCertificate := os.Stat(certificateFile)
	return noConfig == nil && noCertificate == nil
}

// HasCNI reports whether this machine has a CNI configuration that is not of fairlead join.
func HasCNI() bool {
	entries, _ := os.ReadDir(cniFolder)
	for _, e := range entries {
		if ext := filepath.Ext(e.Name()); (ext == ".conf" || ext == ".conflist" || ext == ".json") && e.Name() != filepath.Base(cniFile) {
			return true
		}
	}
	return false
}

// kubeconfig returns a kubeconfig with one user.
func kubeconfig(server string, user clientcmdapi.AuthInfo) ([]byte, error) {
	config := clientcmdapi.NewConfig()
	config.Clusters["cluster"] = &clientcmdapi.Cluster{Server: server, CertificateAuthority: caFile}
	config.AuthInfos["node"] = &user
	config.Contexts["node"] = &clientcmdapi.Context{Cluster: "cluster", AuthInfo: "node"}
	config.CurrentContext = "node"
	return clientcmd.Write(*config)
}

// kubeletSettings returns the KubeletConfiguration: the cluster's, with the settings of the machine, and then the
// operator's, over it.
func (n *Node) kubeletSettings() map[string]any {
	config := maps.Clone(n.ClusterKubelet)
	config["containerRuntimeEndpoint"] = n.Runtime
	if _, set := config["cgroupDriver"]; !set {
		config["cgroupDriver"] = "cgroupfs"
		if _, err := os.Stat("/run/systemd/system"); err == nil {
			config["cgroupDriver"] = "systemd"
		}
	}
	if !cgroups2() {
		config["failCgroupV1"] = false
	}
	const resolved = "/run/systemd/resolve/resolv.conf" // of systemd-resolved, without the loopback address of its stub
	if _, err := os.Stat(resolved); err == nil && config["resolvConf"] == nil {
		config["resolvConf"] = resolved
	}
	maps.Copy(config, n.Kubelet.Settings)
	return config
}

// proxySettings returns the KubeProxyConfiguration.
func (n *Node) proxySettings() map[string]any {
	config := map[string]any{
		"apiVersion": "kubeproxy.config.k8s.io/v1alpha1", "kind": "KubeProxyConfiguration",
		"mode": "nftables", "hostnameOverride": n.Name, "clientConnection": map[string]any{"kubeconfig": proxyFile},
	}
	if n.Address.IsValid() {
		config["bindAddress"] = n.Address.String()
	}
	if !n.OwnCNI {
		config["detectLocalMode"], config["detectLocal"] = "BridgeInterface", map[string]any{"bridgeInterface": bridge}
	}
	maps.Copy(config, n.Proxy.Settings)
	return config
}

// Files returns the files that are written before the kubelet starts.
func (n *Node) Files() ([]File, error) {
	kubelet, err := yaml.Marshal(n.kubeletSettings())
	if err != nil {
		return nil, err
	}
	files := []File{{Path: caFile, Text: n.Cluster.CA}, {Path: kubeletConfigFile, Text: kubelet}}
	if n.Token != "" {
		text, err := kubeconfig(n.Cluster.Server, clientcmdapi.AuthInfo{Token: n.Token})
		if err != nil {
			return nil, err
		}
		files = append(files, File{Path: bootstrapFile, Text: text, Private: true})
	}
	if n.Proxy.Program == "" {
		return files, nil
	}
	proxy, err := yaml.Marshal(n.proxySettings())
	if err != nil {
		return nil, err
	}
	text, err := kubeconfig(n.Cluster.Server, clientcmdapi.AuthInfo{ClientCertificate: certificateFile, ClientKey: certificateFile})
	return append(files, File{Path: proxyConfigFile, Text: proxy}, File{Path: proxyFile, Text: text, Private: true}), err
}

// CNIConfig returns the CNI configuration of a bridge whose pods have addresses of the ranges. It does not masquerade: see
// network.
func CNIConfig(ranges []netip.Prefix) (File, error) {
	var sets, routes []any
	for _, r := range ranges {
		sets = append(sets, []any{map[string]any{"subnet": r.String()}})
		everywhere := "0.0.0.0/0"
		if r.Addr().Is6() {
			everywhere = "::/0"
		}
		routes = append(routes, map[string]any{"dst": everywhere})
	}
	text, err := json.MarshalIndent(map[string]any{
		"cniVersion": "1.0.0", "name": "fairlead",
		"plugins": []any{
			map[string]any{
				"type": "bridge", "bridge": bridge, "isGateway": true, "hairpinMode": true,
				"ipam": map[string]any{"type": "host-local", "ranges": sets, "routes": routes},
			},
			map[string]any{"type": "portmap", "capabilities": map[string]any{"portMappings": true}, "snat": true},
		},
	}, "", "  ")
	if err != nil {
		return File{}, fmt.Errorf("CNI configuration: %w", err)
	}
	return File{Path: cniFile, Text: append(text, '\n')}, nil
}
