package kubeapiserver_test

import (
	"bytes"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"

	authenticationv1 "k8s.io/api/authentication/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// tokenWebhook is a webhook of the tokens of carol, and counts the reviews of each token.
type tokenWebhook struct {
	*httptest.Server
	config string // the file that leads to it

	mu    sync.Mutex
	asked map[string][]authenticationv1.TokenReview
}

func newTokenWebhook(t *testing.T) *tokenWebhook {
	t.Helper()
	w := &tokenWebhook{asked: map[string][]authenticationv1.TokenReview{}}
	w.Server = httptest.NewTLSServer(w)
	t.Cleanup(w.Close)
	ca := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: w.Certificate().Raw})
	text, err := json.Marshal(map[string]any{
		"apiVersion": "v1", "kind": "Config", "current-context": "c",
		"clusters": []any{map[string]any{"name": "c", "cluster": map[string]any{"server": w.URL + "/authenticate", "certificate-authority-data": ca}}},
		"users":    []any{map[string]any{"name": "u", "user": map[string]any{"token": "of-the-server"}}},
		"contexts": []any{map[string]any{"name": "c", "context": map[string]any{"cluster": "c", "user": "u"}}},
	})
	if err != nil {
		t.Fatal(err)
	}
	w.config = filepath.Join(t.TempDir(), "webhook.kubeconfig")
	if err := os.WriteFile(w.config, text, 0o600); err != nil {
		t.Fatal(err)
	}
	return w
}

func (w *tokenWebhook) ServeHTTP(rw http.ResponseWriter, r *http.Request) {
	var review authenticationv1.TokenReview // v1beta1 has the same fields
	if err := json.NewDecoder(r.Body).Decode(&review); err != nil || r.URL.Path != "/authenticate" || r.Header.Get("Authorization") != "Bearer of-the-server" {
		http.Error(rw, "not a review of the server", http.StatusBadRequest)
		return
	}
	w.mu.Lock()
	w.asked[review.Spec.Token] = append(w.asked[review.Spec.Token], review)
	w.mu.Unlock()
	carol := authenticationv1.TokenReviewStatus{Authenticated: true, User: authenticationv1.UserInfo{
		Username: "carol", UID: "c-1", Groups: []string{"devs", "ops"}, Extra: map[string]authenticationv1.ExtraValue{"example.com/scope": {"a", "b"}},
	}}
	switch review.Spec.Token {
	case "carol":
		review.Status = carol
	case "carol-here":
		review.Status = carol
		review.Status.Audiences = []string{"first", "elsewhere"}
	case "carol-elsewhere":
		review.Status = carol
		review.Status.Audiences = []string{"elsewhere"}
	case "error":
		review.Status.Error = "the directory is closed"
	case "failure":
		http.Error(rw, "the webhook has no rights", http.StatusForbidden)
		return
	}
	rw.Header().Set("Content-Type", "application/json")
	json.NewEncoder(rw).Encode(review)
}

func (w *tokenWebhook) reviews(token string) []authenticationv1.TokenReview {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.Clone(w.asked[token])
}

// recordLog returns a function that returns the log of servers that start from now on.
func recordLog(t *testing.T) func() string {
	var mu sync.Mutex
	var text bytes.Buffer
	standardError = writerFunc(func(b []byte) (int, error) {
		mu.Lock()
		defer mu.Unlock()
		return text.Write(b)
	})
	t.Cleanup(func() { standardError = os.Stderr })
	return func() string {
		mu.Lock()
		defer mu.Unlock()
		return text.String()
	}
}

type writerFunc func([]byte) (int, error)

func (f writerFunc) Write(b []byte) (int, error) { return f(b) }

func bearer(token string) http.Header { return http.Header{"Authorization": {"Bearer " + token}} }

// TestTokenWebhook: the webhook is asked about tokens that the server does not know.
func TestTokenWebhook(t *testing.T) {
	for _, version := range []string{"v1", "v1beta1"} {
		t.Run(version, func(t *testing.T) {
			webhook, log := newTokenWebhook(t), recordLog(t)
			as := start(t, "--authentication-token-webhook-config-file="+webhook.config, "--authentication-token-webhook-version="+version, "--api-audiences=first,second")
			url, client := host(as("")), httpClient(t, nil, "")
			carol := authenticationv1.UserInfo{
				Username: "carol", UID: "c-1", Groups: []string{"devs", "ops", "system:authenticated"},
				Extra: map[string]authenticationv1.ExtraValue{"example.com/scope": {"a", "b"}},
			}
			for _, token := range []string{"carol", "carol", "carol-here"} {
				if code, user, body := whoami(t, client, url, bearer(token)); code != http.StatusCreated || !reflect.DeepEqual(user, carol) {
					t.Errorf("%s: %d %+v %s, want %+v", token, code, user, body, carol)
				}
			}
			for _, token := range []string{"wrong", "wrong", "carol-elsewhere", "error", "error", "failure"} {
				code, _, body := whoami(t, client, url, bearer(token))
				if code != http.StatusUnauthorized || strings.Contains(body, "directory") || strings.Contains(body, "rights") || strings.Contains(body, "audience") {
					t.Errorf("%s: %d %s, want 401 without the reason", token, code, body)
				}
			}
			for _, reason := range []string{"the directory is closed", "the webhook has no rights"} {
				if !strings.Contains(log(), reason) {
					t.Errorf("%q is not in the log: %s", reason, log())
				}
			}
			if _, user, _ := whoami(t, client, url, bearer("ada-token")); user.Username != "ada" {
				t.Errorf("a token of the file is that of %+v", user)
			}
			for token, times := range map[string]int{"carol": 1, "wrong": 1, "error": 2, "ada-token": 0} { // errors are not kept
				if got := webhook.reviews(token); len(got) != times {
					t.Errorf("%d reviews of %s, want %d", len(got), token, times)
				}
			}
			asked := webhook.reviews("carol")[0]
			if want := "authentication.k8s.io/" + version; asked.APIVersion != want || !slices.Equal(asked.Spec.Audiences, []string{"first", "second"}) {
				t.Errorf("the review is a %s for %q, want %s for the server's audiences", asked.APIVersion, asked.Spec.Audiences, want)
			}
		})
	}
}

