package join

import (
	"context"
	"fmt"
	"os/exec"
	"strings"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation"
	"sigs.k8s.io/yaml"

	"fairlead.dev/client"
	"fairlead.dev/internal/nodekind"
	"fairlead.dev/internal/versionskew"
)

// CheckName returns an error if a node cannot have the name: it is not valid, or another node that is alive has it. A node of
// that name that is not Ready is taken for this one, which comes back.
func CheckName(ctx context.Context, c *client.Client, name string) error {
	if errs := validation.IsDNS1123Subdomain(name); len(errs) > 0 {
		return fmt.Errorf("--node-name=%s: %s", name, errs[0])
	}
	node, err := client.For[*corev1.Node](c).Get(ctx, name)
	switch {
	case apierrors.IsNotFound(err):
		return nil
	case apierrors.IsUnauthorized(err):
		return fmt.Errorf("the server does not accept the token (it has expired, or is not for authentication): %w", err)
	case err != nil:
		return err
	case nodekind.IsSimulated(node):
		return fmt.Errorf("the name %s is that of a simulated node: choose another one with --node-name", name)
	case isReady(node):
		return fmt.Errorf("the node %s is Ready, so another machine has that name: choose another one with --node-name, or delete the node if it is gone", name)
	}
	return nil
}

func isReady(n *corev1.Node) bool {
	for _, c := range n.Status.Conditions {
		if c.Type == corev1.NodeReady {
			return c.Status == corev1.ConditionTrue
		}
	}
	return false
}

// Learn reads the cluster's KubeletConfiguration, of the ConfigMap kubelet-config, and returns an error if the node's kubelet
// may not join by its version.
func (n *Node) Learn(ctx context.Context, c *client.Client) error {
	m, err := client.For[*corev1.ConfigMap](c).Namespace(metav1.NamespaceSystem).Get(ctx, "kubelet-config")
	if err != nil {
		return err
	}
	n.ClusterKubelet = map[string]any{}
	if err := yaml.Unmarshal([]byte(m.Data["kubelet"]), &n.ClusterKubelet); err != nil {
		return fmt.Errorf("the ConfigMap kubelet-config: %w", err)
	}
	served, err := serverVersion(ctx, c)
	if err != nil {
		return err
	}
	printed, err := exec.CommandContext(ctx, n.Kubelet.Program, "--version").Output() // such as: Kubernetes v1.37.2
	if err != nil {
		return fmt.Errorf("%s --version: %w", n.Kubelet.Program, err)
	}
	return versionskew.CheckKubelet(strings.TrimPrefix(strings.TrimSpace(string(printed)), "Kubernetes "), served)
}
