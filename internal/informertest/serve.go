package informertest

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

func (s *Server) serve(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	refuse := s.mu.refuse > 0
	if refuse {
		s.mu.refuse--
	}
	s.mu.Unlock()
	ns, found := "", r.URL.Path == "/api/v1/pods"
	if rest, ok := strings.CutPrefix(r.URL.Path, "/api/v1/namespaces/"); ok {
		ns, found = strings.CutSuffix(rest, "/pods")
	}
	switch q := r.URL.Query(); {
	case refuse:
		http.Error(w, "not now", http.StatusServiceUnavailable)
	case r.URL.Path == "/api/v1":
		writeJSON(w, 200, &metav1.APIResourceList{
			TypeMeta: metav1.TypeMeta{Kind: "APIResourceList", APIVersion: "v1"}, GroupVersion: "v1",
			APIResources: []metav1.APIResource{{Name: "pods", Kind: "Pod", Namespaced: true}},
		})
	case !found:
		http.NotFound(w, r)
	case q.Get("watch") == "true":
		s.watch(w, r, ns)
	default:
		s.list(w, r, ns)
		if s.AfterList != nil {
			s.AfterList()
		}
	}
}

func writeJSON(w http.ResponseWriter, code int, v any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(code)
	json.NewEncoder(w).Encode(v)
}

func writeStatus(w http.ResponseWriter, err *apierrors.StatusError) {
	st := status(err)
	writeJSON(w, int(st.Code), st)
}

func status(err *apierrors.StatusError) *metav1.Status {
	st := err.ErrStatus
	st.Kind, st.APIVersion = "Status", "v1"
	return &st
}

// list pages through the present state; a continue token names a revision and a
// position, and expires when the revision is compacted.
func (s *Server) list(w http.ResponseWriter, r *http.Request, ns string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	limit, _ := strconv.Atoi(r.URL.Query().Get("limit"))
	from, rev := 0, s.mu.rev
	if c := r.URL.Query().Get("continue"); c != "" {
		fmt.Sscanf(c, "%d/%d", &rev, &from)
		if rev < s.mu.oldest {
			writeStatus(w, apierrors.NewResourceExpired("The provided continue parameter is too old"))
			return
		}
	}
	l := corev1.PodList{TypeMeta: metav1.TypeMeta{Kind: "PodList", APIVersion: "v1"}}
	l.ResourceVersion = strconv.FormatUint(rev, 10)
	all := s.sorted(ns)
	to := len(all)
	if limit > 0 && from+limit < to {
		to = from + limit
		l.Continue = fmt.Sprintf("%d/%d", rev, to)
	}
	for _, p := range all[min(from, len(all)):to] {
		l.Items = append(l.Items, *p)
	}
	s.Lists.Add(1)
	writeJSON(w, 200, &l)
}

func (s *Server) watch(w http.ResponseWriter, r *http.Request, ns string) {
	q := r.URL.Query()
	initial := q.Get("sendInitialEvents") == "true"
	if initial && s.NoStreamedLists {
		writeStatus(w, apierrors.NewInvalid(schema.GroupKind{Group: "meta.k8s.io", Kind: "ListOptions"}, "", nil))
		return
	}
	s.mu.Lock()
	broken := s.mu.broken
	s.mu.Unlock()
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(200)
	w.(http.Flusher).Flush()
	s.Watches.Add(1)
	var pos uint64
	if initial {
		s.StreamedLists.Add(1)
		pos = s.sendState(w, ns)
	} else {
		pos, _ = strconv.ParseUint(q.Get("resourceVersion"), 10, 64)
	}
	for {
		s.mu.Lock()
		bell, expired := s.mu.bell, pos < s.mu.oldest
		var send []entry
		for _, e := range s.mu.log {
			if e.rev > pos {
				send = append(send, e)
			}
		}
		s.mu.Unlock()
		if expired {
			b, _ := json.Marshal(status(apierrors.NewResourceExpired("too old resource version")))
			event(w, "ERROR", b)
			return
		}
		for _, e := range send {
			if ns == "" || strings.Contains(string(e.data), `"namespace":"`+ns+`"`) {
				event(w, e.typ, e.data)
			}
			pos = e.rev
		}
		w.(http.Flusher).Flush()
		select {
		case <-bell:
		case <-broken: // in the middle of an event that never was
			fmt.Fprint(w, `{"type":"ADDED","object":{"kind":"Pod","metadata":{"name":"gho`)
			w.(http.Flusher).Flush()
			panic(http.ErrAbortHandler)
		case <-r.Context().Done():
			return
		}
	}
}

// sendState sends the present objects as ADDED events, and the bookmark that ends them.
func (s *Server) sendState(w http.ResponseWriter, ns string) uint64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, p := range s.sorted(ns) {
		event(w, "ADDED", encode(p))
	}
	end := &corev1.Pod{}
	end.ResourceVersion = strconv.FormatUint(s.mu.rev, 10)
	end.Annotations = map[string]string{metav1.InitialEventsAnnotationKey: "true"}
	event(w, "BOOKMARK", encode(end))
	return s.mu.rev
}

func event(w http.ResponseWriter, typ string, data []byte) {
	fmt.Fprintf(w, "{\"type\":%q,\"object\":%s}\n", typ, data)
}
