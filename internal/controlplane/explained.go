package controlplane

import (
	"encoding/json"
	"errors"
	"net/http"
	"path"
	"strings"

	"fairlead.dev/client"
	"fairlead.dev/internal/client/lives"
	"fairlead.dev/internal/server/auth"
	"fairlead.dev/internal/trace/show"
	"fairlead.dev/internal/trace/why"
	"fairlead.dev/server"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/rest"
)

// explained serves why.Path, as JSON, or as the text of `fairlead why` for a client that asks for text/plain. It reads the input
// of an explanation as the requesting user, so that users see only data that they may read.
func explained(s *server.Server) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		answer, err := explain(s, r)
		if err == nil && strings.HasPrefix(r.Header.Get("Accept"), "text/plain") {
			w.Header().Set("Content-Type", "text/plain; charset=utf-8")
			w.Header().Set("Cache-Control", "no-store")
			_ = answer.Print(w, show.Palette{}) // fails if the client has gone
			return
		}
		respond(w, answer, err)
	})
}

// respond writes a value as JSON, or the Status of an error.
func respond(w http.ResponseWriter, v any, err error) {
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Cache-Control", "no-store")
	if err != nil {
		status := statusOf(err)
		w.WriteHeader(int(status.Code))
		v = status
	}
	_ = json.NewEncoder(w).Encode(v) // fails if the client has gone
}

// asUser returns a client that makes requests as the user of a GET request, through the handler in memory.
func asUser(s *server.Server, r *http.Request) (*client.Client, error) {
	user, ok := auth.UserFrom(r.Context())
	if !ok {
		return nil, apierrors.NewUnauthorized("the request has no user")
	}
	if r.Method != http.MethodGet {
		return nil, apierrors.NewMethodNotSupported(schema.GroupResource{Resource: path.Base(r.URL.Path)}, r.Method)
	}
	return client.New(&rest.Config{Host: "http://fairlead.in-process", Transport: server.Transport(s, user)}, client.Options{UserAgent: r.UserAgent()})
}

func explain(s *server.Server, r *http.Request) (why.Answer, error) {
	c, err := asUser(s, r)
	if err != nil {
		return nil, err
	}
	q := r.URL.Query()
	resource, name := q.Get("resource"), q.Get("name")
	if (resource == "") != (name == "") {
		return nil, apierrors.NewBadRequest("the query parameters resource and name belong together; without them the explanation is that of the whole cluster")
	}
	if resource == "" {
		return lives.Survey(r.Context(), c)
	}
	subject, err := lives.Subject(r.Context(), c, resource, q.Get("namespace"), name)
	if err != nil {
		return nil, err
	}
	if subject.Unknown() {
		return nil, apierrors.NewNotFound(schema.ParseGroupResource(subject.Resource), subject.Name)
	}
	return why.Explain(subject), nil
}

// statusOf converts an error to a Status.
func statusOf(err error) metav1.Status {
	var status apierrors.APIStatus
	switch {
	case errors.As(err, &status):
		return status.Status()
	case errors.Is(err, lives.ErrNoKind):
		return metav1.Status{Status: metav1.StatusFailure, Code: http.StatusNotFound, Reason: metav1.StatusReasonNotFound, Message: err.Error()}
	}
	return apierrors.NewInternalError(err).Status()
}
