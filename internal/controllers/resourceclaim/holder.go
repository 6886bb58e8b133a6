package resourceclaim

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"strings"

	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	schedulingv1beta1 "k8s.io/api/scheduling/v1beta1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/dynamic-resource-allocation/resourceclaim"
	"k8s.io/utils/ptr"

	"fairlead.dev/controller"
	"fairlead.dev/internal/controllers/podcontrol"
)

// The kinds of objects for which claims are created.
const (
	podKind   = "Pod"
	groupKind = "PodGroup"
)

const (
	// manager is the field manager of claim statuses.
	manager = "ResourceClaimController"
	// maxGenerated is the maximum length of a generated name before its random suffix.
	maxGenerated = 57
)

// owner names the object that a claim was created for. Its kind is "" for a claim that a user created.
type owner struct {
	kind string
	controller.Key
}

// String returns the owner's value in the index of claims.
func (by owner) String() string { return by.kind + " " + by.Key.String() }

// ownerOf returns the object that a claim was created for.
func ownerOf(o *resourcev1.ResourceClaim) (by owner) {
	ref := metav1.GetControllerOfNoCopy(o)
	if ref != nil && (ref.Kind == podKind && ref.APIVersion == "v1" ||
		ref.Kind == groupKind && strings.HasPrefix(ref.APIVersion, schedulingv1beta1.GroupName+"/")) {
		by = owner{ref.Kind, controller.Key{Namespace: o.Namespace, Name: ref.Name}}
	}
	return by
}

// A holder is a pod or a group whose claims are created from templates.
type holder struct {
	owner
	object  metav1.Object
	version string
	own     []*resourcev1.ResourceClaim // in the cache, of this object and of earlier ones of its name
	written *podcontrol.Written
}

func (c *claimer) podHolder(p *corev1.Pod) holder {
	return c.holder(owner{podKind, controller.KeyOf(p)}, p, "v1")
}

func (c *claimer) groupHolder(g *schedulingv1beta1.PodGroup) holder {
	return c.holder(owner{groupKind, controller.KeyOf(g)}, g, schedulingv1beta1.SchemeGroupVersion.String())
}

func (c *claimer) holder(of owner, object metav1.Object, version string) holder {
	return holder{of, object, version, c.claims.Store().ByIndex(byOwner, of.String()), c.written[of.kind]}
}

// isBehind reports whether the cache lacks a claim that was created for the holder.
func (h *holder) isBehind() bool { return podcontrol.Behind(h.written, h.Key, h.own) }

// made returns the claim that was created for an entry of the holder's claims; nil without one.
func (h *holder) made(entry string) *resourcev1.ResourceClaim {
	for _, o := range h.own {
		if metav1.IsControlledBy(o, h.object) && o.Annotations[resourcev1.PodResourceClaimAnnotation] == entry {
			return o
		}
	}
	return nil
}

// provide returns the claim for an entry of the holder's claims, creating it if necessary.
func (c *claimer) provide(ctx context.Context, h *holder, entry, template string) (*resourcev1.ResourceClaim, error) {
	if o := h.made(entry); o != nil {
		return o, nil
	}
	t, ok := c.templates.Store().Get(h.Namespace, template)
	if !ok {
		return nil, fmt.Errorf("resource claim template %q: %w", template,
			apierrors.NewNotFound(resourcev1.Resource("resourceclaimtemplate"), template))
	}
	annotations := map[string]string{}
	maps.Copy(annotations, t.Spec.Annotations)
	annotations[resourcev1.PodResourceClaimAnnotation] = entry
	o, err := c.claims.API.Namespace(h.Namespace).Create(ctx, &resourcev1.ResourceClaim{
		ObjectMeta: metav1.ObjectMeta{
			GenerateName: prefix(h.Name, entry), Namespace: h.Namespace, Labels: maps.Clone(t.Spec.Labels), Annotations: annotations,
			OwnerReferences: []metav1.OwnerReference{{APIVersion: h.version, Kind: h.kind, Name: h.Name, UID: h.object.GetUID(), Controller: ptr.To(true)}},
		},
		Spec: *t.Spec.Spec.DeepCopy(),
	})
	if err != nil {
		return nil, fmt.Errorf("create ResourceClaim : %w", err)
	}
	h.written.Wrote(h.Key, o)
	return o, nil
}

// known returns the name of an entry's claim, given the result of resourceclaim.Name or its like for groups. needed is false
// if the entry needs no claim; the name is "" if its claim has not been recorded.
func known(name *string, err error) (_ string, needed bool, _ error) {
	switch {
	case errors.Is(err, resourceclaim.ErrClaimNotFound):
		return "", true, nil
	case err != nil:
		return "", false, err
	}
	return ptr.Deref(name, ""), name != nil, nil
}

// prefix returns the prefix of the generated name of a claim; if it is too long, both names are truncated in proportion.
func prefix(of, claim string) string {
	whole := of + "-" + claim + "-"
	if n := len(whole); n > maxGenerated {
		return of[:len(of)*maxGenerated/n] + "-" + claim[:len(claim)*maxGenerated/n]
	}
	return whole
}
