//go:build linux

package realnode

import (
	"encoding/json"
	"net/http"
	"os"
	"path/filepath"
	"strings"
)

// registryPort is where the server machine serves images, for every registry's name.
const registryPort = "5000"

// registryHandler serves an OCI image layout as a registry, read-only. Which registry a client
// means is in the query as ns, as containerd asks its mirrors.
func registryHandler(layout string) http.Handler {
	serveBlob := func(w http.ResponseWriter, r *http.Request, digest, kind string) {
		hash, ok := strings.CutPrefix(digest, "sha256:")
		if !ok || strings.Contains(hash, "/") {
			http.NotFound(w, r)
			return
		}
		w.Header().Set("Content-Type", kind)
		w.Header().Set("Docker-Content-Digest", digest)
		http.ServeFile(w, r, filepath.Join(layout, "blobs", "sha256", hash))
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		path := strings.TrimPrefix(r.URL.Path, "/v2/")
		if name, digest, ok := strings.Cut(path, "/blobs/"); ok && name != "" {
			serveBlob(w, r, digest, "application/octet-stream")
			return
		}
		name, reference, ok := strings.Cut(path, "/manifests/")
		switch {
		case path == "" || r.URL.Path == "/v2":
			return
		case !ok:
			http.NotFound(w, r)
			return
		case !strings.HasPrefix(reference, "sha256:"):
			var index ociIndex
			text, err := os.ReadFile(filepath.Join(layout, "index.json"))
			if err == nil {
				err = json.Unmarshal(text, &index)
			}
			if err != nil {
				http.Error(w, err.Error(), http.StatusInternalServerError)
				return
			}
			reference = index.find(r.URL.Query().Get("ns") + "/" + name + ":" + reference)
		}
		serveBlob(w, r, reference, mediaManifest)
	})
}
