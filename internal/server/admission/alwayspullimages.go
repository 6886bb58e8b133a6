package admission

import (
	"context"
	"slices"

	corev1 "k8s.io/api/core/v1"
	utilerrors "k8s.io/apimachinery/pkg/util/errors"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// AlwaysPullImages makes all containers and image volumes of pods pull their images always, so that a pod needs the
// credentials of its images on each node. An update is left alone unless it has new images.
type AlwaysPullImages struct{}

// Name implements Plugin.
func (AlwaysPullImages) Name() string { return "AlwaysPullImages" }

// pullPolicy is the pull policy of a container or an image volume, at its path.
type pullPolicy struct {
	policy *corev1.PullPolicy
	path   *field.Path
}

// Admit implements Mutator.
func (AlwaysPullImages) Admit(_ context.Context, r *Request) error {
	for _, p := range pullPolicies(r) {
		*p.policy = corev1.PullAlways
	}
	return nil
}

// Validate implements Validator: a webhook may have changed the policies.
func (AlwaysPullImages) Validate(_ context.Context, r *Request) error {
	var errs []error
	for _, p := range pullPolicies(r) {
		if *p.policy != corev1.PullAlways {
			errs = append(errs, forbid(r, field.NotSupported(p.path, *p.policy, []corev1.PullPolicy{corev1.PullAlways})))
		}
	}
	if len(errs) == 0 {
		return nil
	}
	return unclassified(utilerrors.NewAggregate(errs))
}

// pullPolicies returns the policies of a pod that the plugin decides on.
func pullPolicies(r *Request) (list []pullPolicy) {
	if !r.on(Create, core("pods")) && !r.on(Update, core("pods")) {
		return nil
	}
	spec := &r.Object.(*corev1.Pod).Spec
	if old, ok := r.Old.(*corev1.Pod); ok && !hasNewImage(spec, &old.Spec) {
		return nil
	}
	for _, c := range containers(spec) {
		list = append(list, pullPolicy{c.policy, c.path.Child("imagePullPolicy")})
	}
	for i := range spec.Volumes {
		if image := spec.Volumes[i].Image; image != nil {
			list = append(list, pullPolicy{&image.PullPolicy, field.NewPath("spec", "volumes").Index(i).Child("image", "pullPolicy")})
		}
	}
	return list
}

// anyContainer is what containers of all three lists have in common.
type anyContainer struct {
	image  string
	policy *corev1.PullPolicy
	path   *field.Path
}

// containers returns the containers of a pod in the order of upstream's visits.
func containers(s *corev1.PodSpec) (list []anyContainer) {
	spec := field.NewPath("spec")
	for i := range s.InitContainers {
		c := &s.InitContainers[i]
		list = append(list, anyContainer{c.Image, &c.ImagePullPolicy, spec.Child("initContainers").Index(i)})
	}
	for i := range s.Containers {
		c := &s.Containers[i]
		list = append(list, anyContainer{c.Image, &c.ImagePullPolicy, spec.Child("containers").Index(i)})
	}
	for i := range s.EphemeralContainers {
		c := &s.EphemeralContainers[i]
		list = append(list, anyContainer{c.Image, &c.ImagePullPolicy, spec.Child("ephemeralContainers").Index(i)})
	}
	return list
}

func hasNewImage(s, old *corev1.PodSpec) bool {
	before := containers(old)
	return slices.ContainsFunc(containers(s), func(c anyContainer) bool {
		return !slices.ContainsFunc(before, func(b anyContainer) bool { return b.image == c.image })
	})
}
