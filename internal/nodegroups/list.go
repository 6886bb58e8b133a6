package nodegroups

import (
	"context"
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"fairlead.dev/client"
)

// Status is a group as its cluster stores it.
type Status struct {
	Name string `json:"name"`
	Min  int    `json:"min"`
	Max  int    `json:"max"`
	// Size is the sum of Nodes, Pending and Failed.
	Size int `json:"size"`
	// Nodes is the number of Nodes, Pending of instances that are being created or wait for stock, Failed of those that a
	// failure has hit.
	Nodes   int `json:"nodes"`
	Pending int `json:"pending"`
	Failed  int `json:"failed"`
	// PricePerHour is that of the Nodes together.
	PricePerHour float64 `json:"pricePerHour"`
}

// List returns the groups of a cluster, sorted by name. Groups that a file does not have any more are among them.
func List(ctx context.Context, c *client.Client) ([]Status, error) {
	states, _, err := readStates(ctx, client.For[*corev1.ConfigMap](c).Namespace(metav1.NamespaceSystem))
	if apierrors.IsNotFound(err) {
		return []Status{}, nil
	}
	if err != nil {
		return nil, err
	}
	nodes, err := client.For[*corev1.Node](c).List(ctx, metav1.ListOptions{LabelSelector: GroupLabel})
	if err != nil {
		return nil, err
	}
	all := []Status{}
	for _, name := range slices.Sorted(maps.Keys(states)) {
		all = append(all, states[name].status(name, nodes.Items))
	}
	return all, nil
}

// status returns the status of a group with this state, beside the Nodes of all groups.
func (s *state) status(group string, nodes []*corev1.Node) Status {
	own, is := &Group{Name: group}, Status{Name: group, Min: s.Min, Max: s.Max}
	pending := map[string]bool{}
	for _, i := range s.Instances {
		pending[own.id(own.instanceName(i.Number))] = true
		if i.Failed != nil {
			is.Failed++
		} else {
			is.Pending++
		}
	}
	for _, n := range nodes {
		if n.Labels[GroupLabel] == group && n.DeletionTimestamp == nil && !pending[n.Spec.ProviderID] {
			is.Nodes++
		}
	}
	is.Size = is.Nodes + is.Pending + is.Failed
	is.PricePerHour = float64(is.Nodes) * s.PricePerHour
	return is
}
