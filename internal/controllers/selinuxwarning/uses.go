package selinuxwarning

import (
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"

	"fairlead.dev/internal/controllers/intree"
)

// A use is that of a volume by a pod.
type use struct {
	driver string // of CSI; empty for others
	label  string // user:role:type:level, of which parts may be empty; empty if the volume is not mounted with a label
	policy corev1.PodSELinuxChangePolicy
}

// usesOf returns the uses of a pod's volumes by names that the volumes have for all pods, as far as they are known, and the names of
// those with several labels.
func (w *warner) usesOf(p *corev1.Pod) (uses map[string]use, ambiguous []string) {
	uses = map[string]use{}
	for _, v := range p.Spec.Volumes {
		labels, mounted := labelsOf(p, v.Name)
		if !mounted {
			continue
		}
		if len(labels) > 1 {
			ambiguous = append(ambiguous, v.Name)
			continue
		}
		id, u, labeled := w.identify(p, &v)
		if id == "" {
			continue
		}
		u.policy = corev1.SELinuxChangePolicyRecursive
		if c := p.Spec.SecurityContext; labeled && len(labels) == 1 && labels[0] != "" &&
			(c == nil || ptr.Deref(c.SELinuxChangePolicy, corev1.SELinuxChangePolicyMountOption) != corev1.SELinuxChangePolicyRecursive) {
			u.label, u.policy = labels[0], corev1.SELinuxChangePolicyMountOption
		}
		uses[id] = u
	}
	return uses, ambiguous
}

// labelsOf returns the different labels of the containers that mount a volume of a pod.
func labelsOf(p *corev1.Pod, volume string) (labels []string, mounted bool) {
	visit := func(mounts []corev1.VolumeMount, own *corev1.SecurityContext) {
		if !slices.ContainsFunc(mounts, func(m corev1.VolumeMount) bool { return m.Name == volume }) {
			return
		}
		mounted = true
		var o *corev1.SELinuxOptions
		if c := p.Spec.SecurityContext; c != nil {
			o = c.SELinuxOptions
		}
		if own != nil && own.SELinuxOptions != nil {
			o = own.SELinuxOptions
		}
		if o == nil {
			return
		}
		label := strings.Join([]string{o.User, o.Role, o.Type, o.Level}, ":")
		if label == ":::" {
			label = ""
		}
		if !slices.Contains(labels, label) {
			labels = append(labels, label)
		}
	}
	for _, c := range p.Spec.InitContainers {
		visit(c.VolumeMounts, c.SecurityContext)
	}
	for _, c := range p.Spec.Containers {
		visit(c.VolumeMounts, c.SecurityContext)
	}
	for _, c := range p.Spec.EphemeralContainers {
		visit(c.VolumeMounts, c.SecurityContext)
	}
	return labels, mounted
}

// identify returns the name that a volume of a pod has for all pods, and whether it is mounted with a label; an empty id if it is not known yet, or
// labels never matter for it.
func (w *warner) identify(p *corev1.Pod, v *corev1.Volume) (id string, u use, labeled bool) {
	claim := ""
	switch {
	case v.FC != nil:
		return ofFC(v.FC.TargetWWNs, v.FC.Lun, v.FC.WWIDs), u, true
	case v.ISCSI != nil:
		return ofISCSI(v.ISCSI.TargetPortal, v.ISCSI.IQN, v.ISCSI.Lun), u, true
	case v.PersistentVolumeClaim != nil:
		claim = v.PersistentVolumeClaim.ClaimName
	case v.Ephemeral != nil:
		claim = p.Name + "-" + v.Name
	default:
		return "", u, false
	}
	c, ok := w.claims.Store().Get(p.Namespace, claim)
	if !ok || c.Spec.VolumeName == "" {
		return "", u, false
	}
	pv, ok := w.volumes.Store().Get("", c.Spec.VolumeName)
	if !ok || claimUID(pv) != string(c.UID) {
		return "", u, false
	}
	switch s := &pv.Spec; {
	case s.FC != nil:
		return ofFC(s.FC.TargetWWNs, s.FC.Lun, s.FC.WWIDs), u, true
	case s.ISCSI != nil:
		return ofISCSI(s.ISCSI.TargetPortal, s.ISCSI.IQN, s.ISCSI.Lun), u, true
	case s.CSI != nil:
		u.driver, id = s.CSI.Driver, "csi/"+s.CSI.Driver+"^"+s.CSI.VolumeHandle
	default:
		if u.driver = intree.Driver(intree.Plugin(pv)); u.driver == "" {
			return "", u, false
		}
		id = "csi/" + u.driver + "/" + pv.Name
	}
	d, ok := w.drivers.Store().Get("", u.driver)
	return id, u, ok && ptr.Deref(d.Spec.SELinuxMount, false)
}

func ofISCSI(portal, iqn string, lun int32) string {
	return fmt.Sprintf("iscsi/%s:%s:%d", portal, iqn, lun)
}

func ofFC(names []string, lun *int32, ids []string) string {
	switch {
	case len(names) > 0 && lun != nil:
		return fmt.Sprintf("fc/%v:%d", names, *lun)
	case len(ids) > 0:
		return fmt.Sprintf("fc/%v", ids)
	}
	return ""
}
