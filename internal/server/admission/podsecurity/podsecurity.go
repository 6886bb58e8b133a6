// Package podsecurity enforces the Pod Security Standards in namespaces with the labels
// pod-security.kubernetes.io/...: enforce rejects pods, warn adds warnings for pods and for objects with a pod
// template, and audit adds annotations to their audit events. The standards come from upstream's library.
//
// # Concurrency
//
// The plugin may be used from many goroutines.
package podsecurity

import (
	"context"
	"fmt"
	"sync"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	config "k8s.io/pod-security-admission/admission/api"
	"k8s.io/pod-security-admission/api"
	"k8s.io/pod-security-admission/policy"

	"fairlead.dev/internal/resource/podspec"
	"fairlead.dev/internal/server/admission"
	"fairlead.dev/internal/server/admission/dynamic"
	"fairlead.dev/internal/server/audit"
)

// Plugin is PodSecurity. Make it with New.
type Plugin struct {
	lookup     admission.Lookup
	defaults   api.Policy
	exemptions config.PodSecurityExemptions
}

// New returns the plugin. Without a configuration, a namespace without labels is privileged, and there are no exemptions.
func New(l admission.Lookup, c *config.PodSecurityConfiguration) (Plugin, error) {
	if c == nil {
		return Plugin{lookup: l, defaults: api.Policy{Enforce: privileged, Audit: privileged, Warn: privileged}}, nil
	}
	defaults, err := config.ToPolicy(c.Defaults)
	return Plugin{l, defaults, c.Exemptions}, err
}

// Name implements admission.Plugin.
func (Plugin) Name() string { return "PodSecurity" }

var privileged = api.LevelVersion{Level: api.LevelPrivileged, Version: api.LatestVersion()}

var standards = sync.OnceValues(func() (policy.Evaluator, error) {
	return policy.NewEvaluator(policy.DefaultChecks(), nil)
})

// Validate implements admission.Validator.
func (p Plugin) Validate(ctx context.Context, r *admission.Request) error {
	if r.Verb != admission.Create && r.Verb != admission.Update {
		return nil
	}
	if ns, ok := r.Object.(*corev1.Namespace); ok {
		return p.namespace(ctx, r, ns)
	}
	meta, spec := template(r)
	if spec == nil {
		return nil
	}
	if why := p.exempt(r, spec); why == exemptNamespace || why == exemptUser {
		annotate(ctx, api.ExemptionReasonAnnotationKey, why)
		return nil
	}
	ns, err := dynamic.Namespace(ctx, p.lookup, r.Namespace)
	if err != nil {
		return apierrors.NewInternalError(fmt.Errorf("failed to lookup namespace %q", r.Namespace))
	}
	levels, faults := api.PolicyToEvaluate(ns.Labels, p.defaults)
	invalid := faults.ToAggregate()
	_, pod := r.Object.(*corev1.Pod)
	if invalid == nil && levels.FullyPrivileged() {
		if pod {
			annotate(ctx, api.EnforcedPolicyAnnotationKey, levels.Enforce.String())
		}
		return nil
	}
	if !pod && invalid == nil && levels.Audit.Level == api.LevelPrivileged && levels.Warn.Level == api.LevelPrivileged {
		return nil
	}
	if old, ok := r.Old.(*corev1.Pod); ok && pod && !significant(spec, &old.Spec) {
		return nil
	}
	if why := p.exempt(r, spec); why != "" {
		annotate(ctx, api.ExemptionReasonAnnotationKey, why)
		return nil
	}
	if pod {
		result, err := evaluate(levels.Enforce, meta, spec)
		if err != nil {
			return err
		}
		annotate(ctx, api.EnforcedPolicyAnnotationKey, levels.Enforce.String())
		if !result.Allowed {
			if err := noteViolations(ctx, levels.Audit, meta, spec); err != nil {
				return err
			}
			return admission.Forbidden(r, fmt.Errorf("violates PodSecurity %q: %s", levels.Enforce.String(), result.ForbiddenDetail()))
		}
	}
	if invalid != nil {
		annotate(ctx, "error", fmt.Sprintf("Failed to parse policy: %v", invalid))
	}
	if err := noteViolations(ctx, levels.Audit, meta, spec); err != nil {
		return err
	}
	result, err := evaluate(levels.Warn, meta, spec)
	if err != nil {
		return err
	}
	if !result.Allowed && r.Warn != nil {
		r.Warn(fmt.Sprintf("would violate PodSecurity %q: %s", levels.Warn.String(), result.ForbiddenDetail()))
	}
	return nil
}

// noteViolations adds the violations of the level to the audit event of the request.
func noteViolations(ctx context.Context, lv api.LevelVersion, meta *metav1.ObjectMeta, spec *corev1.PodSpec) error {
	if !audit.Annotates(ctx) {
		return nil
	}
	result, err := evaluate(lv, meta, spec)
	if err == nil && !result.Allowed {
		annotate(ctx, api.AuditViolationsAnnotationKey, fmt.Sprintf("would violate PodSecurity %q: %s", lv.String(), result.ForbiddenDetail()))
	}
	return err
}

func annotate(ctx context.Context, key, value string) {
	audit.Annotate(ctx, api.AuditAnnotationPrefix+key, value)
}

func evaluate(lv api.LevelVersion, meta *metav1.ObjectMeta, spec *corev1.PodSpec) (policy.AggregateCheckResult, error) {
	all, err := standards()
	if err != nil {
		return policy.AggregateCheckResult{}, apierrors.NewInternalError(err)
	}
	return policy.AggregateCheckResults(all.EvaluatePod(lv, meta, spec)), nil
}

// template returns the pod or pod template of a request; nil if it has neither.
func template(r *admission.Request) (*metav1.ObjectMeta, *corev1.PodSpec) {
	if pod, ok := r.Object.(*corev1.Pod); ok {
		switch r.Subresource {
		case "", "ephemeralcontainers", "resize":
			return &pod.ObjectMeta, &pod.Spec
		}
		return nil, nil
	}
	if t := podspec.TemplateOf(r.Object); t != nil && r.Subresource == "" {
		return &t.ObjectMeta, &t.Spec
	}
	return nil, nil
}
