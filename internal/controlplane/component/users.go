package component

import (
	"context"
	"crypto/x509"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"strings"
	"sync/atomic"
	"time"

	"fairlead.dev/client"
	"fairlead.dev/informer"
	"fairlead.dev/internal/remember"
	"fairlead.dev/internal/server/auth"
	"fairlead.dev/internal/server/auth/bootstrap"
	"fairlead.dev/internal/server/auth/cert"
	authenticationv1 "k8s.io/api/authentication/v1"
	authorizationv1 "k8s.io/api/authorization/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// answerLife is how long an answer of the API server is kept, and answersKept how many are, of each kind.
const (
	answerLife  = 10 * time.Second
	answersKept = 1024
)

var errInvalidToken = errors.New("the token is not valid")

// users authenticates and authorizes requests by the API server.
type users struct {
	client *client.Client
	log    *slog.Logger
	// certificates authenticates by the client CA; nil until that is known.
	certificates atomic.Pointer[auth.Authenticator]
	tokens       *remember.Memory[*auth.User] // nil for an invalid token
	rights       *remember.Memory[bool]
}

func newUsers(c *client.Client, log *slog.Logger) *users {
	return &users{client: c, log: log, tokens: remember.New[*auth.User](answersKept, nil), rights: remember.New[bool](answersKept, nil)}
}

// followTrust keeps the client CA that the API server publishes, until ctx ends.
func (u *users) followTrust(ctx context.Context) error {
	maps := informer.New(client.For[*corev1.ConfigMap](u.client).Namespace(metav1.NamespaceSystem), informer.Options[*corev1.ConfigMap]{
		FieldSelector: "metadata.name=" + bootstrap.TrustName,
	})
	trust := func(m *corev1.ConfigMap) {
		roots := x509.NewCertPool()
		if !roots.AppendCertsFromPEM([]byte(m.Data["client-ca-file"])) {
			u.certificates.Store(nil)
			return
		}
		a := cert.New(roots, time.Now)
		u.certificates.Store(&a)
	}
	maps.Handle(informer.Handler[*corev1.ConfigMap]{
		Add:    func(m *corev1.ConfigMap, _ bool) { trust(m) },
		Update: func(_, m *corev1.ConfigMap) { trust(m) },
		Delete: func(*corev1.ConfigMap) { u.certificates.Store(nil) },
	})
	return maps.Run(ctx)
}

// only passes requests on to next if their user has the right to get the path.
func (u *users) only(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		user, err := u.authenticate(r)
		if err != nil {
			u.log.Warn("a request was not authenticated", "path", r.URL.Path, "error", err)
			http.Error(w, "Unauthorized", http.StatusUnauthorized)
			return
		}
		verb := strings.ToLower(r.Method)
		allowed, err := u.allows(r.Context(), user, verb, r.URL.Path)
		switch {
		case err != nil:
			u.log.Warn("the API server did not decide whether a request is allowed", "path", r.URL.Path, "error", err)
			http.Error(w, "Internal Server Error", http.StatusInternalServerError)
		case !allowed:
			http.Error(w, fmt.Sprintf("forbidden: User %q cannot %s path %q", user.Name, verb, r.URL.Path), http.StatusForbidden)
		default:
			next.ServeHTTP(w, r)
		}
	})
}

// authenticate returns the user of a request, system:anonymous without credentials.
func (u *users) authenticate(r *http.Request) (*auth.User, error) {
	if a := u.certificates.Load(); a != nil {
		if user, ok, err := (*a).Authenticate(r); ok || err != nil {
			return user, err
		}
	}
	scheme, token, _ := strings.Cut(strings.TrimSpace(r.Header.Get("Authorization")), " ")
	if token = strings.TrimSpace(token); !strings.EqualFold(scheme, "Bearer") || token == "" {
		return &auth.User{Name: auth.AnonymousUser, Groups: []string{auth.AllUnauthenticated}}, nil
	}
	user, err := ask(u.tokens, token, func() (*auth.User, error) {
		review, err := client.For[*authenticationv1.TokenReview](u.client).Create(r.Context(), &authenticationv1.TokenReview{
			Spec: authenticationv1.TokenReviewSpec{Token: token},
		})
		if err != nil || !review.Status.Authenticated {
			return nil, err
		}
		u := review.Status.User
		user := &auth.User{Name: u.Username, UID: u.UID, Groups: u.Groups, Extra: map[string][]string{}}
		for name, values := range u.Extra {
			user.Extra[name] = values
		}
		return user, nil
	})
	if err == nil && user == nil {
		err = errInvalidToken
	}
	return user, err
}

// allows reports whether a user may use a verb at a path.
func (u *users) allows(ctx context.Context, user *auth.User, verb, path string) (bool, error) {
	question := fmt.Sprintf("%q %q %q %q %q %q", user.Name, user.UID, user.Groups, user.Extra, verb, path)
	extra := map[string]authorizationv1.ExtraValue{}
	for name, values := range user.Extra {
		extra[name] = values
	}
	return ask(u.rights, question, func() (bool, error) {
		review, err := client.For[*authorizationv1.SubjectAccessReview](u.client).Create(ctx, &authorizationv1.SubjectAccessReview{
			Spec: authorizationv1.SubjectAccessReviewSpec{
				User: user.Name, UID: user.UID, Groups: user.Groups, Extra: extra,
				NonResourceAttributes: &authorizationv1.NonResourceAttributes{Verb: verb, Path: path},
			},
		})
		if err != nil {
			return false, err
		}
		return review.Status.Allowed, nil
	})
}

// ask returns the answer to a question, kept or from the API server. Errors are not kept.
func ask[T any](kept *remember.Memory[T], question string, review func() (T, error)) (T, error) {
	if known, ok := kept.Get([]byte(question)); ok {
		return known, nil
	}
	answer, err := review()
	if err == nil {
		kept.Put([]byte(question), answer, time.Now().Add(answerLife))
	}
	return answer, err
}
