package nodes

import (
	"context"
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	storagev1 "k8s.io/api/storage/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"fairlead.dev/server/auth"
	"fairlead.dev/server/auth/rbac"
)

// Options are what the Authorizer answers from.
type Options struct {
	// Rules are those of all nodes, bootstrap.NodeRules.
	Rules []rbacv1.PolicyRule
	// Pods returns the pods that are bound to a node.
	Pods func(ctx context.Context, node string) ([]*corev1.Pod, error)
	// Lookup finds claims and volume attachments.
	Lookup auth.Lookup
}

// New returns the Authorizer. It says no to everybody who is no node, so it
// stands beside others in an auth.AnyOf.
func New(o Options) auth.Authorizer { return authorizer{o} }

type authorizer struct{ Options }

// Name returns the name of the node that the user is.
func Name(u *auth.User) (string, bool) {
	if u == nil || !u.InGroup(auth.NodesGroup) {
		return "", false
	}
	return strings.CutPrefix(u.Name, auth.NodeUserPrefix)
}

func (z authorizer) Authorize(ctx context.Context, a auth.Attributes) (bool, string, error) {
	node, ok := Name(a.User)
	if !ok {
		return false, "", nil
	}
	if node == "" {
		return false, fmt.Sprintf("unknown node for user %q", a.User.Name), nil
	}
	if !rbac.Allows(z.Rules, a) {
		return false, "", nil
	}
	if !a.IsResource {
		return true, "", nil
	}
	switch (schema.GroupResource{Group: a.Group, Resource: a.Resource}) {
	case schema.GroupResource{Resource: "secrets"}:
		return z.used(ctx, node, a, secrets)
	case schema.GroupResource{Resource: "configmaps"}:
		return z.used(ctx, node, a, configMaps)
	case schema.GroupResource{Resource: "persistentvolumeclaims"}:
		return z.used(ctx, node, a, claims)
	case schema.GroupResource{Resource: "serviceaccounts"}:
		return z.used(ctx, node, a, accounts)
	case schema.GroupResource{Resource: "persistentvolumes"}:
		return z.volume(ctx, node, a)
	case schema.GroupResource{Group: "storage.k8s.io", Resource: "volumeattachments"}:
		return z.attachment(ctx, node, a)
	case schema.GroupResource{Group: "coordination.k8s.io", Resource: "leases"}:
		return lease(node, a)
	case schema.GroupResource{Group: "storage.k8s.io", Resource: "csinodes"}:
		if a.Verb != "create" && a.Name != node {
			return false, "can only access CSINode with the same name as the requesting node", nil
		}
	case schema.GroupResource{Group: "resource.k8s.io", Resource: "resourceclaims"}:
		return unrelated(node)
	}
	return true, "", nil
}

func unrelated(node string) (bool, string, error) {
	return false, fmt.Sprintf("no relationship found between node '%s' and this object", node), nil
}

func lease(node string, a auth.Attributes) (bool, string, error) {
	switch {
	case a.Namespace != corev1.NamespaceNodeLease:
		return false, fmt.Sprintf("can only access leases in the %q system namespace", corev1.NamespaceNodeLease), nil
	case a.Verb != "create" && a.Name != node: // a create does not tell the name yet
		return false, "can only access node lease with the same name as the requesting node", nil
	}
	return true, "", nil
}

// used answers whether a pod on the node uses the one object that is asked for.
func (z authorizer) used(ctx context.Context, node string, a auth.Attributes, by func(*corev1.Pod) []string) (bool, string, error) {
	switch {
	case a.Namespace == "":
		return false, "can only read namespaced object of this type", nil
	case a.Name == "":
		return false, "No Object name found", nil
	}
	pods, err := z.Pods(ctx, node)
	if err != nil {
		return false, "", err
	}
	for _, p := range pods {
		if p.Namespace == a.Namespace && slices.Contains(by(p), a.Name) {
			return true, "", nil
		}
	}
	return unrelated(node)
}

// volume answers whether a claim of a pod on the node is bound to the volume.
func (z authorizer) volume(ctx context.Context, node string, a auth.Attributes) (bool, string, error) {
	pods, err := z.Pods(ctx, node)
	if err != nil {
		return false, "", err
	}
	for _, p := range pods {
		for _, name := range claims(p) {
			obj, err := z.Lookup.Get(ctx, schema.GroupResource{Resource: "persistentvolumeclaims"}, p.Namespace, name)
			if apierrors.IsNotFound(err) {
				continue
			}
			if err != nil {
				return false, "", err
			}
			if claim := obj.(*corev1.PersistentVolumeClaim); a.Name != "" && claim.Spec.VolumeName == a.Name {
				return true, "", nil
			}
		}
	}
	return unrelated(node)
}

func (z authorizer) attachment(ctx context.Context, node string, a auth.Attributes) (bool, string, error) {
	obj, err := z.Lookup.Get(ctx, schema.GroupResource{Group: a.Group, Resource: a.Resource}, "", a.Name)
	if apierrors.IsNotFound(err) {
		return unrelated(node)
	}
	if err != nil {
		return false, "", err
	}
	if obj.(*storagev1.VolumeAttachment).Spec.NodeName != node {
		return unrelated(node)
	}
	return true, "", nil
}
