package resource

import (
	"sync"

	"fairlead.dev/internal/kinds"
	admissionv1 "k8s.io/api/admission/v1"
	authenticationv1 "k8s.io/api/authentication/v1"
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
	s.AddTypeDefaultingFunc(&authenticationv1.TokenRequest{}, defaultTokenRequest)
	return s
})

// defaultTokenRequest sets the default expiration of a service account token.
func defaultTokenRequest(obj any) {
	if t := obj.(*authenticationv1.TokenRequest); t.Spec.ExpirationSeconds == nil {
		t.Spec.ExpirationSeconds = ptr.To(int64(60 * 60))
	}
}
