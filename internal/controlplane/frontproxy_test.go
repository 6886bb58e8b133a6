package controlplane_test

import (
	"encoding/json"
	"net/http"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	authenticationv1 "k8s.io/api/authentication/v1"
	"k8s.io/client-go/rest"

	"fairlead.dev/internal/controlplane"
	"fairlead.dev/internal/controlplane/controlplanetest"
	"fairlead.dev/internal/controlplane/pki"
)

// TestFrontProxyUser: a client with a front proxy's certificate acts as the user in its
// X-Remote headers; for any other client the headers are ignored.
func TestFrontProxyUser(t *testing.T) {
	dir := t.TempDir()
	cp := controlplanetest.Start(t, controlplane.Options{DataDir: dir})
	authority, err := pki.Load(filepath.Join(dir, "pki"))
	if err != nil {
		t.Fatal(err)
	}
	proxy := rest.AnonymousClientConfig(cp.Config())
	if proxy.CertData, proxy.KeyData, err = authority.FrontProxy().Client("front-proxy-client"); err != nil {
		t.Fatal(err)
	}
	otherName := rest.CopyConfig(proxy)
	if otherName.CertData, otherName.KeyData, err = authority.FrontProxy().Client("ann"); err != nil {
		t.Fatal(err)
	}
	ask := func(config *rest.Config) (int, authenticationv1.UserInfo) {
		t.Helper()
		client, err := rest.HTTPClientFor(config)
		if err != nil {
			t.Fatal(err)
		}
		req, err := http.NewRequestWithContext(t.Context(), "POST", config.Host+"/apis/authentication.k8s.io/v1/selfsubjectreviews",
			strings.NewReader(`{"apiVersion":"authentication.k8s.io/v1","kind":"SelfSubjectReview"}`))
		if err != nil {
			t.Fatal(err)
		}
		req.Header = http.Header{
			"Content-Type": {"application/json"}, "X-Remote-User": {"bob"}, "X-Remote-Uid": {"u-7"}, "X-Remote-Group": {"dev"},
			"X-Remote-Extra-Scopes": {"wide"},
		}
		resp, err := client.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		var review authenticationv1.SelfSubjectReview
		if resp.StatusCode != http.StatusCreated {
			return resp.StatusCode, review.Status.UserInfo
		}
		if err := json.NewDecoder(resp.Body).Decode(&review); err != nil {
			t.Fatal(err)
		}
		return resp.StatusCode, review.Status.UserInfo
	}
	want := authenticationv1.UserInfo{
		Username: "bob", UID: "u-7", Groups: []string{"dev", "system:authenticated"},
		Extra: map[string]authenticationv1.ExtraValue{"scopes": {"wide"}},
	}
	if code, user := ask(proxy); code != http.StatusCreated || !reflect.DeepEqual(user, want) {
		t.Errorf("%d %+v, want %+v", code, user, want)
	}
	if code, _ := ask(otherName); code != http.StatusUnauthorized {
		t.Errorf("a certificate in another name: %d", code)
	}
	if code, user := ask(cp.Config()); code != http.StatusCreated || user.Username != "kubernetes-admin" {
		t.Errorf("a client of the other authority: %d %+v", code, user)
	}
}
