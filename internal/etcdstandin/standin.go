// Package etcdstandin stands in for the etcd of a test harness whose kube-apiserver is Fairlead's. The API server keeps
// the store itself, in the data directory of this etcd, which therefore only answers health checks and tells the API
// server, by Ask, where the directory is.
package etcdstandin

import (
	"context"
	"encoding/json"
	"net/http"
	"path/filepath"
	"strings"
	"time"
)

// storePath is where Handler describes the Store.
const storePath = "/fairlead/store"

// Store is the store that an API server is to keep.
type Store struct {
	// DataDir is the absolute data directory of the etcd.
	DataDir string `json:"dataDir"`
	// NoFsync leaves syncing writes to the operating system.
	NoFsync bool `json:"noFsync"`
}

// Handler answers as etcd does to health checks and to requests for its version, and describes the store.
func Handler(s Store) http.Handler {
	mux := http.NewServeMux()
	answer := func(pattern string, body any) {
		mux.HandleFunc(pattern, func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			json.NewEncoder(w).Encode(body)
		})
	}
	answer("GET /health", map[string]string{"health": "true", "reason": ""})
	answer("GET /version", map[string]string{"etcdserver": Version, "etcdcluster": Version, "storage": strings.Join(strings.Split(Version, ".")[:2], ".") + ".0"})
	answer("GET "+storePath, s)
	return mux
}

// Version is the version of etcd whose interface the store has.
const Version = "3.7.0"

// Ask asks the server at an etcd's client URL for the store to keep. ok is false if the server is another etcd, or
// does not answer.
func Ask(ctx context.Context, url string) (s Store, ok bool) {
	if !strings.HasPrefix(url, "http://") {
		return s, false
	}
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, strings.TrimSuffix(url, "/")+storePath, nil)
	if err != nil {
		return s, false
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return s, false
	}
	defer res.Body.Close()
	if res.StatusCode != http.StatusOK || json.NewDecoder(res.Body).Decode(&s) != nil || !filepath.IsAbs(s.DataDir) {
		return Store{}, false
	}
	return s, true
}

// APIServerDir returns the data directory of the API server in that of the etcd.
func (s Store) APIServerDir() string { return filepath.Join(s.DataDir, "fairlead") }
