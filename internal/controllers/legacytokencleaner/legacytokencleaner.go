package legacytokencleaner

import (
	"cmp"
	"context"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"

	"fairlead.dev/client"
	"fairlead.dev/controller"
	"fairlead.dev/informer"
)

const (
	tracking     = "kube-apiserver-legacy-service-account-token-tracking"
	lastUsed     = "kubernetes.io/legacy-token-last-used"
	invalidSince = "kubernetes.io/legacy-token-invalid-since"

	day = 24 * time.Hour
)

// Options configure the controller.
type Options struct {
	// Unused is how long a Secret is not used before its token becomes invalid, and how long it is invalid before it is
	// deleted. Zero means 365 days.
	Unused time.Duration
}

type cleaner struct {
	unused   time.Duration
	secrets  controller.Objects[*corev1.Secret]
	accounts controller.Objects[*corev1.ServiceAccount]
	pods     controller.Objects[*corev1.Pod]
	maps     client.Resource[*corev1.ConfigMap]
}

// New returns the controller.
func New(env controller.Env, o Options) controller.Runner {
	c := &cleaner{
		unused: cmp.Or(o.Unused, 365*day),
		// Only Secrets with tokens: an informer of its own, otherwise like the shared ones.
		secrets: controller.Objects[*corev1.Secret]{
			API: client.For[*corev1.Secret](env.Client),
			Informer: informer.New(client.For[*corev1.Secret](env.Informers.Client()), informer.Options[*corev1.Secret]{
				FieldSelector: fields.OneTermEqualSelector("type", string(corev1.SecretTypeServiceAccountToken)).String(),
			}),
		},
		accounts: controller.ObjectsOf[*corev1.ServiceAccount](env),
		pods:     controller.ObjectsOf[*corev1.Pod](env),
		maps:     client.For[*corev1.ConfigMap](env.Client).Namespace(metav1.NamespaceSystem),
	}
	loop := controller.New("legacytokencleaner", controller.ByObject(c.secrets, c.reconcile), controller.Options{})
	return controller.Runners{c.secrets, loop.Watch(controller.For(c.secrets), controller.Reads(c.accounts), controller.Reads(c.pods))}
}

func (c *cleaner) reconcile(ctx context.Context, s *corev1.Secret) (controller.Result, error) {
	err := c.clean(ctx, s)
	return controller.Result{RequeueAfter: day}, client.IgnoreNotFound(err)
}

// clean takes the next step of a Secret that is unused.
func (c *cleaner) clean(ctx context.Context, s *corev1.Secret) error {
	before := time.Now().UTC().Add(-c.unused)
	date := before.Format(time.DateOnly)
	if s.DeletionTimestamp != nil || !s.CreationTimestamp.Time.Before(before) || !c.generated(s) || c.mounted(s) {
		return nil
	}
	if last, ok := s.Labels[lastUsed]; ok && (!isDate(last) || last >= date) {
		return nil
	}
	tracked, err := c.tracked(ctx)
	if err != nil || before.Before(tracked) {
		return err
	}
	api := c.secrets.API.Namespace(s.Namespace)
	since := s.Labels[invalidSince]
	switch {
	case !isDate(since):
		_, err = api.Patch(ctx, s.Name, client.MergePatch(metav1.PartialObjectMetadata{ObjectMeta: metav1.ObjectMeta{
			UID: s.UID, Labels: map[string]string{invalidSince: time.Now().UTC().Format(time.DateOnly)},
		}}))
	case since < date:
		err = api.Delete(ctx, s.Name, metav1.DeleteOptions{Preconditions: &metav1.Preconditions{ResourceVersion: &s.ResourceVersion}})
	}
	return err
}

func isDate(text string) bool {
	_, err := time.Parse(time.DateOnly, text)
	return err == nil
}

// tracked returns the beginning of the first day on which all uses are tracked.
func (c *cleaner) tracked(ctx context.Context) (time.Time, error) {
	m, err := c.maps.Get(ctx, tracking)
	if err != nil {
		return time.Time{}, err
	}
	since, err := time.Parse(time.DateOnly, m.Data["since"])
	if err != nil {
		return time.Time{}, fmt.Errorf("the date in the ConfigMap %s: %w", tracking, err)
	}
	return since.AddDate(0, 0, 1), nil
}

// generated reports whether the account of a Secret lists it.
func (c *cleaner) generated(s *corev1.Secret) bool {
	a, ok := c.accounts.Store().Get(s.Namespace, s.Annotations[corev1.ServiceAccountNameKey])
	if uid := s.Annotations[corev1.ServiceAccountUIDKey]; !ok || uid != "" && uid != string(a.UID) {
		return false
	}
	for _, r := range a.Secrets {
		if r.Name == s.Name {
			return true
		}
	}
	return false
}
