package clusters

import (
	"encoding/json"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
)

// GroupVersion is that of Cluster.
var GroupVersion = schema.GroupVersion{Group: "fairlead.dev", Version: "v1"}

// Resource names the clusters in errors and RBAC rules.
var Resource = GroupVersion.WithResource("clusters").GroupResource()

// Scheme knows Cluster, and the kinds of the core group.
var Scheme = newScheme()

func newScheme() *runtime.Scheme {
	s := runtime.NewScheme()
	utilruntime.Must(corev1.AddToScheme(s))
	s.AddKnownTypes(GroupVersion, &Cluster{}, &ClusterList{})
	metav1.AddToGroupVersion(s, GroupVersion)
	return s
}

// Cluster is a control plane that the server hosts.
type Cluster struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata"`
	Spec              Spec   `json:"spec"`
	Status            Status `json:"status,omitzero"`
}

// ClusterList is a list of Clusters.
type ClusterList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata"`
	Items           []Cluster `json:"items"`
}

// Spec is the desired control plane. Only Resets may change.
type Spec struct {
	// From makes it a fork; nil begins without objects.
	From *Origin `json:"from,omitempty"`
	// Controllers, Scheduler and Nodes are as the flags of fairlead up: nil means all controllers, a scheduler and three
	// nodes. A fork has those of its origin.
	Controllers []string `json:"controllers,omitempty"`
	Scheduler   *bool    `json:"scheduler,omitempty"`
	Nodes       *int     `json:"nodes,omitempty"`
	// Storage limits the size of all objects; nil is no limit.
	Storage *resource.Quantity `json:"storage,omitempty"`
	// Redirects has, for an address of a webhook (host and port), the address to call in its place.
	Redirects map[string]string `json:"redirects,omitempty"`
	// Resets counts how often the control plane is to be brought back to the state in which it began.
	Resets int64 `json:"resets,omitempty"`
}

// Origin is the control plane of which another one is a fork.
type Origin struct {
	// Cluster is the name of a Cluster; "" is the server's own control plane.
	Cluster string `json:"cluster,omitempty"`
	// Revision is the resource version at which the fork begins; "" is the current one.
	Revision string `json:"revision,omitempty"`
}

// Status is the observed control plane.
type Status struct {
	// URL is the base URL for clients.
	URL string `json:"url,omitempty"`
	// Revision is the resource version of the state in which it began.
	Revision string `json:"revision,omitempty"`
	// Resets is that of the spec that has been carried out.
	Resets int64 `json:"resets,omitempty"`
	// Conditions has the condition Ready.
	Conditions []metav1.Condition `json:"conditions,omitempty"`
}

// DeepCopyObject implements runtime.Object.
func (c *Cluster) DeepCopyObject() runtime.Object { return c.DeepCopy() }

// DeepCopyObject implements runtime.Object.
func (l *ClusterList) DeepCopyObject() runtime.Object { return deepCopy(l) }

// DeepCopy returns a copy that may be changed.
func (c *Cluster) DeepCopy() *Cluster { return deepCopy(c) }

// deepCopy copies by way of JSON: Clusters are few and small.
func deepCopy[T any](from *T) *T {
	text, err := json.Marshal(from)
	if err != nil {
		panic(err)
	}
	to := new(T)
	if err := json.Unmarshal(text, to); err != nil {
		panic(err)
	}
	return to
}
