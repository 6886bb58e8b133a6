package admission

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"strings"

	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/diff"
	"k8s.io/utils/ptr"

	"fairlead.dev/internal/server/auth"
	"fairlead.dev/internal/server/auth/nodes"
)

// NodeRestriction restricts a kubelet's writes to its own node: its Node, Lease, CSINode and slices, pods bound to
// it, and tokens and certificate requests for these. Other users are not affected. Reads are restricted by the
// authorizer.
type NodeRestriction struct {
	Lookup Lookup
	// Authorizer allows nodes tokens for audiences, and certificates of signers, that no volume of the pod names; nil denies
	// them.
	Authorizer auth.Authorizer
}

// Name implements Plugin.
func (NodeRestriction) Name() string { return "NodeRestriction" }

// Admit implements Mutator.
func (p NodeRestriction) Admit(ctx context.Context, r *Request) error {
	if r.Verb == Connect {
		return nil
	}
	name, is := nodes.Name(r.User)
	if !is {
		return nil
	}
	if name == "" {
		return forbid(r, fmt.Errorf("could not determine node from user %q", r.User.Name))
	}
	w := nodeWrite{p, ctx, r, name}
	switch r.GroupResource() {
	case core("pods"):
		return w.refuse(w.pod())
	case core("nodes"):
		return w.refuse(w.node())
	case core("persistentvolumeclaims"):
		return w.refuse(w.claim())
	case core("serviceaccounts"):
		return w.refuse(w.token())
	case schema.GroupResource{Group: "coordination.k8s.io", Resource: "leases"}:
		if r.Namespace != corev1.NamespaceNodeLease {
			return forbid(r, fmt.Errorf("can only access leases in the %q system namespace", corev1.NamespaceNodeLease))
		}
		return w.refuse(w.own("node lease"))
	case schema.GroupResource{Group: "storage.k8s.io", Resource: "csinodes"}:
		return w.refuse(w.csiNode())
	case schema.GroupResource{Group: "resource.k8s.io", Resource: "resourceslices"}:
		return w.refuse(w.slice())
	case schema.GroupResource{Group: "certificates.k8s.io", Resource: "certificatesigningrequests"}:
		return w.refuse(w.request())
	case schema.GroupResource{Group: "certificates.k8s.io", Resource: "podcertificaterequests"}:
		return w.podCertificate()
	}
	return nil
}

// nodeWrite is a write by a kubelet.
type nodeWrite struct {
	NodeRestriction
	ctx  context.Context
	r    *Request
	name string // the node's name
}

// refuse turns an error into a response. It returns NotFound errors as they are, unless they are the cause of another.
func (w nodeWrite) refuse(err error) error {
	if err == nil {
		return nil
	}
	if s, ok := err.(apierrors.APIStatus); ok && s.Status().Reason == metav1.StatusReasonNotFound {
		return err
	}
	return forbid(w.r, err)
}

// get returns an object. As in kube-apiserver, the error for a missing one names the kind in the singular.
func (w nodeWrite) get(gr schema.GroupResource, namespace, name string) (runtime.Object, error) {
	obj, err := w.Lookup.Get(w.ctx, gr, namespace, name)
	if apierrors.IsNotFound(err) {
		gr.Resource = strings.TrimSuffix(gr.Resource, "s")
		err = apierrors.NewNotFound(gr, name)
	}
	return obj, err
}

func (w nodeWrite) csiNode() error {
	if err := w.own("CSINode"); err != nil {
		return err
	}
	if w.r.Subresource == "status" {
		return errors.New("CSIVolumeHealth feature gate is disabled")
	}
	return nil
}

func (w nodeWrite) own(what string) error {
	if w.r.Name != w.name {
		return fmt.Errorf("can only access %s with the same name as the requesting node", what)
	}
	return nil
}

func (w nodeWrite) slice() error {
	s, verb := w.r.Object, "create"
	if w.r.Verb == Delete {
		s, verb = w.r.Old, "delete"
	}
	if slice, ok := s.(*resourcev1.ResourceSlice); w.r.Verb != Update && ok && ptr.Deref(slice.Spec.NodeName, "") != w.name {
		return fmt.Errorf("can only %s ResourceSlice with the same NodeName as the requesting node", verb)
	}
	return nil
}

// pod checks writes to pods and their subresources.
func (w nodeWrite) pod() error {
	r := w.r
	switch {
	case r.Subresource == "" && r.Verb == Create:
		return w.mirror(r.Object.(*corev1.Pod))
	case r.Subresource == "" && r.Verb == Delete:
		return w.bound(r.Old, fmt.Errorf("node %q can only delete pods with spec.nodeName set to itself", w.name))
	case r.Subresource == "":
		return fmt.Errorf("unexpected operation %q, node %q can only create and delete mirror pods", r.Verb, w.name)
	case r.Subresource == "status" && r.Verb == Update:
		return w.podStatus(r.Object.(*corev1.Pod), r.Old.(*corev1.Pod))
	case r.Subresource == "eviction" && r.Verb == Create:
		old, err := w.get(core("pods"), r.Namespace, r.Name)
		if err != nil {
			return err
		}
		return w.bound(old, fmt.Errorf("node %s can only evict pods with spec.nodeName set to itself", w.name))
	case r.Subresource == "status" || r.Subresource == "eviction":
		return fmt.Errorf("unexpected operation %q", r.Verb)
	}
	return fmt.Errorf("unexpected pod subresource %q, only 'status' and 'eviction' are allowed", r.Subresource)
}

