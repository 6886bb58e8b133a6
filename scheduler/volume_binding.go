package scheduler

import (
	"context"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"fairlead.dev/internal/controllers/persistentvolume"
)

// volumeBinding keeps pods to nodes that reach their volumes, and chooses the volumes of
// claims that wait for their first consumer: a free one that the node reaches, the
// smallest that will do, or one to be made there by the class's provisioner. The choice
// is set aside when the pod is given its node, and written before the pod is bound.
type volumeBinding struct {
	timeout time.Duration // of the binding
}

func (volumeBinding) Name() string { return "VolumeBinding" }

func (volumeBinding) Prepare(c *Cluster, p *PodInfo) (Check, Verdict) {
	if len(p.claims) == 0 {
		return nil, fits
	}
	w, v := c.volumesOf(p)
	if !v.Fits() {
		return nil, v
	}
	return func(n *NodeInfo) Verdict {
		_, v := w.choose(c, n)
		return v
	}, fits
}

// volumesOf reads what p's claims need.
func (c *Cluster) volumesOf(p *PodInfo) (w volumeWants, v Verdict) {
	for _, name := range p.claims {
		claim, v := c.claim(p, name)
		if !v.Fits() {
			return w, v
		}
		if isBound(claim) {
			if err := w.bound(c, claim.Spec.VolumeName); err != nil {
				return w, Never(err.Error())
			}
			continue
		}
		class, ok := c.objects.Class(classOf(claim))
		if !ok || !late(class) || claim.Spec.VolumeName != "" {
			return w, Never("pod has unbound immediate PersistentVolumeClaims")
		}
		w.late = append(w.late, claim)
	}
	// Small ones first, so that they do not take the volumes that large ones need.
	slices.SortStableFunc(w.late, func(a, b *corev1.PersistentVolumeClaim) int {
		x, y := a.Spec.Resources.Requests[corev1.ResourceStorage], b.Spec.Resources.Requests[corev1.ResourceStorage]
		return x.Cmp(y)
	})
	return w, fits
}

// bound adds a volume that a claim has.
func (w *volumeWants) bound(c *Cluster, name string) error {
	pv, ok := c.objects.Volume(name)
	if !ok {
		w.has = append(w.has, boundVolume{missing: true})
		return nil
	}
	rule, err := volumeRule(pv)
	if err == nil && rule != nil {
		w.has = append(w.has, boundVolume{rule: rule})
	}
	return err
}

// volumeWants is what a pod's claims need of a node.
type volumeWants struct {
	has  []boundVolume
	late []*corev1.PersistentVolumeClaim
}

// boundVolume is a claim's volume that does not exist, or is not everywhere.
type boundVolume struct {
	rule    *nodeRule
	missing bool
}

// volumeChoice says where a claim's volume comes from.
type volumeChoice struct {
	claim *corev1.PersistentVolumeClaim
	pv    *corev1.PersistentVolume // nil: it is to be made
}

// choose finds volumes for the claims without, for a pod on n. Of the volumes that the pod
// has, and of those that it lacks, the first that will not do is told.
func (w *volumeWants) choose(c *Cluster, n *NodeInfo) ([]volumeChoice, Verdict) {
	var against []string
	for _, v := range w.has {
		if v.missing {
			against = append(against, "node(s) unavailable due to one or more pvc(s) bound to non-existent pv(s)")
			break
		}
		if !v.rule.matches(n.Node) {
			against = append(against, "node(s) didn't match PersistentVolume's node affinity")
			break
		}
	}
	var choices []volumeChoice
	for _, claim := range w.late {
		pv, why := c.volumeFor(claim, n, choices)
		if why != "" {
			against = append(against, why)
			break
		}
		choices = append(choices, volumeChoice{claim, pv})
	}
	return choices, Verdict{Reasons: against, Final: len(against) > 0}
}

// volumeFor finds the volume of a late claim for a pod on n, nil if one can be made; or why
// there is none.
func (c *Cluster) volumeFor(claim *corev1.PersistentVolumeClaim, n *NodeInfo, chosen []volumeChoice) (pv *corev1.PersistentVolume, why string) {
	const none = "node(s) didn't find available persistent volumes to bind"
	key := types.NamespacedName{Namespace: claim.Namespace, Name: claim.Name}
	node := claim.Annotations[selectedNode]
	if a, assumed := c.volumes.claims[key]; assumed {
		node = a
	}
	if node != "" && node != n.name {
		return nil, none
	}
	if node == "" {
		pv, found := persistentvolume.Match(claim, c.objects.Volumes(classOf(claim)), func(pv *corev1.PersistentVolume) bool {
			taker, taken := c.volumes.volumes[pv.Name]
			if taken && taker != key || slices.ContainsFunc(chosen, func(v volumeChoice) bool { return v.pv != nil && v.pv.Name == pv.Name }) {
				return false
			}
			rule, err := volumeRule(pv)
			return err == nil && rule.matches(n.Node)
		})
		if found && pv == nil {
			return nil, none
		}
		if found {
			return pv, ""
		}
	}
	class, ok := c.objects.Class(classOf(claim))
	switch {
	case !ok || class.Provisioner == "" || class.Provisioner == noProvisioner || !reaches(class.AllowedTopologies, n.Node):
		return nil, none
	case !c.hasRoom(claim, class, n.Node):
		return nil, "node(s) did not have enough free storage"
	}
	return nil, ""
}

func (volumeBinding) Events() EventKind {
	return VolumesChanged | NodeAdded | NodeChanged
}
func (volumeBinding) Helps(*PodInfo, *Event) bool { return true }

// setAside are the volumes and claims whose binding is decided and not to be seen yet.
type setAside struct {
	volumes map[string]types.NamespacedName // taken, by whom
	claims  map[types.NamespacedName]string // to be made on a node
}

// Reserve sets p's volumes on n aside.
func (f volumeBinding) Reserve(c *Cluster, p *PodInfo, n *NodeInfo) (Reservation, Verdict) {
	if len(p.claims) == 0 {
		return Reservation{}, fits
	}
	w, v := c.volumesOf(p)
	if !v.Fits() || len(w.late) == 0 {
		return Reservation{}, v
	}
	choices, v := w.choose(c, n)
	if !v.Fits() {
		return Reservation{}, v
	}
	for _, choice := range choices {
		key := types.NamespacedName{Namespace: choice.claim.Namespace, Name: choice.claim.Name}
		if choice.pv != nil {
			c.volumes.volumes[choice.pv.Name] = key
		} else {
			c.volumes.claims[key] = n.name
		}
	}
	node := n.Node
	return Reservation{
		BeforeBinding: func(ctx context.Context) error {
			ctx, cancel := context.WithTimeout(ctx, f.timeout)
			defer cancel()
			return c.objects.BindVolumes(ctx, node, choices)
		},
		Release: func() {
			for _, choice := range choices {
				if choice.pv != nil {
					delete(c.volumes.volumes, choice.pv.Name)
				}
				delete(c.volumes.claims, types.NamespacedName{Namespace: choice.claim.Namespace, Name: choice.claim.Name})
			}
		},
	}, fits
}
