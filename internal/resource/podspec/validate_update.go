package podspec

import (
	"fmt"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
	apiequality "k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/util/diff"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"fairlead.dev/internal/resource/check"
)

func isInt32(s string) bool {
	n, err := strconv.ParseInt(s, 10, 32)
	return err == nil && strconv.FormatInt(n, 10) == s
}

// changeable lists the mutable fields of a pod's spec.
const changeable = "`spec.containers[*].image`," +
	"`spec.initContainers[*].image`," +
	"`spec.activeDeadlineSeconds`," +
	"`spec.tolerations` (only additions to existing tolerations)," +
	"`spec.terminationGracePeriodSeconds` (allow it to be set to 1 if it was previously negative)"

// ValidatePodUpdate returns the errors of a changed pod. Nearly all of a spec is immutable once the pod exists; the
// node selection of gated pods can still be narrowed.
func ValidatePodUpdate(p, old *corev1.Pod) field.ErrorList {
	var f check.Errors
	validatePod(&f, p)
	podAnnotationUpdates(&f, check.At("metadata", "annotations"), p, old)
	path := check.At("spec")
	if !sameContainers(&f, path.Child("containers"), p.Spec.Containers, old.Spec.Containers) ||
		!sameContainers(&f, path.Child("initContainers"), p.Spec.InitContainers, old.Spec.InitContainers) ||
		!deadline(&f, path.Child("activeDeadlineSeconds"), p.Spec.ActiveDeadlineSeconds, old.Spec.ActiveDeadlineSeconds) {
		return f.List()
	}
	addedTolerations(&f, path.Child("tolerations"), p.Spec.Tolerations, old.Spec.Tolerations)
	removedGates(&f, path.Child("schedulingGates"), p.Spec.SchedulingGates, old.Spec.SchedulingGates)
	if check.Same(&p.Spec, &old.Spec) {
		return f.List()
	}
	// Undo mutable fields; the rest must then be equal.
	rest := p.Spec.DeepCopy()
	for i := range rest.Containers {
		rest.Containers[i].Image = old.Spec.Containers[i].Image
	}
	for i := range rest.InitContainers {
		rest.InitContainers[i].Image = old.Spec.InitContainers[i].Image
	}
	rest.ActiveDeadlineSeconds = old.Spec.ActiveDeadlineSeconds
	rest.Tolerations, rest.SchedulingGates = old.Spec.Tolerations, old.Spec.SchedulingGates
	if was, now := old.Spec.TerminationGracePeriodSeconds, rest.TerminationGracePeriodSeconds; was != nil && *was < 0 && now != nil && *now == 1 {
		rest.TerminationGracePeriodSeconds = was
	}
	if len(old.Spec.SchedulingGates) > 0 {
		requireNarrowed(&f, path, rest, &old.Spec)
	}
	if !check.Same(rest, &old.Spec) {
		f.Forbidden(path, fmt.Sprintf("pod updates may not change fields other than %s\n%v", changeable, diff.Diff(old.Spec, *rest)))
	}
	return f.List()
}

func sameContainers(f *check.Errors, p *check.Path, now, old []corev1.Container) bool {
	if len(now) != len(old) {
		f.Forbidden(p, "pod updates may not add or remove containers")
		return false
	}
	return true
}

func deadline(f *check.Errors, p *check.Path, now, old *int64) bool {
	switch {
	case now == nil && old != nil:
		f.Invalid(p, now, "must not update from a positive integer to nil value")
	case now == nil:
	case *now < 0 || *now > math.MaxInt32:
		f.Invalid(p, *now, validation.InclusiveRangeError(0, math.MaxInt32))
		return false
	case old != nil && *old < *now:
		f.Invalid(p, *now, "must be less than or equal to previous value")
		return false
	}
	return true
}

func addedTolerations(f *check.Errors, p *check.Path, now, old []corev1.Toleration) {
	for _, was := range old {
		found := false
		for _, t := range now {
			was.TolerationSeconds = t.TolerationSeconds
			if found = reflect.DeepEqual(was, t); found {
				break
			}
		}
		if !found {
			f.Forbidden(p, "existing toleration can not be modified except its tolerationSeconds")
			return
		}
	}
}

func removedGates(f *check.Errors, p *check.Path, now, old []corev1.PodSchedulingGate) {
	was := map[string]bool{}
	for _, g := range old {
		was[g.Name] = true
	}
	for i, g := range now {
		if !was[g.Name] {
			f.Forbidden(p.Index(i).Child("name"), fmt.Sprintf("only deletion is allowed, but found new scheduling gate '%s'", g.Name))
		}
	}
}

