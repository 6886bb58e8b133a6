package clusters

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
)

// root is the path below which the control planes are.
const root = "/clusters/"

// Over implements controlplane.Host.
func (h *Host) Over(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !strings.HasPrefix(r.URL.Path, root) {
			next.ServeHTTP(w, r)
			return
		}
		name, _, _ := strings.Cut(r.URL.Path[len(root):], "/")
		c := h.find(name)
		if c == nil || name == "" {
			refuse(w, apierrors.NewNotFound(Resource, name))
			return
		}
		inner, ok := below(r, root+name)
		if !ok {
			refuse(w, apierrors.NewBadRequest("the path has the name of the cluster in an encoded form"))
			return
		}
		if cp := c.running.Load(); cp == nil || !cp.ServeFront(w, inner) {
			w.Header().Set("Retry-After", "1")
			refuse(w, apierrors.NewServiceUnavailable(fmt.Sprintf("cluster %q is starting or has ended", name)))
		}
	})
}

// below returns the request without the prefix of its path. It reports false if the path has the prefix only once decoded.
func below(r *http.Request, prefix string) (*http.Request, bool) {
	inner := *r
	inner.URL = new(url.URL)
	*inner.URL = *r.URL
	var ok bool
	if inner.URL.RawPath != "" {
		if inner.URL.RawPath, ok = strings.CutPrefix(r.URL.RawPath, prefix); !ok {
			return nil, false
		}
	}
	if inner.URL.Path = strings.TrimPrefix(r.URL.Path, prefix); inner.URL.Path == "" {
		inner.URL.Path = "/"
	}
	inner.RequestURI = inner.URL.RequestURI()
	return &inner, true
}

// refuse answers with an error.
func refuse(w http.ResponseWriter, err *apierrors.StatusError) {
	err.ErrStatus.Kind, err.ErrStatus.APIVersion = "Status", "v1"
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(int(err.ErrStatus.Code))
	_ = json.NewEncoder(w).Encode(err.ErrStatus)
}
