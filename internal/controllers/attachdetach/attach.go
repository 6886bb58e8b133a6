package attachdetach

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"fairlead.dev/controller"
)

// patience is how long an external-attacher may take before pods are told that it does not answer, again and again.
const patience = 2 * time.Minute

// syncVolume detaches a volume from the nodes that do not need it, and attaches it to those that do.
func (a *attacher) syncVolume(ctx context.Context, k controller.Key) (controller.Result, error) {
	v, _ := a.volumes.Store().Get("", k.Name)
	wanted := a.wanted(v)
	wants := func(node string) bool { return len(wanted[node]) > 0 }
	a.memory.settle(k.Name, wants)
	var failed []error
	var next time.Duration
	soon := func(after time.Duration, err error) {
		if after > 0 && (next == 0 || after < next) {
			next = after
		}
		failed = append(failed, err)
	}
	on := map[string]bool{} // the nodes to which it is attached, or about to be
	for _, va := range a.attachments.Store().ByIndex(byVolume, k.Name) {
		if _, known := a.memory.get(va.Name); !known && !wants(va.Spec.NodeName) || !a.isNamed(va, v) {
			continue
		}
		on[va.Spec.NodeName] = true
		if wants(va.Spec.NodeName) {
			soon(a.await(va, v, wanted[va.Spec.NodeName]), nil)
		} else {
			soon(a.detach(ctx, va))
		}
	}
	for _, node := range slices.Sorted(maps.Keys(wanted)) {
		switch {
		case on[node]:
		case exclusive(v) && len(on) > 0:
			a.refuse(v, node, wanted[node], on)
		default:
			on[node] = true
			failed = append(failed, a.attach(ctx, v, node, wanted[node]))
		}
	}
	return controller.Result{RequeueAfter: next}, errors.Join(failed...)
}

// isNamed reports whether a VolumeAttachment has the name that this controller gives it. Without the volume, that is known
// only from the node's status.
func (a *attacher) isNamed(va *storagev1.VolumeAttachment, v *corev1.PersistentVolume) bool {
	if v != nil {
		return v.Spec.CSI != nil && va.Name == attachmentName(v.Spec.CSI.VolumeHandle, v.Spec.CSI.Driver, va.Spec.NodeName)
	}
	n, _ := a.nodes.Store().Get("", va.Spec.NodeName)
	return a.nameOf(va, n) != ""
}

// attach requests that a volume is attached to a node.
func (a *attacher) attach(ctx context.Context, v *corev1.PersistentVolume, node string, pods []*corev1.Pod) error {
	s := v.Spec.CSI
	name := attachmentName(s.VolumeHandle, s.Driver, node)
	a.memory.with(name, func(at *attachment) { at.waiting = true })
	_, err := a.attachments.API.Create(ctx, &storagev1.VolumeAttachment{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec: storagev1.VolumeAttachmentSpec{
			NodeName: node, Attacher: s.Driver, Source: storagev1.VolumeAttachmentSource{PersistentVolumeName: &v.Name},
		},
	})
	if apierrors.IsAlreadyExists(err) {
		return nil // its event brings the volume back
	}
	if err != nil {
		a.memory.forget(name)
		a.tell(pods, corev1.EventTypeWarning, "FailedAttachVolume", failure(v, err.Error()))
	}
	return err
}

// await tells the pods of an attachment that the volume is attached or why it is not. It returns when to look again.
func (a *attacher) await(va *storagev1.VolumeAttachment, v *corev1.PersistentVolume, pods []*corev1.Pod) time.Duration {
	_, known := a.memory.get(va.Name)
	var was, now attachment
	var news bool
	late := time.Since(va.CreationTimestamp.Time) >= patience
	var problem string
	switch {
	case va.DeletionTimestamp != nil:
		problem = "volume attachment is being deleted"
	case va.Status.Attached:
	case va.Status.AttachError != nil:
		problem = va.Status.AttachError.Message
	case late:
		problem = fmt.Sprintf("timed out waiting for external-attacher of %s CSI driver to attach volume %s", v.Spec.CSI.Driver, v.Spec.CSI.VolumeHandle)
	}
	attached := va.Status.Attached && va.DeletionTimestamp == nil
	a.memory.with(va.Name, func(at *attachment) {
		was = *at
		at.since, at.detaching, at.waiting = time.Time{}, false, !attached
		if news = problem != at.told || time.Since(at.toldAt) >= patience; news {
			at.told, at.toldAt = problem, time.Now()
		}
		now = *at
	})
	if was.detaching || !known { // its node's status may have to list it
		a.listed(va)
	}
	if attached && was.waiting {
		a.tell(pods, corev1.EventTypeNormal, "SuccessfulAttachVolume", fmt.Sprintf("AttachVolume.Attach succeeded for volume %q ", v.Name))
	}
	if problem != "" && news {
		a.tell(pods, corev1.EventTypeWarning, "FailedAttachVolume", failure(v, problem))
	}
	switch {
	case attached:
		return 0
	case problem == "":
		return patience - time.Since(va.CreationTimestamp.Time)
	}
	return patience - time.Since(now.toldAt)
}

func failure(v *corev1.PersistentVolume, problem string) string {
	return fmt.Sprintf("AttachVolume.Attach failed for volume %q : %s", v.Name, problem)
}

func (a *attacher) tell(pods []*corev1.Pod, kind, reason, message string) {
	for _, p := range pods {
		a.rec.Event(p, kind, reason, "%s", message)
	}
}

// refuse tells pods, once, that their volume is attached to another node.
func (a *attacher) refuse(v *corev1.PersistentVolume, node string, pods []*corev1.Pod, on map[string]bool) {
	if !a.memory.refuse(refusal{v.Name, node}) {
		return
	}
	var others []*corev1.Pod
	for name, users := range a.users(v) {
		if name != node && on[name] {
			others = append(others, users...)
		}
	}
	why := "Volume is already exclusively attached to one node, waiting on detach before it can be attached to another node"
	if len(others) > 0 {
		var names []string
		for _, p := range others { // they use one claim, and are in its namespace
			names = append(names, p.Name)
		}
		slices.Sort(names)
		why = "Volume is already used by pod(s) " + strings.Join(names, ", ")
	}
	a.tell(pods, corev1.EventTypeWarning, "FailedAttachVolume", fmt.Sprintf("Waiting for detach for volume %q %s", v.Name, why))
}
