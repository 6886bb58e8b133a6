// Package bootstraptoken has the bootstrap tokens of a cluster, for the controllers that follow them.
package bootstraptoken

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	bootstrapapi "k8s.io/cluster-bootstrap/token/api"

	"fairlead.dev/client"
	"fairlead.dev/controller"
	"fairlead.dev/informer"
)

// Objects returns the Secrets of the type bootstrap.kubernetes.io/token in kube-system. Their informer is not the shared one,
// which has all Secrets: the controller runs it as one of its Runners.
func Objects(env controller.Env) controller.Objects[*corev1.Secret] {
	api := client.For[*corev1.Secret](env.Client).Namespace(metav1.NamespaceSystem)
	return controller.Objects[*corev1.Secret]{API: api, Informer: informer.New(api, informer.Options[*corev1.Secret]{
		FieldSelector: fields.OneTermEqualSelector("type", string(bootstrapapi.SecretTypeBootstrapToken)).String(),
	})}
}
