package admission

import (
	"context"
	"fmt"
	"slices"
	"strconv"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
)

// enforceMountable is the annotation that restricts an account's pods to the secrets that the account lists.
const enforceMountable = "kubernetes.io/enforce-mountable-secrets"

// Validate implements Validator. It restricts pods to the secrets of their account if that has the annotation.
func (p ServiceAccount) Validate(ctx context.Context, r *Request) error {
	changed := r.Verb == Update && r.Subresource == "ephemeralcontainers" && r.GroupResource() == core("pods")
	if !changed && !r.on(Create, core("pods")) {
		return nil
	}
	pod, ok := r.Object.(*corev1.Pod)
	if !ok || pod.Spec.ServiceAccountName == "" {
		return nil
	}
	obj, err := p.Lookup.Get(ctx, core("serviceaccounts"), r.Namespace, pod.Spec.ServiceAccountName)
	if apierrors.IsNotFound(err) {
		return nil // deleted since it was looked up
	}
	if err != nil {
		return status(err)
	}
	sa := obj.(*corev1.ServiceAccount)
	if on, _ := strconv.ParseBool(sa.Annotations[enforceMountable]); !on {
		return nil
	}
	if err := onlyMountable(sa, pod, changed); err != nil {
		return forbid(r, err)
	}
	return nil
}

func onlyMountable(sa *corev1.ServiceAccount, pod *corev1.Pod, ephemeral bool) error {
	unlisted := func(name string) bool {
		return !slices.ContainsFunc(sa.Secrets, func(s corev1.ObjectReference) bool { return s.Name == name })
	}
	const why = `secret.secretName="%s" is not allowed because service account %s does not reference that secret`
	look := func(kind, container string, env []corev1.EnvVar, from []corev1.EnvFromSource) error {
		for _, e := range env {
			if v := e.ValueFrom; v != nil && v.SecretKeyRef != nil && unlisted(v.SecretKeyRef.Name) {
				return fmt.Errorf("%s %s with envVar %s referencing "+why, kind, container, e.Name, v.SecretKeyRef.Name, sa.Name)
			}
		}
		for _, f := range from {
			if f.SecretRef != nil && unlisted(f.SecretRef.Name) {
				return fmt.Errorf("%s %s with envFrom referencing "+why, kind, container, f.SecretRef.Name, sa.Name)
			}
		}
		return nil
	}
	if ephemeral {
		for _, c := range pod.Spec.EphemeralContainers {
			if err := look("ephemeral container", c.Name, c.Env, c.EnvFrom); err != nil {
				return err
			}
		}
		return nil
	}
	for _, v := range pod.Spec.Volumes {
		if v.Secret != nil && unlisted(v.Secret.SecretName) {
			return fmt.Errorf("volume with "+why, v.Secret.SecretName, sa.Name)
		}
	}
	for _, c := range pod.Spec.InitContainers {
		if err := look("init container", c.Name, c.Env, c.EnvFrom); err != nil {
			return err
		}
	}
	for _, c := range pod.Spec.Containers {
		if err := look("container", c.Name, c.Env, c.EnvFrom); err != nil {
			return err
		}
	}
	for i, s := range pod.Spec.ImagePullSecrets {
		if !slices.Contains(sa.ImagePullSecrets, s) {
			return fmt.Errorf(`imagePullSecrets[%d].name="%s" is not allowed because service account %s does not reference that imagePullSecret`, i, s.Name, sa.Name)
		}
	}
	return nil
}
