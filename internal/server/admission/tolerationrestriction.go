package admission

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"

	"fairlead.dev/internal/resource/podspec"
	"fairlead.dev/internal/server/admission/config"
)

// PodTolerationRestriction adds the default tolerations of a namespace to its pods, and rejects pods with tolerations
// that the namespace does not allow. A namespace without annotations has those of Cluster.
type PodTolerationRestriction struct {
	Lookup  Lookup
	Cluster config.Tolerations
}

// The annotations of namespaces, each with a JSON list of tolerations.
const (
	defaultTolerations  = "scheduler.alpha.kubernetes.io/defaultTolerations"
	allowedTolerations  = "scheduler.alpha.kubernetes.io/tolerationsWhitelist"
	tolerationsConflict = "pod tolerations (possibly merged with namespace default tolerations) conflict with its %s whitelist"
)

// Name implements Plugin.
func (PodTolerationRestriction) Name() string { return "PodTolerationRestriction" }

// Admit implements Mutator.
func (p PodTolerationRestriction) Admit(ctx context.Context, r *Request) error {
	if !r.on(Create, core("pods")) && !r.on(Update, core("pods")) {
		return nil
	}
	pod := r.Object.(*corev1.Pod)
	var more []corev1.Toleration
	if r.Verb == Create {
		own, ok, err := p.ofNamespace(ctx, r.Namespace, defaultTolerations)
		if err != nil {
			return err
		}
		if more = own; !ok {
			more = p.Cluster.Default
		}
	}
	if podspec.QOSClass(pod) != corev1.PodQOSBestEffort {
		more = append(slices.Clone(more), corev1.Toleration{
			Key: corev1.TaintNodeMemoryPressure, Operator: corev1.TolerationOpExists, Effect: corev1.TaintEffectNoSchedule,
		})
	}
	if len(more) > 0 {
		pod.Spec.Tolerations = mergeTolerations(slices.Concat(pod.Spec.Tolerations, more))
	}
	return p.Validate(ctx, r)
}

// Validate implements Validator.
func (p PodTolerationRestriction) Validate(ctx context.Context, r *Request) error {
	if !r.on(Create, core("pods")) && !r.on(Update, core("pods")) {
		return nil
	}
	pod := r.Object.(*corev1.Pod)
	if len(pod.Spec.Tolerations) == 0 {
		return nil
	}
	allowed, ok, err := p.ofNamespace(ctx, r.Namespace, allowedTolerations)
	if err != nil {
		return err
	}
	scope := "namespace"
	if !ok {
		allowed, scope = p.Cluster.Whitelist, "cluster"
	}
	if len(allowed) == 0 {
		return nil
	}
	for _, t := range pod.Spec.Tolerations {
		if !slices.ContainsFunc(allowed, func(a corev1.Toleration) bool { return includes(a, t) }) {
			return unclassified(fmt.Errorf(tolerationsConflict, scope))
		}
	}
	return nil
}

// ofNamespace returns the tolerations in an annotation of a namespace. ok is false without the annotation.
func (p PodTolerationRestriction) ofNamespace(ctx context.Context, namespace, key string) (list []corev1.Toleration, ok bool, _ error) {
	obj, err := p.Lookup.Get(ctx, core("namespaces"), "", namespace)
	if err != nil {
		return nil, false, status(err)
	}
	text, ok := obj.(*corev1.Namespace).Annotations[key]
	if !ok || text == "" {
		return nil, ok, nil
	}
	if err := json.Unmarshal([]byte(text), &list); err != nil {
		return nil, true, unclassified(err)
	}
	return list, list != nil, nil
}

// mergeTolerations leaves out each toleration that another one includes; of equal ones it keeps the first.
func mergeTolerations(all []corev1.Toleration) (merged []corev1.Toleration) {
	for i, t := range all {
		included := slices.ContainsFunc(merged, func(m corev1.Toleration) bool { return includes(m, t) }) ||
			slices.ContainsFunc(all[i+1:], func(later corev1.Toleration) bool {
				return !equality.Semantic.DeepEqual(t, later) && includes(later, t)
			})
		if !included {
			merged = append(merged, t)
		}
	}
	return merged
}

// includes reports whether wide tolerates all that t does.
func includes(wide, t corev1.Toleration) bool {
	switch {
	case equality.Semantic.DeepEqual(wide, t):
		return true
	case t.Key != wide.Key && (wide.Key != "" || wide.Operator != corev1.TolerationOpExists),
		t.Effect != wide.Effect && wide.Effect != "",
		wide.Effect == corev1.TaintEffectNoExecute && wide.TolerationSeconds != nil && (t.TolerationSeconds == nil || *t.TolerationSeconds > *wide.TolerationSeconds):
		return false
	}
	switch wide.Operator {
	case corev1.TolerationOpEqual, "":
		return t.Operator == corev1.TolerationOpEqual && t.Value == wide.Value
	case corev1.TolerationOpExists:
		return true
	}
	return false
}