func podAnnotationUpdates(f *check.Errors, p *check.Path, now, old *corev1.Pod) {
	const key = corev1.MirrorPodAnnotationKey
	was, had := old.Annotations[key]
	is, has := now.Annotations[key]
	switch {
	case had && (!has || is != was):
		f.Forbidden(p.Key(key), "may not remove or update mirror pod annotation")
	case has && !had:
		f.Forbidden(p.Key(key), "may not add mirror pod annotation")
	}
}

// requireNarrowed allows a gated pod's node selector and required node affinity to become stricter, and copies the old
// ones to rest.
func requireNarrowed(f *check.Errors, p *check.Path, rest, old *corev1.PodSpec) {
	if !apiequality.Semantic.DeepEqual(rest.NodeSelector, old.NodeSelector) {
		for key, value := range old.NodeSelector {
			if now, ok := rest.NodeSelector[key]; !ok || now != value {
				f.Invalid(p.Child("nodeSelector"), rest.NodeSelector, "only additions to spec.nodeSelector are allowed (no mutations or deletions)")
				break
			}
		}
		rest.NodeSelector = old.NodeSelector
	}
	now, was := nodeAffinity(rest), nodeAffinity(old)
	if apiequality.Semantic.DeepEqual(now, was) {
		return
	}
	requireNarrowedAffinity(f, p.Child("affinity", "nodeAffinity"), now, was)
	switch {
	case rest.Affinity == nil:
		rest.Affinity = &corev1.Affinity{NodeAffinity: was}
	case old.Affinity == nil && rest.Affinity.PodAffinity == nil && rest.Affinity.PodAntiAffinity == nil:
		rest.Affinity = nil
	default:
		rest.Affinity.NodeAffinity = was
	}
}

func nodeAffinity(s *corev1.PodSpec) *corev1.NodeAffinity {
	if s.Affinity == nil {
		return nil
	}
	return s.Affinity.NodeAffinity
}

func requireNarrowedAffinity(f *check.Errors, p *check.Path, now, was *corev1.NodeAffinity) {
	if was == nil || was.RequiredDuringSchedulingIgnoredDuringExecution == nil {
		return
	}
	at := p.Child("requiredDuringSchedulingIgnoredDuringExecution", "nodeSelectorTerms")
	var terms []corev1.NodeSelectorTerm
	if now != nil && now.RequiredDuringSchedulingIgnoredDuringExecution != nil {
		terms = now.RequiredDuringSchedulingIgnoredDuringExecution.NodeSelectorTerms
	}
	old := was.RequiredDuringSchedulingIgnoredDuringExecution.NodeSelectorTerms
	if len(old) > 0 && len(terms) != len(old) {
		f.Invalid(at, terms, "no additions/deletions to non-empty NodeSelectorTerms list are allowed")
		return
	}
	for i := range old {
		if !hasPrefixTerms(terms[i].MatchExpressions, old[i].MatchExpressions) || !hasPrefixTerms(terms[i].MatchFields, old[i].MatchFields) {
			f.Invalid(at.Index(i), terms[i], "only additions are allowed (no mutations or deletions)")
		}
	}
}

func hasPrefixTerms(now, old []corev1.NodeSelectorRequirement) bool {
	return len(now) >= len(old) && (len(old) == 0 || apiequality.Semantic.DeepEqual(now[:len(old)], old))
}

// ValidateEphemeralUpdate returns the errors of an update that adds ephemeral containers. Existing ones are
// immutable.
func ValidateEphemeralUpdate(p, old *corev1.Pod) field.ErrorList {
	if isMirror(old) {
		return field.ErrorList{field.Forbidden(check.At("").Field(), "static pods do not support ephemeral containers")}
	}
	var f check.Errors
	validatePod(&f, p)
	path := check.At("spec", "ephemeralContainers")
	now := map[string]*corev1.EphemeralContainer{}
	for i := range p.Spec.EphemeralContainers {
		now[p.Spec.EphemeralContainers[i].Name] = &p.Spec.EphemeralContainers[i]
	}
	for _, was := range old.Spec.EphemeralContainers {
		if c := now[was.Name]; c == nil {
			f.Forbidden(path, fmt.Sprintf("existing ephemeral containers %q may not be removed\n", was.Name))
		} else if !apiequality.Semantic.DeepEqual(was, *c) {
			f.Forbidden(path, fmt.Sprintf("existing ephemeral containers %q may not be changed\n%v", was.Name, diff.Diff(was, *c)))
		}
	}
	return f.List()
}

