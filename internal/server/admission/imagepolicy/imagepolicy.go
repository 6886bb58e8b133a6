// Package imagepolicy asks a server whether pods may have their images, by ImageReviews of imagepolicy.k8s.io/v1alpha1.
//
// # Contract
//
// Pods are reviewed when they are created or updated, and ephemeral containers when they are added. The review has the
// images and those annotations of the pod whose keys contain ".image-policy.k8s.io/". A server that does not answer is
// asked again, and then the configuration decides. Answers are kept, in up to 1024 entries, for the configured times.
//
// # Concurrency
//
// The plugin may be used from many goroutines.
package imagepolicy

import (
	"context"
	"errors"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	imagepolicyv1alpha1 "k8s.io/api/imagepolicy/v1alpha1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/apimachinery/pkg/util/cache"
	utilnet "k8s.io/apimachinery/pkg/util/net"
	utilwebhook "k8s.io/apiserver/pkg/util/webhook"

	"fairlead.dev/internal/server/admission"
	"fairlead.dev/internal/server/admission/config"
	"fairlead.dev/internal/server/audit"
)

// annotationPrefix is that of the annotations of audit events.
const annotationPrefix = "imagepolicywebhook.image-policy.k8s.io/"

// Plugin is ImagePolicyWebhook. Make it with New.
type Plugin struct {
	config  config.ImagePolicy
	webhook *utilwebhook.GenericWebhook
	answers *cache.LRUExpireCache
}

// New returns the plugin for the server of the configuration, which dial connects to.
func New(c config.ImagePolicy, dial utilnet.DialFunc) (*Plugin, error) {
	fail := func(err error) (*Plugin, error) {
		return nil, fmt.Errorf("couldn't init admission plugin %q: %w", "ImagePolicyWebhook", err)
	}
	client, err := utilwebhook.LoadKubeconfig(c.KubeConfigFile, dial)
	if err != nil {
		return fail(err)
	}
	scheme := runtime.NewScheme()
	if err := imagepolicyv1alpha1.AddToScheme(scheme); err != nil {
		return fail(err)
	}
	w, err := utilwebhook.NewGenericWebhook(scheme, serializer.NewCodecFactory(scheme), client,
		[]schema.GroupVersion{imagepolicyv1alpha1.SchemeGroupVersion}, utilwebhook.DefaultRetryBackoffWithInitialDelay(c.RetryBackoff))
	if err != nil {
		return fail(err)
	}
	return &Plugin{c, w, cache.NewLRUExpireCache(1024)}, nil
}

// Name implements admission.Plugin.
func (*Plugin) Name() string { return "ImagePolicyWebhook" }

// Complete implements admission.Completer. A pod that is admitted because the server does not answer gets an annotation.
func (p *Plugin) Complete(ctx context.Context, r *admission.Request) error {
	if r.Verb != admission.Create && r.Verb != admission.Update || r.GroupResource() != corev1.Resource("pods") {
		return nil
	}
	pod, ok := r.Object.(*corev1.Pod)
	if !ok || r.Subresource != "" && r.Subresource != "ephemeralcontainers" {
		return nil
	}
	status, err := p.ask(ctx, reviewOf(pod, r))
	switch {
	case err != nil && p.config.DefaultAllow:
		metav1.SetMetaDataAnnotation(&pod.ObjectMeta, corev1.ImagePolicyFailedOpenKey, "true")
		audit.Annotate(ctx, annotationPrefix+"failed-open", "true")
		return nil
	case err != nil:
		return admission.Forbidden(r, err)
	}
	for key, value := range status.AuditAnnotations {
		audit.Annotate(ctx, annotationPrefix+key, value)
	}
	switch {
	case status.Allowed:
		return nil
	case status.Reason != "":
		return admission.Forbidden(r, fmt.Errorf("image policy webhook backend denied one or more images: %s", status.Reason))
	}
	return admission.Forbidden(r, errors.New("one or more images rejected by webhook backend"))
}
