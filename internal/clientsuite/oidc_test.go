package clientsuite

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	_ "k8s.io/client-go/plugin/pkg/client/auth" // the import of programs that read old kubeconfigs
	"k8s.io/client-go/tools/clientcmd/api"

	"fairlead.dev/client"
)

// issuer refreshes tokens as an identity provider does.
func issuer(t *testing.T, token string) (address string, asked *[]string) {
	asked = new([]string)
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		if strings.HasSuffix(r.URL.Path, "openid-configuration") {
			fmt.Fprintf(w, `{"token_endpoint":"http://%s/token"}`, r.Host)
			return
		}
		*asked = append(*asked, r.FormValue("refresh_token"))
		fmt.Fprintf(w, `{"access_token":"a","token_type":"Bearer","refresh_token":"second","id_token":%q}`, token)
	}))
	t.Cleanup(s.Close)
	return s.URL, asked
}

// TestIdentityProvider: the oidc provider of a kubeconfig gives the token it has as long
// as that is good, and has it refreshed when it has expired.
func TestIdentityProvider(t *testing.T) {
	user, token := account(t, newNamespace(t), "crab")
	claims, err := json.Marshal(map[string]any{"exp": time.Now().Add(-time.Minute).Unix()})
	if err != nil {
		t.Fatal(err)
	}
	for what, x := range map[string]struct {
		has   string
		asked string
	}{
		"good":    {token, "[]"},
		"expired": {"e30." + base64.RawURLEncoding.EncodeToString(claims) + ".c2ln", "[first]"},
	} {
		t.Run(what, func(t *testing.T) {
			address, asked := issuer(t, token)
			cluster := trusted()
			c := connect(t, load(t, &cluster, &api.AuthInfo{AuthProvider: &api.AuthProviderConfig{Name: "oidc", Config: map[string]string{
				"idp-issuer-url": address, "client-id": "suite", "id-token": x.has, "refresh-token": "first"}}}), client.Options{})
			is(t, c, user)
			is(t, c, user)
			if got := fmt.Sprint(*asked); got != x.asked {
				t.Errorf("refreshed with %s, want %s", got, x.asked)
			}
		})
	}
}

// TestProvidersThatAreNoMore: providers that client-go has removed get client-go's error.
func TestProvidersThatAreNoMore(t *testing.T) {
	for _, name := range []string{"gcp", "azure"} {
		cluster := trusted()
		config := load(t, &cluster, &api.AuthInfo{AuthProvider: &api.AuthProviderConfig{Name: name}})
		if _, err := client.New(config, client.Options{}); err == nil || !strings.Contains(err.Error(), "has been removed") {
			t.Errorf("%s: %v", name, err)
		}
	}
}
