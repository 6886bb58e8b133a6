//go:build linux

package realnode

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"text/template"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// nodeFiles are a node's configuration files, by their paths in the machine.
var nodeFiles = map[string]*template.Template{
	"/etc/containerd/config.toml":                 parse("containerd.toml"),
	"/etc/containerd/certs.d/_default/hosts.toml": parse("hosts.toml"),
	"/etc/kubernetes/resolv.conf":                 parse("resolv.conf"),
	kubeletSettings:                               parse("kubelet.yaml"),
	proxySettings:                                 parse("proxy.yaml"),
}

// nodeValues are the values in the templates of nodeFiles.
type nodeValues struct{ Server, Registry, Pause, Cgroup string }

// In a node's machine.
const (
	containerdSocket = "/run/containerd/containerd.sock"
	kubeletSettings  = "/etc/fairlead/kubelet.yaml"
	proxySettings    = "/etc/fairlead/kube-proxy.yaml"
	joinLine         = "/etc/fairlead/join"
)

// join starts a node's programs by the command line for joining, and waits until it is Ready.
// The server's machine gets a route to its pods.
func (c *Cluster) join(ctx context.Context, n *Machine, line string) error {
	if err := c.prepareHost(ctx, n); err != nil {
		return err
	}
	if err := n.write(joinLine, []byte(line)); err != nil {
		return err
	}
	if err := c.StartNode(ctx, n); err != nil {
		return err
	}
	if err := c.UntilReady(ctx, n.Name); err != nil {
		return err
	}
	node, err := c.Client.CoreV1().Nodes().Get(ctx, n.Name, metav1.GetOptions{})
	if err != nil {
		return err
	}
	return c.Server.ip(fmt.Sprintf("route replace %s via %s", node.Spec.PodCIDR, nodeIP(c.number(n))))
}

// prepareHost writes the configuration of a machine's programs and starts its container runtime.
func (c *Cluster) prepareHost(ctx context.Context, m *Machine) error {
	values := nodeValues{Server: serverIP, Registry: "http://" + serverIP + ":" + registryPort, Pause: c.kit.pauseImage(), Cgroup: "/" + string(m.group)}
	for name, text := range nodeFiles {
		var out bytes.Buffer
		if err := text.Execute(&out, values); err != nil {
			return err
		}
		if err := m.write(name, out.Bytes()); err != nil {
			return err
		}
	}
	if err := m.write("/etc/kubernetes/manifests/.keep", nil); err != nil { // the folder of static pods
		return err
	}
	return c.startRuntime(ctx, m)
}

// startRuntime starts containerd in a machine, unless it runs.
func (c *Cluster) startRuntime(ctx context.Context, m *Machine) error {
	if len(m.Processes("containerd")) > 0 {
		return nil
	}
	socket := m.path(containerdSocket)
	if err := os.MkdirAll(filepath.Dir(socket), 0o755); err != nil {
		return err
	}
	if err := os.Remove(socket); err != nil && !os.IsNotExist(err) {
		return err
	}
	if err := m.serve("containerd", "--config=/etc/containerd/config.toml"); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	if err := untilFile(ctx, socket, func() bool {
		_, err := os.Stat(socket)
		return err == nil
	}); err != nil {
		return fmt.Errorf("%s: containerd did not start (see %s): %w", m.Name, m.Log("containerd"), err)
	}
	return nil
}

// StartNode starts the programs of a node, for the first time or after Kill: those that do not
// run.
func (c *Cluster) StartNode(ctx context.Context, n *Machine) error {
	if err := c.startRuntime(ctx, n); err != nil {
		return err
	}
	if len(n.Processes("fairlead")) > 0 {
		return nil
	}
	line, err := os.ReadFile(n.path(joinLine))
	if err != nil {
		return err
	}
	words := append(strings.Fields(string(line)), c.joinArgs(n)...) // "fairlead join" and its arguments
	return n.serve(words[0], words[1:]...)
}

// joinArgs are the arguments of `fairlead join` that follow from the machine.
func (c *Cluster) joinArgs(m *Machine) []string {
	return []string{"--node-ip=" + nodeIP(c.number(m)), "--cni-bin-dir=/usr/lib/cni",
		"--kubelet-config=" + kubeletSettings, "--kubelet-arg=--v=2", "--kube-proxy-config=" + proxySettings}
}

// number is where a machine stands in hosts.
func (c *Cluster) number(m *Machine) int {
	return slices.IndexFunc(c.hosts(), func(h *Machine) bool { return h.Name == m.Name })
}

// UntilReady waits until a node is Ready.
func (c *Cluster) UntilReady(ctx context.Context, node string) error {
	return c.UntilNode(ctx, node, "Ready", func(n *corev1.Node) bool { return Ready(n) == corev1.ConditionTrue })
}

// Ready is the status of a node's condition of that name.
func Ready(n *corev1.Node) corev1.ConditionStatus {
	for _, condition := range n.Status.Conditions {
		if condition.Type == corev1.NodeReady {
			return condition.Status
		}
	}
	return corev1.ConditionUnknown
}

// path is where something of a running machine is for programs outside.
func (m *Machine) path(inside string) string {
	return fmt.Sprintf("/proc/%d/root%s", m.init, inside)
}

// write writes a file of a running machine.
func (m *Machine) write(inside string, contents []byte) error {
	at := m.path(inside)
	if err := os.MkdirAll(filepath.Dir(at), 0o755); err != nil {
		return err
	}
	return os.WriteFile(at, contents, 0o600)
}
