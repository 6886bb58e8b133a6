package imagepolicy

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	imagepolicyv1alpha1 "k8s.io/api/imagepolicy/v1alpha1"
	"k8s.io/client-go/rest"

	"fairlead.dev/internal/server/admission"
)

// reviewOf returns the review of a pod.
func reviewOf(pod *corev1.Pod, r *admission.Request) imagepolicyv1alpha1.ImageReviewSpec {
	spec := imagepolicyv1alpha1.ImageReviewSpec{Namespace: r.Namespace, Annotations: map[string]string{}}
	add := func(image string) {
		spec.Containers = append(spec.Containers, imagepolicyv1alpha1.ImageReviewContainerSpec{Image: image})
	}
	if r.Subresource == "" {
		for _, list := range [][]corev1.Container{pod.Spec.Containers, pod.Spec.InitContainers} {
			for _, c := range list {
				add(c.Image)
			}
		}
	} else {
		for _, c := range pod.Spec.EphemeralContainers {
			add(c.Image)
		}
	}
	for key, value := range pod.Annotations {
		if strings.Contains(key, ".image-policy.k8s.io/") {
			spec.Annotations[key] = value
		}
	}
	return spec
}

// ask returns the answer to a review.
func (p *Plugin) ask(ctx context.Context, spec imagepolicyv1alpha1.ImageReviewSpec) (imagepolicyv1alpha1.ImageReviewStatus, error) {
	key, err := json.Marshal(spec)
	if err != nil {
		return imagepolicyv1alpha1.ImageReviewStatus{}, err
	}
	if kept, ok := p.answers.Get(string(key)); ok {
		return kept.(imagepolicyv1alpha1.ImageReviewStatus), nil
	}
	review := &imagepolicyv1alpha1.ImageReview{Spec: spec}
	result := p.webhook.WithExponentialBackoff(ctx, func() rest.Result {
		return p.webhook.RestClient.Post().Body(review).Do(ctx)
	})
	code := 0
	if result.StatusCode(&code); result.Error() == nil && (code < 200 || code >= 300) {
		return review.Status, fmt.Errorf("Error contacting webhook: %d", code)
	}
	if err := result.Into(review); err != nil {
		return review.Status, err
	}
	p.answers.Add(string(key), review.Status, p.ttl(review.Status.Allowed))
	return review.Status, nil
}

func (p *Plugin) ttl(allowed bool) time.Duration {
	if allowed {
		return p.config.AllowTTL
	}
	return p.config.DenyTTL
}