func (w nodeWrite) bound(pod runtime.Object, otherwise error) error {
	if p, ok := pod.(*corev1.Pod); !ok || p.Spec.NodeName != w.name {
		return otherwise
	}
	return nil
}

// podStatus rejects changes to status fields that do not belong to the kubelet.
func (w nodeWrite) podStatus(p, old *corev1.Pod) error {
	switch {
	case old.Spec.NodeName != w.name:
		return fmt.Errorf("node %q can only update pod status for pods with spec.nodeName set to itself", w.name)
	case !maps.Equal(p.Labels, old.Labels):
		return fmt.Errorf("node %q cannot update labels through pod status", w.name)
	case !equality.Semantic.DeepEqual(p.Status.ResourceClaimStatuses, old.Status.ResourceClaimStatuses):
		return fmt.Errorf("node %q cannot update resource claim statues", w.name)
	case !equality.Semantic.DeepEqual(p.Status.ExtendedResourceClaimStatus, old.Status.ExtendedResourceClaimStatus):
		return fmt.Errorf("node %q cannot update extended resource claim status", w.name)
	case !equality.Semantic.DeepEqual(p.Status.NodeAllocatableResourceClaimStatuses, old.Status.NodeAllocatableResourceClaimStatuses):
		return fmt.Errorf("node %q cannot update node allocatable resource claim statuses", w.name)
	}
	return nil
}

// mirror requires a new pod to be the mirror of a static pod of the node.
func (w nodeWrite) mirror(p *corev1.Pod) error {
	if _, is := p.Annotations[corev1.MirrorPodAnnotationKey]; !is {
		return fmt.Errorf("pod does not have %q annotation, node %q can only create mirror pods", corev1.MirrorPodAnnotationKey, w.name)
	}
	if p.Spec.NodeName != w.name {
		return fmt.Errorf("node %q can only create pods with spec.nodeName set to itself", w.name)
	}
	if len(p.OwnerReferences) > 1 {
		return fmt.Errorf("node %q can only create pods with a single owner reference set to itself", w.name)
	}
	if len(p.OwnerReferences) == 0 || p.OwnerReferences[0].APIVersion != "v1" || p.OwnerReferences[0].Kind != "Node" || p.OwnerReferences[0].Name != w.name {
		return fmt.Errorf("node %q can only create pods with an owner reference set to itself", w.name)
	}
	owner := p.OwnerReferences[0]
	if !ptr.Deref(owner.Controller, false) {
		return fmt.Errorf("node %q can only create pods with a controller owner reference set to itself", w.name)
	}
	if ptr.Deref(owner.BlockOwnerDeletion, false) {
		return fmt.Errorf("node %q must not set blockOwnerDeletion on an owner reference", w.name)
	}
	obj, err := w.get(core("nodes"), "", w.name)
	if err != nil {
		return err
	}
	if uid := obj.(*corev1.Node).UID; owner.UID != uid {
		return fmt.Errorf("node %s UID mismatch: expected %s got %s", w.name, owner.UID, uid)
	}
	what, err := nodes.Reference(p)
	switch {
	case err != nil:
		return fmt.Errorf("error checking mirror pod for API references: %w", err)
	case what != "":
		return fmt.Errorf("node %q can not create pods that reference %s", w.name, what)
	}
	return nil
}

// claim checks writes to claims, in which a kubelet may only change the state of a resize.
func (w nodeWrite) claim() error {
	if w.r.Subresource != "status" {
		return errors.New("may only update PVC status")
	}
	if w.r.Verb != Update {
		return fmt.Errorf("unexpected operation %q", w.r.Verb)
	}
	c, old := w.r.Object.(*corev1.PersistentVolumeClaim).DeepCopy(), w.r.Old.(*corev1.PersistentVolumeClaim).DeepCopy()
	for _, c := range []*corev1.PersistentVolumeClaim{c, old} {
		c.ResourceVersion, c.ManagedFields = "", nil
		c.Status.Capacity, c.Status.Conditions = nil, nil
		c.Status.AllocatedResources, c.Status.AllocatedResourceStatuses = nil, nil
	}
	if !equality.Semantic.DeepEqual(c, old) {
		return fmt.Errorf("node %q is not allowed to update fields other than status.quantity and status.conditions: %v", w.name, diff.Diff(old, c))
	}
	return nil
}
