package volumes

import (
	"cmp"
	"context"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"fairlead.dev/internal/controllers/persistentvolume"

	"fairlead.dev/internal/scheduler/cache"
	"fairlead.dev/internal/scheduler/framework"
)

// Binding keeps pods on nodes that reach their volumes, and chooses the volumes of claims that wait
// for their first consumer: the smallest sufficient free volume that the node reaches, or one that
// the class's provisioner is to create there. The choice is reserved when the pod gets its node,
// and written before the pod is bound.
type Binding struct {
	Timeout time.Duration // of the binding
}

func (Binding) Name() string { return "VolumeBinding" }

func (Binding) PreFilter(c *cache.Cluster, p *cache.PodInfo) (framework.FilterFunc, framework.Status) {
	if len(p.Claims) == 0 {
		return nil, success
	}
	w, v := claimsOf(c, p)
	if !v.IsSuccess() {
		return nil, v
	}
	return func(n *cache.NodeInfo) framework.Status {
		_, v := w.choose(c, n)
		return v
	}, success
}

// claimsOf returns the claims of p that constrain its node.
func claimsOf(c *cache.Cluster, p *cache.PodInfo) (w podClaims, v framework.Status) {
	for _, name := range p.Claims {
		claim, v := claimOf(c, p, name)
		if !v.IsSuccess() {
			return w, v
		}
		if isBound(claim) {
			if err := w.bound(c, claim.Spec.VolumeName); err != nil {
				return w, framework.Unresolvable(err.Error())
			}
			continue
		}
		class, ok := c.Objects.Class(classOf(claim))
		if !ok || !isDelayedBinding(class) || claim.Spec.VolumeName != "" {
			return w, framework.Unresolvable("pod has unbound immediate PersistentVolumeClaims")
		}
		w.delayed = append(w.delayed, claim)
	}
	// Small claims first, so that they do not take the volumes that large ones need.
	slices.SortStableFunc(w.delayed, func(a, b *corev1.PersistentVolumeClaim) int {
		x, y := a.Spec.Resources.Requests[corev1.ResourceStorage], b.Spec.Resources.Requests[corev1.ResourceStorage]
		return x.Cmp(y)
	})
	return w, success
}

// bound adds the volume of a bound claim.
func (w *podClaims) bound(c *cache.Cluster, name string) error {
	pv, ok := c.Objects.Volume(name)
	if !ok {
		w.boundVolumes = append(w.boundVolumes, boundVolume{missing: true})
		return nil
	}
	rule, err := volumeNodeAffinity(pv)
	if err == nil && rule != nil {
		w.boundVolumes = append(w.boundVolumes, boundVolume{rule: rule})
	}
	return err
}

// podClaims are the claims of a pod: volumes of bound ones, and claims with delayed binding.
type podClaims struct {
	boundVolumes []boundVolume
	delayed      []*corev1.PersistentVolumeClaim
}

// A boundVolume is a claim's volume that is missing, or that only some nodes reach.
type boundVolume struct {
	rule    *cache.RequiredNodeAffinity
	missing bool
}

// choose finds volumes for the claims with delayed binding, for a pod on n. Its Status has the
// first problem of the bound volumes and the first of the others.
func (w *podClaims) choose(c *cache.Cluster, n *cache.NodeInfo) ([]cache.ClaimBinding, framework.Status) {
	var against []string
	for _, v := range w.boundVolumes {
		if v.missing {
			against = append(against, "node(s) unavailable due to one or more pvc(s) bound to non-existent pv(s)")
			break
		}
		if !v.rule.Matches(n.Node) {
			against = append(against, "node(s) didn't match PersistentVolume's node affinity")
			break
		}
	}
	var choices []cache.ClaimBinding
	for _, claim := range w.delayed {
		pv, why := findVolume(c, claim, n, choices)
		if why != "" {
			against = append(against, why)
			break
		}
		choices = append(choices, cache.ClaimBinding{Claim: claim, Volume: pv})
	}
	return choices, framework.Status{Reasons: against, Unresolvable: len(against) > 0}
}

// findVolume finds the volume of a claim with delayed binding for a pod on n, nil if one can be
// provisioned; or returns why not.
func findVolume(c *cache.Cluster, claim *corev1.PersistentVolumeClaim, n *cache.NodeInfo, chosen []cache.ClaimBinding) (pv *corev1.PersistentVolume, why string) {
	const none = "node(s) didn't find available persistent volumes to bind"
	key := types.NamespacedName{Namespace: claim.Namespace, Name: claim.Name}
	node := claim.Annotations[AnnSelectedNode]
	volume, on := c.AssumedVolumes.Of(key)
	node = cmp.Or(on, node)
	if node != "" && node != n.Name {
		return nil, none
	}
	if node == "" {
		pv, found := persistentvolume.Match(claim, c.Objects.Volumes(classOf(claim)), func(pv *corev1.PersistentVolume) bool {
			taker, taken := c.AssumedVolumes.Taker(pv.Name)
			if taken && taker != key || volume != "" && volume != pv.Name || slices.ContainsFunc(chosen, func(v cache.ClaimBinding) bool { return v.Volume != nil && v.Volume.Name == pv.Name }) {
				return false
			}
			rule, err := volumeNodeAffinity(pv)
			return err == nil && rule.Matches(n.Node)
		})
		if pv == nil && (found || volume != "") {
			return nil, none
		}
		if found {
			return pv, ""
		}
	}
	class, ok := c.Objects.Class(classOf(claim))
	if !ok || class.Provisioner == "" || class.Provisioner == NoProvisioner || !isTopologyAllowed(class.AllowedTopologies, n.Node) {
		return nil, none
	}
	if _, ok := capacityFor(c, claim, class, n.Node); !ok {
		return nil, "node(s) did not have enough free storage"
	}
	return nil, ""
}

func (Binding) EventsToRegister() framework.EventKind {
	return framework.VolumesChanged | framework.NodeAdded | framework.NodeChanged
}
func (Binding) QueueingHint(*cache.PodInfo, *framework.ClusterEvent) bool { return true }

// Reserve reserves p's volumes on n.
func (f Binding) Reserve(c *cache.Cluster, p *cache.PodInfo, n *cache.NodeInfo) (framework.Reservation, framework.Status) {
	if len(p.Claims) == 0 {
		return framework.Reservation{}, success
	}
	w, v := claimsOf(c, p)
	if !v.IsSuccess() || len(w.delayed) == 0 {
		return framework.Reservation{}, v
	}
	choices, v := w.choose(c, n)
	if !v.IsSuccess() {
		return framework.Reservation{}, v
	}
	for _, choice := range choices {
		volume := ""
		if choice.Volume != nil {
			volume = choice.Volume.Name
		}
		c.AssumedVolumes.Assume(types.NamespacedName{Namespace: choice.Claim.Namespace, Name: choice.Claim.Name}, volume, n.Name)
	}
	node := n.Node
	return framework.Reservation{
		PreBind: func(ctx context.Context) error {
			ctx, cancel := context.WithTimeout(ctx, f.Timeout)
			defer cancel()
			return c.Objects.BindVolumes(ctx, node, choices)
		},
		Release: func() {
			for _, choice := range choices {
				c.AssumedVolumes.Release(types.NamespacedName{Namespace: choice.Claim.Namespace, Name: choice.Claim.Name})
			}
		},
	}, success
}
