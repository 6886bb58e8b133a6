package bootstrapsigner

import (
	"context"
	"maps"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	bootstrapapi "k8s.io/cluster-bootstrap/token/api"
	"k8s.io/cluster-bootstrap/token/jws"
	bootstrapsecrets "k8s.io/cluster-bootstrap/util/secrets"

	"fairlead.dev/client"
	"fairlead.dev/controller"
	"fairlead.dev/informer"
	"fairlead.dev/internal/controllers/bootstraptoken"
)

type signer struct {
	info   controller.Objects[*corev1.ConfigMap]
	tokens controller.Objects[*corev1.Secret]
}

// New returns the controller.
func New(env controller.Env) controller.Runner {
	public := client.For[*corev1.ConfigMap](env.Client).Namespace(metav1.NamespacePublic)
	s := &signer{
		info: controller.Objects[*corev1.ConfigMap]{API: public, Informer: informer.New(public, informer.Options[*corev1.ConfigMap]{
			FieldSelector: fields.OneTermEqualSelector(metav1.ObjectNameField, bootstrapapi.ConfigMapClusterInfo).String(),
		})},
		tokens: bootstraptoken.Objects(env),
	}
	loop := controller.New("bootstrapsigner", controller.ByObject(s.info, s.reconcile), controller.Options{})
	return controller.Runners{s.info, s.tokens, loop.Watch(
		controller.For(s.info),
		controller.Watches(s.tokens, func(*corev1.Secret) []controller.Key {
			return []controller.Key{{Namespace: metav1.NamespacePublic, Name: bootstrapapi.ConfigMapClusterInfo}}
		}),
	)}
}

func (s *signer) reconcile(ctx context.Context, m *corev1.ConfigMap) (controller.Result, error) {
	content, ok := m.Data[bootstrapapi.KubeConfigKey]
	if !ok {
		return controller.Result{}, nil
	}
	signed, err := s.signed(m.Data, content)
	if err != nil || maps.Equal(signed, m.Data) {
		return controller.Result{}, err
	}
	m = m.DeepCopy()
	m.Data = signed
	_, err = s.info.API.Update(ctx, m)
	if apierrors.IsConflict(err) { // the event of the other write enqueues it again
		err = nil
	}
	return controller.Result{}, client.IgnoreNotFound(err)
}

// signed returns the data with the signatures of the present tokens, and no others.
func (s *signer) signed(data map[string]string, content string) (map[string]string, error) {
	out := maps.Clone(data)
	maps.DeleteFunc(out, func(key, _ string) bool { return strings.HasPrefix(key, bootstrapapi.JWSSignatureKeyPrefix) })
	for _, t := range s.tokens.Store().List("") {
		id, secret, ok := signing(t)
		if !ok {
			continue
		}
		signature, err := jws.ComputeDetachedSignature(content, id, secret)
		if err != nil {
			return nil, err
		}
		out[bootstrapapi.JWSSignatureKeyPrefix+id] = signature
	}
	return out, nil
}

// signing returns the parts of a token that signs.
func signing(t *corev1.Secret) (id, secret string, ok bool) {
	name, named := bootstrapsecrets.ParseName(t.Name)
	id = bootstrapsecrets.GetData(t, bootstrapapi.BootstrapTokenIDKey)
	secret = bootstrapsecrets.GetData(t, bootstrapapi.BootstrapTokenSecretKey)
	signs := bootstrapsecrets.GetData(t, bootstrapapi.BootstrapTokenUsageSigningKey) == "true"
	return id, secret, named && id == name && secret != "" && signs && !bootstrapsecrets.HasExpired(t, time.Now())
}
