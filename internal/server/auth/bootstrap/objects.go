package bootstrap

import (
	"encoding/json"
	"net/netip"
	"time"

	corev1 "k8s.io/api/core/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"fairlead.dev/internal/server/auth/cert"
)

// Options are the particulars of a cluster.
type Options struct {
	// ServiceCIDRs are the ranges of cluster IPs; the first address of the first is the kubernetes service's. Without a range there
	// is no such service.
	ServiceCIDRs []netip.Prefix
	// Address and Port are the API server's.
	Address netip.Addr
	Port    int
	// NodePort is the node port of the kubernetes service; with 0 it has the type ClusterIP.
	NodePort int
	// ClientCA, in PEM, is published for servers that verify client certificates themselves; it may be empty.
	ClientCA string
	// FrontProxyCA, in PEM, is published with it: a client with a certificate of this CA, in one of the names, may pass
	// users in the headers. Without names, any may.
	FrontProxyCA    string
	FrontProxyNames []string
	UserHeaders     cert.Headers
	// Gate reports whether a feature gate that gives roles further rules is on; nil: none is.
	Gate func(name string) bool
	// Fairness: the server tells requests apart by FlowSchemas.
	Fairness bool
}

// FrontProxy is the name in the certificate of a server that forwards requests.
const FrontProxy = "front-proxy-client"

// Objects returns all objects of a new cluster, in the order in which they can be created. Each call returns new
// objects.
func Objects(o Options) []runtime.Object {
	var list []runtime.Object
	for _, name := range []string{"kube-system", "kube-public", "kube-node-lease", "default"} {
		list = append(list, &corev1.Namespace{
			TypeMeta:   metav1.TypeMeta{APIVersion: "v1", Kind: "Namespace"},
			ObjectMeta: metav1.ObjectMeta{Name: name},
		})
	}
	if o.Gate == nil {
		o.Gate = func(string) bool { return false }
	}
	list = append(list, Policy(o.Gate)...)
	list = append(list, priorityClasses()...)
	list = append(list, Flows(o.Fairness)...)
	list = append(list, Service(o)...)
	if o.ClientCA != "" {
		list = append(list, Trust(o))
	}
	return append(list, &corev1.ConfigMap{
		TypeMeta:   metav1.TypeMeta{APIVersion: "v1", Kind: "ConfigMap"},
		ObjectMeta: metav1.ObjectMeta{Name: tracking, Namespace: "kube-system"},
		Data:       map[string]string{"since": time.Now().UTC().Format(time.DateOnly)},
	})
}

// TrustName is the ConfigMap in kube-system that publishes the CAs this server trusts, so that other servers can
// trust them too.
const TrustName = "extension-apiserver-authentication"

// Trust returns that ConfigMap.
func Trust(o Options) *corev1.ConfigMap {
	return &corev1.ConfigMap{
		TypeMeta:   metav1.TypeMeta{APIVersion: "v1", Kind: "ConfigMap"},
		ObjectMeta: metav1.ObjectMeta{Name: TrustName, Namespace: "kube-system"},
		Data: map[string]string{
			"client-ca-file":                     o.ClientCA,
			"requestheader-allowed-names":        array(o.FrontProxyNames),
			"requestheader-client-ca-file":       o.FrontProxyCA,
			"requestheader-extra-headers-prefix": array(o.UserHeaders.ExtraPrefixes),
			"requestheader-group-headers":        array(o.UserHeaders.Groups),
			"requestheader-uid-headers":          array(o.UserHeaders.UIDs),
			"requestheader-username-headers":     array(o.UserHeaders.Users),
		},
	}
}

// array returns the names as a JSON array.
func array(names []string) string {
	text, _ := json.Marshal(append([]string{}, names...)) // strings always have a form in JSON
	return string(text)
}

// tracking is the ConfigMap with the date since which uses of legacy service account tokens are recorded on them:
// the cluster's creation.
const tracking = "kube-apiserver-legacy-service-account-token-tracking"

func priorityClasses() []runtime.Object {
	class := func(name string, value int32, description string) runtime.Object {
		return &schedulingv1.PriorityClass{
			TypeMeta:    metav1.TypeMeta{APIVersion: "scheduling.k8s.io/v1", Kind: "PriorityClass"},
			ObjectMeta:  metav1.ObjectMeta{Name: name},
			Value:       value,
			Description: description,
		}
	}
	return []runtime.Object{
		class("system-node-critical", 2_000_001_000, "Used for system critical pods that must not be moved from their current node."),
		class("system-cluster-critical", 2_000_000_000, "Used for system critical pods that must run in the cluster, but can be moved to another node if necessary."),
	}
}
