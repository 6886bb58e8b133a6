package serviceaccounttoken

import (
	"bytes"
	"context"
	"slices"
	"sync"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/types"

	"fairlead.dev/client"
	"fairlead.dev/controller"
	"fairlead.dev/informer"
	"fairlead.dev/internal/controllers/cabundle"
)

// byAccount is the index of Secrets by the namespace and name of their account.
const byAccount = "account"

// Options configure the controller.
type Options struct {
	// CA is the API server's CA bundle; it may be empty.
	CA cabundle.Bundle
	// Sign returns the token of an account for a Secret. Without it the controller is idle.
	Sign func(account *corev1.ServiceAccount, secret string) (string, error)
}

type tokens struct {
	o        Options
	accounts controller.Objects[*corev1.ServiceAccount]
	secrets  controller.Objects[*corev1.Secret]
	loop     *controller.Controller

	// mu guards the accounts of deleted Secrets, from the deletion until it is processed.
	mu struct {
		sync.Mutex
		deleted map[controller.Key]account
	}
}

// account is the account that a Secret names; an empty uid matches any.
type account struct {
	name string
	uid  types.UID
}

func accountOf(s *corev1.Secret) account {
	return account{s.Annotations[corev1.ServiceAccountNameKey], types.UID(s.Annotations[corev1.ServiceAccountUIDKey])}
}

// New returns the controller.
func New(env controller.Env, o Options) controller.Runner {
	t := &tokens{
		o:        o,
		accounts: controller.ObjectsOf[*corev1.ServiceAccount](env),
		// It needs only Secrets with tokens: an informer of its own, otherwise like the shared ones.
		secrets: controller.Objects[*corev1.Secret]{
			API: client.For[*corev1.Secret](env.Client),
			Informer: informer.New(client.For[*corev1.Secret](env.Informers.Client()), informer.Options[*corev1.Secret]{
				FieldSelector: fields.OneTermEqualSelector("type", string(corev1.SecretTypeServiceAccountToken)).String(),
				Indexes: map[string]func(*corev1.Secret) []string{byAccount: func(s *corev1.Secret) []string {
					return []string{s.Namespace + "/" + accountOf(s).name}
				}},
			}),
		},
	}
	t.mu.deleted = map[controller.Key]account{}
	t.loop = controller.New("serviceaccounttoken", t.reconcile, controller.Options{})
	if o.Sign == nil {
		return t.loop
	}
	return controller.Runners{t.secrets, t.loop.Watch(
		controller.Handles(t.secrets, informer.Handler[*corev1.Secret]{
			Add:    func(s *corev1.Secret, _ bool) { t.loop.EnqueueFor(controller.KeyOf(s), s) },
			Update: func(_, s *corev1.Secret) { t.loop.EnqueueFor(controller.KeyOf(s), s) },
			Delete: func(s *corev1.Secret) {
				t.remember(controller.KeyOf(s), accountOf(s))
				t.loop.EnqueueFor(controller.KeyOf(s), s)
			},
		}),
		controller.Watches(t.accounts, t.secretsOf),
	), o.CA.Follow(func() {
		for _, s := range t.secrets.Store().List("") {
			t.loop.Enqueue(controller.KeyOf(s))
		}
	})}
}

// secretsOf returns the Secrets that name an account.
func (t *tokens) secretsOf(a *corev1.ServiceAccount) (keys []controller.Key) {
	for _, s := range t.secrets.Store().ByIndex(byAccount, a.Namespace+"/"+a.Name) {
		keys = append(keys, controller.KeyOf(s))
	}
	return keys
}

func (t *tokens) remember(k controller.Key, a account) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.mu.deleted[k] = a
}

func (t *tokens) recall(k controller.Key) (account, bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	a, ok := t.mu.deleted[k]
	delete(t.mu.deleted, k)
	return a, ok
}

