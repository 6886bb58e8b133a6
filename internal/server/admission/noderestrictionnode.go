package admission

import (
	"fmt"
	"slices"
	"strings"

	certificatesv1 "k8s.io/api/certificates/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"

	"fairlead.dev/internal/resource/certificates"
)

// node allows a kubelet to write its own Node, except for changes that would attract pods.
func (w nodeWrite) node() error {
	if w.r.Name != w.name {
		return fmt.Errorf("node %q is not allowed to modify node %q", w.name, w.r.Name)
	}
	switch w.r.Verb {
	case Create:
		n := w.r.Object.(*corev1.Node)
		if configSource(n) != nil {
			return fmt.Errorf("node %q is not allowed to create pods with a non-nil configSource", w.name)
		}
		if list := forbiddenLabels(n.Labels, nil); len(list) > 0 {
			return fmt.Errorf("node %q is not allowed to set the following labels: %s", w.name, strings.Join(list, ", "))
		}
	case Update:
		n, old := w.r.Object.(*corev1.Node), w.r.Old.(*corev1.Node)
		if configSource(n) != nil && !equality.Semantic.DeepEqual(configSource(n), configSource(old)) {
			return fmt.Errorf("node %q is not allowed to update configSource to a new non-nil configSource", w.name)
		}
		if !equality.Semantic.DeepEqual(n.Spec.Taints, old.Spec.Taints) {
			return fmt.Errorf("node %q is not allowed to modify taints", w.name)
		}
		if !equality.Semantic.DeepEqual(n.OwnerReferences, old.OwnerReferences) {
			return fmt.Errorf("node %q is not allowed to modify ownerReferences", w.name)
		}
		if list := forbiddenLabels(n.Labels, old.Labels); len(list) > 0 {
			return fmt.Errorf("is not allowed to modify labels: %s", strings.Join(list, ", "))
		}
	}
	return nil
}

// kubeletLabels are the kubernetes.io labels that kubelets may set on their nodes.
var kubeletLabels = []string{
	corev1.LabelHostname, corev1.LabelTopologyZone, corev1.LabelTopologyRegion, corev1.LabelFailureDomainBetaZone,
	corev1.LabelFailureDomainBetaRegion, corev1.LabelInstanceType, corev1.LabelInstanceTypeStable, corev1.LabelOSStable,
	corev1.LabelArchStable, "beta.kubernetes.io/os", "beta.kubernetes.io/arch",
}

// forbiddenLabels returns the changed labels that a kubelet may not change, sorted.
func forbiddenLabels(now, was map[string]string) (list []string) {
	look := func(a, b map[string]string) {
		for k, v := range a {
			if old, ok := b[k]; (!ok || old != v) && isForbiddenLabel(k) && !slices.Contains(list, k) {
				list = append(list, k)
			}
		}
	}
	look(now, was)
	look(was, now)
	slices.Sort(list)
	return list
}

func isForbiddenLabel(key string) bool {
	domain, _, ok := strings.Cut(key, "/")
	if !ok {
		return false
	}
	in := func(d string) bool { return domain == d || strings.HasSuffix(domain, "."+d) }
	if in(corev1.LabelNamespaceNodeRestriction) {
		return true
	}
	kubelets := slices.Contains(kubeletLabels, key) || in(corev1.LabelNamespaceSuffixKubelet) || in(corev1.LabelNamespaceSuffixNode)
	return (in("kubernetes.io") || in("k8s.io")) && !kubelets
}

// request requires kubelet certificate requests to be for the requesting node.
func (w nodeWrite) request() error {
	if w.r.Verb != Create {
		return nil
	}
	csr := w.r.Object.(*certificatesv1.CertificateSigningRequest)
	switch csr.Spec.SignerName {
	case certificatesv1.KubeletServingSignerName, certificatesv1.KubeAPIServerClientKubeletSignerName:
	default:
		return nil
	}
	parsed, err := certificates.ParseRequest(csr.Spec.Request)
	if err != nil {
		return fmt.Errorf("unable to parse csr: %w", err)
	}
	if parsed.Subject.CommonName != "system:node:"+w.name {
		return fmt.Errorf("can only create a node CSR with CN=system:node:%s", w.name)
	}
	return nil
}

// configSource returns the source of the kubelet's configuration in a Node.
func configSource(n *corev1.Node) *corev1.NodeConfigSource {
	//lint:ignore SA1019 clients can still send it, and kube-apiserver refuses it
	return n.Spec.ConfigSource
}
