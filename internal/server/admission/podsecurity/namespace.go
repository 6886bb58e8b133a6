package podsecurity

import (
	"context"
	"fmt"
	"reflect"
	"slices"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/pod-security-admission/api"

	"fairlead.dev/internal/server/admission"
)

// namespace rejects invalid labels, and warns of existing pods that would be rejected now.
func (p Plugin) namespace(ctx context.Context, r *admission.Request, ns *corev1.Namespace) error {
	if r.Subresource != "" {
		return nil
	}
	now, errs := api.PolicyToEvaluate(ns.Labels, p.defaults)
	old, ok := r.Old.(*corev1.Namespace)
	if !ok {
		if len(errs) > 0 {
			return apierrors.NewInvalid(r.Kind().GroupKind(), r.Name, errs)
		}
		p.warnOfExemption(r, ns, now)
		return nil
	}
	was, oldErrs := api.PolicyToEvaluate(old.Labels, p.defaults)
	if len(errs) > 0 && !reflect.DeepEqual(errs, oldErrs) {
		return apierrors.NewInvalid(r.Kind().GroupKind(), r.Name, errs)
	}
	relaxed := now.Enforce.Version == was.Enforce.Version && api.CompareLevels(now.Enforce.Level, was.Enforce.Level) < 1
	if now.Enforce == was.Enforce || now.Enforce.Level == api.LevelPrivileged || relaxed || r.Warn == nil {
		return nil
	}
	if p.exemptsNamespace(ns.Name) {
		p.warnOfExemption(r, ns, now)
		return nil
	}
	return p.warnOfPods(ctx, r, ns.Name, now.Enforce)
}

// maxPods is how many pods of a namespace are evaluated for warnings.
const maxPods = 3000

func (p Plugin) warnOfPods(ctx context.Context, r *admission.Request, namespace string, lv api.LevelVersion) error {
	pods, err := p.lookup.List(ctx, schema.GroupResource{Resource: "pods"}, namespace)
	if err != nil {
		r.Warn("failed to list pods while checking new PodSecurity enforce level")
		return nil
	}
	if total := len(pods); total > maxPods {
		pods = pods[:maxPods]
		r.Warn(fmt.Sprintf("new PodSecurity enforce level only checked against the first %d of %d existing pods", maxPods, total))
	}
	names := map[string][]string{} // by violation
	for _, obj := range pods {
		pod := obj.(*corev1.Pod)
		if p.exemptsClass(&pod.Spec) {
			continue
		}
		result, err := evaluate(lv, &pod.ObjectMeta, &pod.Spec)
		if err != nil {
			return err
		}
		if !result.Allowed {
			why := result.ForbiddenReason()
			names[why] = append(names[why], pod.Name)
		}
	}
	var texts []string
	for why, list := range names {
		others := ""
		switch n := len(list) - 1; {
		case n == 1:
			others = " (and 1 other pod)"
		case n > 1:
			others = fmt.Sprintf(" (and %d other pods)", n)
		}
		texts = append(texts, slices.Min(list)+others+": "+why)
	}
	if len(texts) > 0 {
		r.Warn(fmt.Sprintf("existing pods in namespace %q violate the new PodSecurity enforce level %q", namespace, lv.String()))
	}
	slices.Sort(texts)
	for _, text := range texts {
		r.Warn(text)
	}
	return nil
}

// significant reports whether an update adds images or ephemeral containers, which must be evaluated.
func significant(pod, old *corev1.PodSpec) bool {
	images := func(list []corev1.Container) (out []string) {
		for _, c := range list {
			out = append(out, c.Image)
		}
		return out
	}
	if !slices.Equal(images(pod.Containers), images(old.Containers)) || !slices.Equal(images(pod.InitContainers), images(old.InitContainers)) {
		return true
	}
	for _, c := range pod.EphemeralContainers {
		if !slices.ContainsFunc(old.EphemeralContainers, func(o corev1.EphemeralContainer) bool { return o.Name == c.Name && o.Image == c.Image }) {
			return true
		}
	}
	return false
}
