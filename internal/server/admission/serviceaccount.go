package admission

import (
	"context"
	"errors"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/validate/content"

	"fairlead.dev/internal/poduses"
)

// ServiceAccount sets the service account of each new pod, adds the account's pull secrets, and adds a volume with
// its token.
type ServiceAccount struct{ Lookup Lookup }

// Name implements Plugin.
func (ServiceAccount) Name() string { return "ServiceAccount" }

// Admit implements Mutator.
func (p ServiceAccount) Admit(ctx context.Context, r *Request) error {
	if !r.on(Create, core("pods")) {
		return nil
	}
	pod := r.Object.(*corev1.Pod)
	if _, mirror := pod.Annotations[corev1.MirrorPodAnnotationKey]; mirror {
		if err := checkMirror(pod); err != nil {
			return forbid(r, err)
		}
		return nil
	}
	if pod.Spec.ServiceAccountName == "" {
		pod.Spec.ServiceAccountName = "default"
	}
	pod.Spec.DeprecatedServiceAccount = pod.Spec.ServiceAccountName
	sa, err := p.account(ctx, r.Namespace, pod.Spec.ServiceAccountName)
	if err != nil {
		return forbid(r, fmt.Errorf("error looking up service account %s/%s: %w", r.Namespace, pod.Spec.ServiceAccountName, err))
	}
	if wantsToken(sa, pod) {
		mountToken(pod)
	}
	if len(pod.Spec.ImagePullSecrets) == 0 {
		pod.Spec.ImagePullSecrets = append(pod.Spec.ImagePullSecrets, sa.ImagePullSecrets...)
	}
	return nil
}

// account returns the account. The default account of a new namespace is created by a controller, so account waits
// for it, for a second at most.
func (p ServiceAccount) account(ctx context.Context, namespace, name string) (*corev1.ServiceAccount, error) {
	const pause, tries = 20 * time.Millisecond, 50
	for try := 1; ; try++ {
		if faults := content.IsPathSegmentName(name); len(faults) > 0 {
			return nil, fmt.Errorf("invalid resource name %q: %v", name, faults)
		}
		obj, err := p.Lookup.Get(ctx, core("serviceaccounts"), namespace, name)
		if err == nil {
			return obj.(*corev1.ServiceAccount), nil
		}
		if !apierrors.IsNotFound(err) {
			return nil, err
		}
		if name != "default" || try == tries {
			return nil, apierrors.NewNotFound(core("serviceaccount"), name)
		}
		select {
		case <-time.After(pause):
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

func wantsToken(sa *corev1.ServiceAccount, pod *corev1.Pod) bool {
	switch {
	case pod.Spec.AutomountServiceAccountToken != nil:
		return *pod.Spec.AutomountServiceAccountToken
	case sa.AutomountServiceAccountToken != nil:
		return *sa.AutomountServiceAccountToken
	}
	return true
}

// checkMirror rejects a mirror pod that refers to API objects, because a static pod must not give its node access
// to them.
func checkMirror(pod *corev1.Pod) error {
	if pod.Spec.ServiceAccountName != "" {
		return errors.New("a mirror pod may not reference service accounts")
	}
	if len(poduses.Secrets(pod)) > 0 {
		return errors.New("a mirror pod may not reference secrets")
	}
	for _, v := range pod.Spec.Volumes {
		if v.Projected == nil {
			continue
		}
		for _, s := range v.Projected.Sources {
			if s.ServiceAccountToken != nil {
				return errors.New("a mirror pod may not use ServiceAccountToken volume projections")
			}
		}
	}
	return nil
}