// ValidatePodStatusUpdate returns the errors of a pod's changed status.
func ValidatePodStatusUpdate(p, old *corev1.Pod) field.ErrorList {
	var f check.Errors
	podAnnotationUpdates(&f, check.At("metadata", "annotations"), p, old)
	path := check.At("status")
	for i, c := range p.Status.Conditions {
		at := path.Child("conditions").Index(i)
		if c.ObservedGeneration < 0 {
			f.Invalid(at.Child("observedGeneration"), c.ObservedGeneration, "must be a non-negative integer")
		}
		switch c.Type {
		case corev1.PodScheduled, corev1.PodReady, corev1.PodInitialized:
		default:
			f.Qualified(at.Child("Type"), string(c.Type))
		}
	}
	if n := p.Status.NominatedNodeName; n != old.Status.NominatedNodeName && n != "" {
		f.Subdomain(path.Child("nominatedNodeName"), n)
		if old.Spec.NodeName != "" {
			f.Forbidden(path.Child("nominatedNodeName"), "may not be set on pods that are already bound to a node")
		}
	}
	if p.Status.ObservedGeneration < 0 {
		f.Invalid(path.Child("observedGeneration"), p.Status.ObservedGeneration, "must be a non-negative integer")
	}
	f.Same(path.Child("qosClass"), p.Status.QOSClass, old.Status.QOSClass)
	if p.Spec.RestartPolicy != corev1.RestartPolicyAlways {
		requireStayTerminated(&f, path.Child("containerStatuses"), p, old)
	}
	now, was := make([]string, 0, 2), make([]string, 0, 2)
	for _, ip := range p.Status.PodIPs {
		now = append(now, ip.IP)
	}
	for _, ip := range old.Status.PodIPs {
		was = append(was, ip.IP)
	}
	statusIPs(&f, path.Child("podIPs"), p.Status.PodIPs, now, was)
	if len(p.Status.HostIPs) > 0 && p.Status.HostIP != p.Status.HostIPs[0].IP {
		f.Invalid(path.Child("hostIPs").Index(0).Child("ip"), p.Status.HostIPs[0].IP, "must be equal to `hostIP`")
	}
	now, was = now[:0], was[:0]
	for _, ip := range p.Status.HostIPs {
		now = append(now, ip.IP)
	}
	for _, ip := range old.Status.HostIPs {
		was = append(was, ip.IP)
	}
	statusIPs(&f, path.Child("hostIPs"), p.Status.HostIPs, now, was)
	claimStatuses(&f, path.Child("resourceClaimStatuses"), p)
	return f.List()
}

// statusIPs requires at most one address of each family. Malformed ones that the old object has are tolerated.
func statusIPs(f *check.Errors, p *check.Path, value any, ips, old []string) {
	for i, ip := range ips {
		f.IP(p.Index(i), ip, old...)
	}
	if len(ips) > 2 || len(ips) == 2 && strings.Contains(ips[0], ":") == strings.Contains(ips[1], ":") {
		f.Invalid(p, value, "may specify no more than one IP for each IP family")
	}
}

// claimStatuses requires one status at most for each claim of the pod.
func claimStatuses(f *check.Errors, p *check.Path, pod *corev1.Pod) {
	seen := map[string]bool{}
	for i, s := range pod.Status.ResourceClaimStatuses {
		at := p.Index(i)
		if !slices.ContainsFunc(pod.Spec.ResourceClaims, func(c corev1.PodResourceClaim) bool { return c.Name == s.Name }) {
			f.Invalid(at.Child("name"), s.Name, "must match the name of an entry in `spec.resourceClaims`")
		}
		if seen[s.Name] {
			f.Duplicate(at.Child("name"), s.Name)
		}
		seen[s.Name] = true
		if s.ResourceClaimName != nil {
			f.Subdomain(at.Child("resourceClaimName"), *s.ResourceClaimName)
		}
	}
}

// requireStayTerminated reports containers that restart although they have terminated for good.
func requireStayTerminated(f *check.Errors, p *check.Path, now, old *corev1.Pod) {
	own := map[string]bool{} // containers with their own restart policy
	for i := range old.Spec.Containers {
		own[old.Spec.Containers[i].Name] = old.Spec.Containers[i].RestartPolicy != nil
	}
	for i := range old.Status.ContainerStatuses {
		was := &old.Status.ContainerStatuses[i]
		ended := was.State.Terminated
		if ended == nil || own[was.Name] || ended.ExitCode != 0 && old.Spec.RestartPolicy == corev1.RestartPolicyOnFailure {
			continue
		}
		for k := range now.Status.ContainerStatuses {
			if is := &now.Status.ContainerStatuses[k]; is.Name == was.Name && is.State.Terminated == nil {
				f.Forbidden(p.Index(i).Child("state"), "may not be transitioned to non-terminated state")
			}
		}
	}
}
