// Package certificates describes signing requests and trust bundles.
package certificates

import (
	certificatesv1 "k8s.io/api/certificates/v1"

	"fairlead.dev/internal/resource"
)

// Resources is the group's part of the table.
func Resources() []*resource.Resource {
	gv := certificatesv1.SchemeGroupVersion
	return []*resource.Resource{
		resource.ClusterScoped[certificatesv1.CertificateSigningRequest, certificatesv1.CertificateSigningRequestList](gv, "certificatesigningrequests").
			Short("csr").Named(resource.PathSegmentName).WithOther(approval()).WithStatus().
			Select(resource.FieldAt("spec.signerName", "")).
			Shown(requestTable).Ruled(requestStrategy()),
		resource.ClusterScoped[certificatesv1.ClusterTrustBundle, certificatesv1.ClusterTrustBundleList](gv, "clustertrustbundles").
			Select(resource.FieldAt("spec.signerName", "")).Named(bundleName).
			Shown(bundleTable).Ruled(bundleStrategy),
		resource.NamespaceScoped[certificatesv1.PodCertificateRequest, certificatesv1.PodCertificateRequestList](gv, "podcertificaterequests").
			WithStatus().
			Idle("no signer of this control plane issues certificates for PodCertificateRequests: without one of yours the request stays pending").
			Select(resource.FieldAt("spec.signerName", ""), resource.FieldAt("spec.podName", ""), resource.FieldAt("spec.nodeName", "").Index()).
			Shown(podRequestTable).Ruled(podRequestStrategy()),
	}
}