// TestTokenWebhookReviews: a TokenReview of this server asks the webhook too, for the audiences it names.
func TestTokenWebhookReviews(t *testing.T) {
	webhook := newTokenWebhook(t)
	as := start(t, "--authentication-token-webhook-config-file="+webhook.config, "--authentication-token-webhook-version=v1", "--api-audiences=first,second")
	for _, c := range []struct {
		token     string
		audiences []string
		want      []string // nil if the token is invalid
	}{
		{"carol", nil, []string{"first", "second"}},
		{"carol", []string{"second", "elsewhere"}, []string{"second"}},
		{"carol", []string{"elsewhere"}, nil},
		{"carol-elsewhere", []string{"elsewhere"}, []string{"elsewhere"}},
		{"carol-elsewhere", nil, nil},
		{"wrong", nil, nil},
	} {
		review := &authenticationv1.TokenReview{Spec: authenticationv1.TokenReviewSpec{Token: c.token, Audiences: c.audiences}}
		got, err := as("root-token").AuthenticationV1().TokenReviews().Create(t.Context(), review, metav1.CreateOptions{})
		if err != nil {
			t.Fatal(err)
		}
		if got.Status.Authenticated != (c.want != nil) || !slices.Equal(got.Status.Audiences, c.want) || c.want != nil && got.Status.User.Username != "carol" {
			t.Errorf("%s for %q: %+v, want the audiences %q", c.token, c.audiences, got.Status, c.want)
		}
	}
}

// TestTokenWebhookDown: without the webhook its tokens are refused, and the server's own go on.
func TestTokenWebhookDown(t *testing.T) {
	webhook, log := newTokenWebhook(t), recordLog(t)
	as := start(t, "--authentication-token-webhook-config-file="+webhook.config, "--authentication-token-webhook-cache-ttl=0")
	for range 2 {
		if err := list(t, as("carol")); err != nil {
			t.Error(err)
		}
	}
	if got := webhook.reviews("carol"); len(got) != 2 {
		t.Errorf("%d reviews, want one for each request", len(got))
	}
	webhook.CloseClientConnections()
	webhook.Close()
	if err := list(t, as("carol")); !apierrors.IsUnauthorized(err) || strings.Contains(fmt.Sprint(err), "refused") {
		t.Errorf("with the webhook down: %v", err)
	}
	if !strings.Contains(log(), webhook.Listener.Addr().String()) {
		t.Errorf("the log does not tell of the webhook: %s", log())
	}
	if err := list(t, as("ada-token")); err != nil {
		t.Errorf("a token of the file: %v", err)
	}
}

// TestAuthenticationFlagErrors: the error names the flag.
func TestAuthenticationFlagErrors(t *testing.T) {
	webhook := newTokenWebhook(t)
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"--authentication-token-webhook-config-file=" + webhook.config, "--authentication-token-webhook-version=v2"}, "--authentication-token-webhook-version=v2: want v1beta1 or v1"},
		{[]string{"--authentication-token-webhook-config-file=" + filepath.Join(t.TempDir(), "absent")}, "token webhook"},
		{[]string{"--requestheader-client-ca-file=" + filepath.Join(t.TempDir(), "absent")}, "front proxy CA"},
		{[]string{"--requestheader-client-ca-file=" + webhook.config}, "front proxy CA"},
		{[]string{"--requestheader-username-headers= "}, "--requestheader-username-headers"},
		{[]string{"--requestheader-group-headers=X-Team,"}, "--requestheader-group-headers"},
		{[]string{"--requestheader-extra-headers-prefix= "}, "--requestheader-extra-headers-prefix"},
		{[]string{"--requestheader-allowed-names=a, "}, "--requestheader-allowed-names"},
		{[]string{"--requestheader-uid-headers=X-Number"}, "--requestheader-uid-headers: want X-Remote-Uid too"},
	} {
		if err := startFails(t, c.args...); !strings.Contains(err, c.want) {
			t.Errorf("%q: %s, want %q", c.args, err, c.want)
		}
	}
}