// reconcile works on one Secret.
func (t *tokens) reconcile(ctx context.Context, k controller.Key) (controller.Result, error) {
	gone, wasThere := t.recall(k)
	s, ok := t.secrets.Store().Get(k.Namespace, k.Name)
	if !ok {
		if !wasThere {
			return controller.Result{}, nil
		}
		err := t.forget(ctx, k, gone)
		if err != nil {
			t.remember(k, gone)
		}
		return controller.Result{}, err
	}
	a, err := t.account(ctx, k.Namespace, accountOf(s))
	if err != nil {
		return controller.Result{}, err
	}
	if a == nil {
		err := t.secrets.API.Namespace(k.Namespace).Delete(ctx, k.Name, metav1.DeleteOptions{Preconditions: &metav1.Preconditions{UID: &s.UID}})
		return controller.Result{}, ignoreOvertaken(err)
	}
	return controller.Result{}, t.fill(ctx, a, s)
}

// account returns the account that a Secret names, asking the server if the cache lacks it, or nil.
func (t *tokens) account(ctx context.Context, namespace string, of account) (*corev1.ServiceAccount, error) {
	meant := func(a *corev1.ServiceAccount) bool { return of.uid == "" || of.uid == a.UID }
	if a, ok := t.accounts.Store().Get(namespace, of.name); ok && meant(a) {
		return a, nil
	}
	a, err := t.accounts.API.Namespace(namespace).Get(ctx, of.name)
	switch {
	case apierrors.IsNotFound(err):
		return nil, nil
	case err != nil:
		return nil, err
	case !meant(a):
		return nil, nil
	}
	return a, nil
}

// fill writes the data that a Secret lacks, conditional on its resourceVersion: a concurrent change causes the next
// pass.
func (t *tokens) fill(ctx context.Context, a *corev1.ServiceAccount, seen *corev1.Secret) error {
	data := map[string][]byte{}
	if ca := t.o.CA.PEM(); len(ca) > 0 && !bytes.Equal(seen.Data[corev1.ServiceAccountRootCAKey], ca) {
		data[corev1.ServiceAccountRootCAKey] = ca
	}
	if len(seen.Data[corev1.ServiceAccountNamespaceKey]) == 0 {
		data[corev1.ServiceAccountNamespaceKey] = []byte(seen.Namespace)
	}
	if len(seen.Data[corev1.ServiceAccountTokenKey]) == 0 {
		token, err := t.o.Sign(a, seen.Name)
		if err != nil {
			return err
		}
		data[corev1.ServiceAccountTokenKey] = []byte(token)
	}
	if len(data) == 0 {
		return nil
	}
	s := seen.DeepCopy()
	if s.Data == nil {
		s.Data = map[string][]byte{}
	}
	for name, value := range data {
		s.Data[name] = value
	}
	metav1.SetMetaDataAnnotation(&s.ObjectMeta, corev1.ServiceAccountNameKey, a.Name)
	metav1.SetMetaDataAnnotation(&s.ObjectMeta, corev1.ServiceAccountUIDKey, string(a.UID))
	_, err := t.secrets.API.Namespace(s.Namespace).Update(ctx, s)
	return ignoreOvertaken(err)
}

// forget removes a deleted Secret from its account's list.
func (t *tokens) forget(ctx context.Context, secret controller.Key, of account) error {
	accounts := t.accounts.API.Namespace(secret.Namespace)
	a, err := accounts.Get(ctx, of.name)
	if apierrors.IsNotFound(err) {
		return nil
	}
	if err != nil || of.uid != "" && a.UID != of.uid {
		return err
	}
	listed := len(a.Secrets)
	others := slices.DeleteFunc(a.Secrets, func(r corev1.ObjectReference) bool { return r.Name == secret.Name })
	if len(others) == listed {
		return nil
	}
	a.Secrets = others
	_, err = accounts.Update(ctx, a)
	return client.IgnoreNotFound(err)
}

// ignoreOvertaken ignores conflicts and missing objects, after which the other client's change causes the next
// pass.
func ignoreOvertaken(err error) error {
	if apierrors.IsConflict(err) || apierrors.IsNotFound(err) {
		return nil
	}
	return err
}
