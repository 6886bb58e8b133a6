// Package certificates describes signing requests and trust bundles.
package certificates

import (
	certificatesv1 "k8s.io/api/certificates/v1"
	certificatesv1alpha1 "k8s.io/api/certificates/v1alpha1"
	certificatesv1beta1 "k8s.io/api/certificates/v1beta1"

	"fairlead.dev/internal/resource"
	"fairlead.dev/internal/resource/podspec"
)

// Resources is the group's part of the table.
func Resources() []*resource.Resource {
	gv := certificatesv1.SchemeGroupVersion
	return []*resource.Resource{
		resource.ClusterScoped[certificatesv1.CertificateSigningRequest, certificatesv1.CertificateSigningRequestList](gv, "certificatesigningrequests").
			WithShortNames("csr").WithNameRule(resource.PathSegmentName).WithSubresourceOfKind(approval()).WithStatus().
			WithSelectableFields(resource.FieldAt("spec.signerName", "")).
			WithTable(requestTable).WithStrategy(requestStrategy()),
		resource.ClusterScoped[certificatesv1.ClusterTrustBundle, certificatesv1.ClusterTrustBundleList](gv, "clustertrustbundles").
			WithSelectableFields(resource.FieldAt("spec.signerName", "")).WithNameRule(podspec.BundleName).
			WithTable(bundleTable).WithStrategy(bundleStrategy).
			WithVersionOnRequest(resource.VersionOf[certificatesv1beta1.ClusterTrustBundle, certificatesv1beta1.ClusterTrustBundleList]("v1beta1"), nil, nil).
			WithVersionOnRequest(resource.VersionOf[certificatesv1alpha1.ClusterTrustBundle, certificatesv1alpha1.ClusterTrustBundleList]("v1alpha1"), nil, nil),
		resource.NamespaceScoped[certificatesv1.PodCertificateRequest, certificatesv1.PodCertificateRequestList](gv, "podcertificaterequests").
			WithStatus().
			WithNoEffectWarning("no signer of this control plane issues certificates for PodCertificateRequests: without one of yours the request stays pending").
			WithSelectableFields(resource.FieldAt("spec.signerName", ""), resource.FieldAt("spec.podName", ""), resource.FieldAt("spec.nodeName", "").Index()).
			WithTable(podRequestTable).WithStrategy(podRequestStrategy()).
			WithVersionOnRequest(resource.VersionOf[certificatesv1beta1.PodCertificateRequest, certificatesv1beta1.PodCertificateRequestList]("v1beta1"), nil, nil),
	}
}
