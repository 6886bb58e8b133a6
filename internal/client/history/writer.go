package history

import (
	"context"
	"encoding/json"
	"net/http"
	"net/url"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"fairlead.dev/client"
	"fairlead.dev/internal/history"
)

// Writer writes objects as they were.
type Writer struct {
	Reader
	FieldManager string
}

// Write updates the object, or creates it if it does not exist, and returns it as stored. A dry run
// returns what would be stored.
func (w Writer) Write(ctx context.Context, object map[string]any, exists, dryRun bool) (map[string]any, error) {
	body, err := json.Marshal(object)
	if err != nil {
		return nil, err
	}
	q := client.Request{Method: http.MethodPost, Path: w.collection(), Query: url.Values{"fieldManager": {w.FieldManager}}, Body: body}
	if exists {
		q.Method, q.Path = http.MethodPut, q.Path+"/"+w.Name
	}
	if dryRun {
		q.Query.Set("dryRun", "All")
	}
	res, err := w.Client.REST().Do(ctx, q)
	if err != nil {
		return nil, err
	}
	return history.Decode(res.Body)
}

// NoDryRun reports whether the error is that of an admission webhook that cannot take part in a dry
// run.
func NoDryRun(err error) bool {
	return apierrors.IsBadRequest(err) && strings.Contains(err.Error(), "does not support dry run")
}

// collection returns the path of the resource's objects.
func (r Reader) collection() string {
	gvr := r.Resource.GVR
	p := "/apis/" + gvr.Group
	if gvr.Group == "" {
		p = "/api"
	}
	p += "/" + gvr.Version
	if r.Resource.Namespaced {
		p += "/namespaces/" + r.Namespace
	}
	return p + "/" + gvr.Resource
}
