package nodegroups

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"fairlead.dev/client"
)

// stateName is the ConfigMap, in kube-system, of the groups' states.
const stateName = "fairlead-node-groups"

// state is the stored part of a group. Min, Max and PricePerHour are copies of the file's, for List.
type state struct {
	Min          int     `json:"min"`
	Max          int     `json:"max"`
	PricePerHour float64 `json:"pricePerHour"`
	// Since is the first start with the group.
	Since time.Time `json:"since"`
	// Last is the number of the last instance. Numbers are not used again.
	Last int `json:"last"`
	// Instances are those without a Node, oldest first.
	Instances []instance `json:"instances,omitempty"`
}

// instance is an instance without a Node.
type instance struct {
	Number int `json:"number"`
	// Requested is when the size of the group was increased by it.
	Requested time.Time `json:"requested,omitzero"`
	// Running is when it is created, and Registers when it becomes a Node. They are zero while it waits for stock, and when it
	// has failed.
	Running   time.Time `json:"running,omitzero"`
	Registers time.Time `json:"registers,omitzero"`
	// OutOfStock reports that there was no stock when it was last tried.
	OutOfStock bool `json:"outOfStock,omitempty"`
	// Failed is the declared failure that has hit it.
	Failed *Failure `json:"failed,omitempty"`
}

// begun reports whether there was stock for the instance.
func (i *instance) begun() bool { return !i.Running.IsZero() }

// failure returns the error of an instance that cannot be created; nil without one.
func (i *instance) failure() *Failure {
	if i.OutOfStock {
		return &Failure{Code: "OUT_OF_STOCK", Message: "the group has no more instances in stock", Class: OutOfResources}
	}
	return i.Failed
}

// withoutStock returns how many instances wait for stock.
func (s *state) withoutStock() (n int) {
	for i := range s.Instances {
		if s.Instances[i].OutOfStock {
			n++
		}
	}
	return n
}

// unreadableState is the error of a stored state that cannot be read.
type unreadableState struct {
	group string
	err   error
}

func (e unreadableState) Error() string {
	return fmt.Sprintf("the ConfigMap %s of kube-system: key %s: %v", stateName, e.group, e.err)
}

// clone returns a copy that shares no list.
func (s *state) clone() *state {
	c := *s
	c.Instances = append([]instance(nil), s.Instances...)
	return &c
}

// readStates returns the stored states by group, and the ConfigMap, to which events refer.
func readStates(ctx context.Context, maps client.Resource[*corev1.ConfigMap]) (map[string]*state, *corev1.ConfigMap, error) {
	stored, err := maps.Get(ctx, stateName)
	if err != nil {
		return nil, nil, err
	}
	all := map[string]*state{}
	for name, text := range stored.Data {
		s := &state{}
		if err := json.Unmarshal([]byte(text), s); err != nil {
			return nil, nil, unreadableState{name, err}
		}
		all[name] = s
	}
	return all, stored, nil
}

// loadStates returns the stored states, for which it makes the ConfigMap if there is none.
func loadStates(ctx context.Context, maps client.Resource[*corev1.ConfigMap]) (map[string]*state, *corev1.ConfigMap, error) {
	_, err := maps.Create(ctx, &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: stateName}})
	if err != nil && !apierrors.IsAlreadyExists(err) {
		return nil, nil, err
	}
	return readStates(ctx, maps)
}

// store writes the state of a group.
func (s *state) store(ctx context.Context, maps client.Resource[*corev1.ConfigMap], group string) error {
	text, err := json.Marshal(s)
	if err != nil {
		return err
	}
	data := map[string]string{group: string(text)}
	_, err = maps.Patch(ctx, stateName, client.MergePatch(map[string]any{"data": data}))
	if apierrors.IsNotFound(err) { // a user has deleted it
		_, err = maps.Create(ctx, &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: stateName}, Data: data})
	}
	return err
}
