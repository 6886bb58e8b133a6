package kubelet

import (
	"context"
	"fmt"
	"net/http"

	corev1 "k8s.io/api/core/v1"

	"fairlead.dev/internal/node/shell"
)

// attach streams the output of the container from now on, and echoes stdin if the container has one.
func (s *Server) attach(w http.ResponseWriter, req *http.Request) {
	pod, container := s.found(w, req)
	if pod == nil {
		return
	}
	st, err := instance(pod, container, false)
	if err != nil || !st.running {
		plain(w, http.StatusInternalServerError, fmt.Sprintf("container %s not found in pod %s", container, pod.Name+"_"+pod.Namespace))
		return
	}
	s.open(w, req, session{Server: s, pod: pod, attends: &st, play: func(ctx context.Context, t terminal) (int, error) {
		if entry, ok := s.defs.Attach(pod, container); ok {
			lines := split([]byte(entry.Content), st.started)
			if entry.LogsFile != "" {
				lines = fileLines(entry.LogsFile, st.started)
			}
			t.write(lines)
			return 0, nil
		}
		if t.in != nil && spec(pod, container).Stdin {
			return shell.Run(ctx, s.container(pod, container, st.id), t.streams(), []string{"cat"}), nil
		}
		return s.watchLog(ctx, req, pod, container, st, t), nil
	}})
}

// watchLog streams the log until the container ends, and returns its exit code.
func (s *Server) watchLog(ctx context.Context, req *http.Request, pod *corev1.Pod, container string, st run, t terminal) int {
	if t.in != nil {
		go drain(t.in)
	}
	lines, before := s.lines(pod, container, st, false)
	s.follow(req.WithContext(ctx), pod, container, st.id, before+len(lines), t.write)
	return 0
}

// write writes lines to the terminal, and reports whether that succeeds.
func (t terminal) write(lines []line) bool {
	for _, l := range lines {
		w := t.out
		if l.stderr && !t.tty && t.err != nil {
			w = t.err
		}
		if w == nil {
			continue
		}
		text := l.text
		if t.tty {
			text = append(text[:len(text)-1:len(text)-1], '\r', '\n')
		}
		if _, err := w.Write(text); err != nil {
			return false
		}
	}
	return true
}
