package release_test

import (
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-containerregistry/pkg/authn"
	"github.com/google/go-containerregistry/pkg/name"
	"github.com/google/go-containerregistry/pkg/registry"
	"github.com/google/go-containerregistry/pkg/v1/layout"
	"github.com/google/go-containerregistry/pkg/v1/remote"
)

// TestPush copies the image to a registry that wants a password, and reads all its platforms back.
func TestPush(t *testing.T) {
	blobs := registry.New()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if user, password, _ := r.BasicAuth(); user != "robot" || password != "secret" {
			w.Header().Set("WWW-Authenticate", `Basic realm="test"`)
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		blobs.ServeHTTP(w, r)
	}))
	t.Cleanup(server.Close)
	image := filepath.Join(dist, "image")
	to := strings.TrimPrefix(server.URL, "http://") + "/owner/fairlead:v" + version(t)
	push := func(password string) error {
		cmd := exec.Command("go", "run", "./push", "-image="+image, "-to="+to)
		cmd.Env = append(os.Environ(), "REGISTRY_USER=robot", "REGISTRY_PASSWORD="+password)
		out, err := cmd.CombinedOutput()
		t.Logf("push: %s", out)
		return err
	}
	if err := push("wrong"); err == nil {
		t.Error("a wrong password is accepted")
	}
	if err := push("secret"); err != nil {
		t.Fatal(err)
	}
	ref, err := name.ParseReference(to)
	if err != nil {
		t.Fatal(err)
	}
	pushed, err := remote.Index(ref, remote.WithAuth(&authn.Basic{Username: "robot", Password: "secret"}))
	if err != nil {
		t.Fatal(err)
	}
	local, err := layout.ImageIndexFromPath(image)
	if err != nil {
		t.Fatal(err)
	}
	want, err := local.Digest()
	if err != nil {
		t.Fatal(err)
	}
	got, err := pushed.Digest()
	if err != nil || got != want {
		t.Errorf("the registry has %v, %v; the layout is %v", got, err, want)
	}
	manifest, err := pushed.IndexManifest()
	if err != nil || len(manifest.Manifests) != 2 {
		t.Errorf("the pushed index has %+v, %v", manifest, err)
	}
}
