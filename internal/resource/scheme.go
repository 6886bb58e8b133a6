package resource

import (
	"sync"

	"fairlead.dev/internal/kinds"
	admissionv1 "k8s.io/api/admission/v1"
	admissionregistrationv1alpha1 "k8s.io/api/admissionregistration/v1alpha1"
	admissionregistrationv1beta1 "k8s.io/api/admissionregistration/v1beta1"
	authenticationv1 "k8s.io/api/authentication/v1"
	certificatesv1alpha1 "k8s.io/api/certificates/v1alpha1"
	certificatesv1beta1 "k8s.io/api/certificates/v1beta1"
	coordinationv1alpha2 "k8s.io/api/coordination/v1alpha2"
	coordinationv1beta1 "k8s.io/api/coordination/v1beta1"
	networkingv1beta1 "k8s.io/api/networking/v1beta1"
	resourcev1alpha3 "k8s.io/api/resource/v1alpha3"
	resourcev1beta1 "k8s.io/api/resource/v1beta1"
	resourcev1beta2 "k8s.io/api/resource/v1beta2"
	schedulingv1alpha3 "k8s.io/api/scheduling/v1alpha3"
	storagev1beta1 "k8s.io/api/storage/v1beta1"
	migrationv1beta1 "k8s.io/api/storagemigration/v1beta1"
	apiextensionsv1beta1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1beta1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	metricsv1beta1 "k8s.io/metrics/pkg/apis/metrics/v1beta1"
	"k8s.io/utils/ptr"
)

// Scheme returns the scheme with the Go types of all built-in groups in their stable versions, the options kinds of
// the verbs, and meta.k8s.io, and with the defaults of kinds that are not stored. It is a shared instance and must not be modified.
func Scheme() *runtime.Scheme { return scheme() }

var scheme = sync.OnceValue(func() *runtime.Scheme {
	s := runtime.NewScheme()
	utilruntime.Must(kinds.AddToScheme(s))
	utilruntime.Must(admissionv1.AddToScheme(s))
	utilruntime.Must(metricsv1beta1.AddToScheme(s))
	utilruntime.Must(metav1.AddMetaToScheme(s))
	for _, add := range []func(*runtime.Scheme) error{ // served on request, or only read
		apiextensionsv1beta1.AddToScheme,
		admissionregistrationv1alpha1.AddToScheme, admissionregistrationv1beta1.AddToScheme,
		certificatesv1alpha1.AddToScheme, certificatesv1beta1.AddToScheme,
		coordinationv1alpha2.AddToScheme, coordinationv1beta1.AddToScheme,
		networkingv1beta1.AddToScheme,
		resourcev1alpha3.AddToScheme, resourcev1beta1.AddToScheme, resourcev1beta2.AddToScheme,
		schedulingv1alpha3.AddToScheme, storagev1beta1.AddToScheme, migrationv1beta1.AddToScheme,
	} {
		utilruntime.Must(add(s))
	}
	s.AddTypeDefaultingFunc(&authenticationv1.TokenRequest{}, defaultTokenRequest)
	return s
})

// defaultTokenRequest sets the default expiration of a service account token.
func defaultTokenRequest(obj any) {
	if t := obj.(*authenticationv1.TokenRequest); t.Spec.ExpirationSeconds == nil {
		t.Spec.ExpirationSeconds = ptr.To(int64(60 * 60))
	}
}
