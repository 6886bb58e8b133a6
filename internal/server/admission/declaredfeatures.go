package admission

import (
	"context"
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/util/version"
	ndf "k8s.io/component-helpers/nodedeclaredfeatures"
)

// DeclaredFeatures rejects a change of a pod that its node cannot make, because it does not declare a feature (KEP-5328).
type DeclaredFeatures struct{ Lookup Lookup }

// kubernetes is the version whose nodes have the features that no longer need to be declared.
var kubernetes = version.MajorMinor(1, 37)

// Name implements Plugin.
func (DeclaredFeatures) Name() string { return "NodeDeclaredFeatureValidator" }

// Validate implements Validator.
func (d DeclaredFeatures) Validate(ctx context.Context, r *Request) error {
	if r.Verb != Update || r.GroupResource() != core("pods") || r.Subresource != "" && r.Subresource != "resize" {
		return nil
	}
	pod, old := r.Object.(*corev1.Pod), r.Old.(*corev1.Pod)
	if pod.Spec.NodeName == "" || pod.Generation == old.Generation {
		return nil
	}
	needs, err := ndf.DefaultFramework.InferForPodUpdate(
		&ndf.PodInfo{Spec: &old.Spec, Status: &old.Status}, &ndf.PodInfo{Spec: &pod.Spec, Status: &pod.Status}, kubernetes)
	if err != nil {
		return forbid(r, fmt.Errorf("failed to infer pod capability requirements: %w", err))
	}
	if needs.IsEmpty() {
		return nil
	}
	obj, err := d.Lookup.Get(ctx, core("nodes"), "", pod.Spec.NodeName)
	if apierrors.IsNotFound(err) {
		return forbid(r, fmt.Errorf("node %q not found", pod.Spec.NodeName))
	} else if err != nil {
		return forbid(r, fmt.Errorf("failed to get node %q: %w", pod.Spec.NodeName, err))
	}
	result, err := ndf.DefaultFramework.MatchNode(needs, obj.(*corev1.Node))
	if err != nil {
		return forbid(r, fmt.Errorf("failed to match pod requirements against node %q: %w", pod.Spec.NodeName, err))
	}
	if !result.IsMatch {
		return forbid(r, fmt.Errorf("pod update requires features %s which are not available on node %q",
			strings.Join(result.UnsatisfiedRequirements, ", "), pod.Spec.NodeName))
	}
	return nil
}
