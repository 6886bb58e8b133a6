package controlplane

import (
	"fmt"
	"net/http"
	"strconv"

	"fairlead.dev/internal/client/lives"
	"fairlead.dev/server"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
)

// mapped serves lives.MapPath. It reads the objects as the requesting user, so that users see only data that they may read.
func mapped(s *server.Server) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		answer, err := readMap(s, r)
		respond(w, answer, err)
	})
}

func readMap(s *server.Server, r *http.Request) (lives.Map, error) {
	c, err := asUser(s, r)
	if err != nil {
		return lives.Map{}, err
	}
	q := r.URL.Query()
	resource, namespace, name := q.Get("resource"), q.Get("namespace"), q.Get("name")
	switch {
	case (resource == "") != (name == ""):
		return lives.Map{}, apierrors.NewBadRequest("the query parameters resource and name belong together")
	case resource == "" && namespace == "":
		return lives.Map{}, apierrors.NewBadRequest("a map is of a namespace, or around an object: the query has neither")
	case resource == "":
		return lives.NamespaceMap(r.Context(), c, namespace)
	}
	steps := 1
	if text := q.Get("steps"); text != "" {
		if steps, err = strconv.Atoi(text); err != nil || steps < 1 || steps > lives.MaxSteps {
			return lives.Map{}, apierrors.NewBadRequest(fmt.Sprintf("steps %q: want a number from 1 to %d", text, lives.MaxSteps))
		}
	}
	return lives.MapAround(r.Context(), c, resource, namespace, name, steps)
}
