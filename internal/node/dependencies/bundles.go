package dependencies

import (
	"errors"
	"fmt"
	"slices"

	certificatesv1 "k8s.io/api/certificates/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
)

// anchors returns the error about missing trust anchors of a volume.
func anchors(p *corev1.ClusterTrustBundleProjection, find Find) error {
	switch {
	case p.Name != nil:
		_, err := find(Key{Kind: Bundle, Name: *p.Name})
		if (err == NotFound{Kind: Bundle, Name: *p.Name}) {
			if isTrue(p.Optional) {
				return nil
			}
			return fmt.Errorf("while getting ClusterTrustBundle: %w", err)
		}
		return err
	case p.SignerName == nil:
		return errors.New("ClusterTrustBundle projection requires either name or signerName to be set")
	}
	obj, err := find(Key{Kind: Signer, Name: *p.SignerName})
	if err != nil && (err != NotFound{Kind: Signer, Name: *p.SignerName}) {
		return err
	}
	selector, err := metav1.LabelSelectorAsSelector(p.LabelSelector)
	if err != nil {
		return fmt.Errorf("while parsing label selector: %w", err)
	}
	all, _ := obj.([]*certificatesv1.ClusterTrustBundle)
	if isTrue(p.Optional) || slices.ContainsFunc(all, func(b *certificatesv1.ClusterTrustBundle) bool { return selector.Matches(labels.Set(b.Labels)) }) {
		return nil
	}
	return errors.New("combination of signerName and labelSelector matched zero ClusterTrustBundles")
}
