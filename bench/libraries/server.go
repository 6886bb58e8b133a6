package main

import (
	"fmt"
	"net"
	"net/http"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// tape is a server of pods that replays prepared bytes. It serves only an informer's
// requests.
type tape struct {
	pods int
	live chan int // how many events to play on the watch
	http http.Server
	url  string
}

func startTape(pods int) (*tape, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	s := &tape{pods: pods, live: make(chan int, 1), url: "http://" + l.Addr().String()}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /api/v1", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprint(w, `{"kind":"APIResourceList","apiVersion":"v1","groupVersion":"v1","resources":[{"name":"pods","singularName":"pod","kind":"Pod","namespaced":true,"verbs":["list","watch"]}]}`)
	})
	mux.HandleFunc("GET /api/v1/pods", s.watch)
	mux.HandleFunc("POST /play", func(_ http.ResponseWriter, r *http.Request) {
		n, _ := strconv.Atoi(r.URL.Query().Get("events"))
		s.live <- n
	})
	s.http.Handler = mux
	go s.http.Serve(l)
	return s, nil
}

func (s *tape) stop() { s.http.Close() }

// watch streams the list, and then events when asked to play. A LIST is refused: all
// three libraries stream it.
func (s *tape) watch(w http.ResponseWriter, r *http.Request) {
	if r.URL.Query().Get("sendInitialEvents") != "true" {
		http.Error(w, "this server streams lists only", http.StatusTeapot)
		return
	}
	proto := strings.Contains(strings.Split(r.Header.Get("Accept"), ",")[0], "protobuf")
	w.Header().Set("Content-Type", "application/json")
	if proto {
		w.Header().Set("Content-Type", "application/vnd.kubernetes.protobuf;stream=watch")
	}
	flush := w.(http.Flusher).Flush
	flush()
	s.play(w, newTemplate(frame(proto, "ADDED", templatePod())), 0, s.pods)
	end := &corev1.Pod{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Pod"}}
	end.ResourceVersion, end.Annotations = fmt.Sprint(firstRev+s.pods), map[string]string{metav1.InitialEventsAnnotationKey: "true"}
	w.Write(frame(proto, "BOOKMARK", end))
	flush()
	changed := newTemplate(frame(proto, "MODIFIED", templatePod()))
	for from := s.pods; ; {
		select {
		case n := <-s.live:
			s.play(w, changed, from, n)
			from += n
			flush()
		case <-r.Context().Done():
			return
		}
	}
}

// play writes n events; they go through the pods in turn, each a revision later.
func (s *tape) play(w http.ResponseWriter, t *template, from, n int) {
	const chunk = 64 << 10
	buf := make([]byte, 0, chunk+2*len(t.text))
	for i := from; i < from+n; i++ {
		buf = t.append(buf, i%s.pods, firstRev+i+1)
		if len(buf) >= chunk {
			if _, err := w.Write(buf); err != nil {
				return
			}
			buf = buf[:0]
		}
	}
	w.Write(buf)
}
