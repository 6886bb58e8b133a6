package kubelet

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"

	"fairlead.dev/internal/node/shell"
)

// line is a line of a log, with its newline.
type line struct {
	at     time.Time
	text   []byte
	stderr bool
}

// logs serves the log of a container.
func (s *Server) logs(w http.ResponseWriter, req *http.Request) {
	pod, container := s.found(w, req)
	if pod == nil {
		return
	}
	o, err := readLogOptions(req.URL.Query())
	if err != nil {
		plain(w, http.StatusBadRequest, err.Error())
		return
	}
	st, err := instance(pod, container, o.previous)
	if err != nil {
		plain(w, http.StatusBadRequest, err.Error())
		return
	}
	w.Header().Set("Content-Type", "text/plain")
	w.WriteHeader(http.StatusOK)
	out := &logWriter{w: w, options: o, left: o.limit}
	lines, before := s.lines(pod, container, st, o.previous)
	shown := before + len(lines)
	if o.tail >= 0 && int64(len(lines)) > o.tail {
		lines = lines[int64(len(lines))-o.tail:]
	}
	if !out.write(lines) || !o.follow || o.previous {
		return
	}
	s.follow(req, pod, container, st.id, shown, out.write)
}

// follow writes new lines of a log, after the first shown ones, until the instance of the container has ended, the
// request has ended, or write returns false.
func (s *Server) follow(req *http.Request, pod *corev1.Pod, container, id string, shown int, write func([]line) bool) {
	entry, _ := s.defs.Logs(pod, container)
	var files <-chan time.Time // a growing file sends no signal
	if entry != nil && entry.LogsFile != "" && entry.Follow {
		t := time.NewTicker(250 * time.Millisecond)
		defer t.Stop()
		files = t.C
	} else if p, ok := s.predict(pod, container); ok && (len(p.Output) > 0 || p.Loop != nil) && entry == nil {
		t := time.NewTicker(250 * time.Millisecond)
		defer t.Stop()
		files = t.C
	}
	for {
		latest, changed := s.pods.Pod(pod.Namespace, pod.Name)
		if latest == nil || latest.UID != pod.UID {
			return
		}
		st, err := instance(latest, container, false)
		if err != nil || st.id != id {
			st, err = instance(latest, container, true)
			if err != nil || st.id != id {
				return
			}
		}
		lines, before := s.lines(latest, container, st, false)
		if n := before + len(lines); n > shown {
			if !write(lines[max(0, shown-before):]) {
				return
			}
			shown = n
		}
		if !st.running {
			return
		}
		select {
		case <-changed:
		case <-files:
		case <-req.Context().Done():
			return
		}
	}
}

// run is one instance of a container, between two restarts.
type run struct {
	id       string
	running  bool
	started  time.Time
	finished time.Time
	exitCode int32
	restarts int32
}

// instance returns the instance of a container whose log is asked for, or a kubelet's error if it does not exist.
func instance(pod *corev1.Pod, container string, previous bool) (run, error) {
	c := status(pod, container)
	if c == nil {
		return run{}, fmt.Errorf("container %q in pod %q is not available", container, pod.Name)
	}
	ended := func(t *corev1.ContainerStateTerminated, restarts int32) run {
		return run{id: t.ContainerID, started: t.StartedAt.Time, finished: t.FinishedAt.Time, exitCode: t.ExitCode, restarts: restarts}
	}
	last := c.LastTerminationState.Terminated
	switch {
	case previous && (last == nil || last.ContainerID == ""):
		return run{}, fmt.Errorf("previous terminated container %q in pod %q not found", container, pod.Name)
	case previous && c.State.Waiting != nil: // the next instance has not started
		return ended(last, c.RestartCount), nil
	case previous:
		return ended(last, max(0, c.RestartCount-1)), nil
	case c.State.Running != nil:
		return run{id: c.ContainerID, running: true, started: c.State.Running.StartedAt.Time, restarts: c.RestartCount}, nil
	case c.State.Terminated != nil && c.State.Terminated.ContainerID != "":
		return ended(c.State.Terminated, c.RestartCount), nil
	case last != nil && last.ContainerID != "":
		return ended(last, c.RestartCount), nil
	case last != nil || c.State.Terminated != nil:
		return run{}, fmt.Errorf("container %q in pod %q is terminated", container, pod.Name)
	case c.State.Waiting == nil:
		return run{}, fmt.Errorf("container %q in pod %q is waiting to start - no logs yet", container, pod.Name)
	}
	switch reason := c.State.Waiting.Reason; reason {
	case "ErrImagePull":
		return run{}, fmt.Errorf("container %q in pod %q is waiting to start: image can't be pulled", container, pod.Name)
	case "ImagePullBackOff":
		return run{}, fmt.Errorf("container %q in pod %q is waiting to start: trying and failing to pull image", container, pod.Name)
	default:
		return run{}, fmt.Errorf("container %q in pod %q is waiting to start: %v", container, pod.Name, reason)
	}
}

// lines returns the output of an instance of a container, and the number of earlier lines that are no longer kept.
func (s *Server) lines(pod *corev1.Pod, container string, r run, previous bool) (lines []line, before int) {
	if entry, ok := s.defs.Logs(pod, container); ok {
		switch {
		case previous && entry.PreviousLogsFile != "":
			return fileLines(entry.PreviousLogsFile, r.started), 0
		case entry.LogsFile != "":
			return fileLines(entry.LogsFile, r.started), 0
		}
		return split([]byte(entry.Content), r.started), 0
	}
	if p, ok := s.predict(pod, container); ok {
		after := shell.Forever
		if r.running {
			after = time.Since(r.started)
		} else if p.Loop != nil { // it was killed
			after = r.finished.Sub(r.started)
		}
		outputs, omitted := p.Written(after)
		return outputLines(outputs, r.started), omitted
	}
	lines = []line{{at: r.started, text: fmt.Appendf(nil, "%s started, restarts: %d\n", spec(pod, container).Image, r.restarts)}}
	if !r.running {
		lines = append(lines, line{at: r.finished, text: fmt.Appendf(nil, "ended with exit code %d\n", r.exitCode), stderr: r.exitCode != 0})
	}
	return lines, 0
}

// predict returns the prediction of a container's command, if it is understood.
func (s *Server) predict(pod *corev1.Pod, container string) (shell.Prediction, bool) {
	c := spec(pod, container)
	return shell.Predict(pod, c, func() []corev1.EnvVar { return s.pods.Env(pod, c) })
}

// outputLines divides outputs into lines. A line that is written in parts has the time of the first.
func outputLines(outputs []shell.Output, started time.Time) (lines []line) {
	for _, o := range outputs {
		for text := range strings.Lines(o.Text) {
			if n := len(lines); n > 0 && lines[n-1].stderr == o.Stderr && lines[n-1].text[len(lines[n-1].text)-1] != '\n' {
				lines[n-1].text = append(lines[n-1].text, text...)
			} else {
				lines = append(lines, line{at: started.Add(o.After), text: []byte(text), stderr: o.Stderr})
			}
		}
	}
	return lines
}

func fileLines(file string, at time.Time) []line {
	text, err := os.ReadFile(file)
	if err != nil {
		return []line{{at: at, text: fmt.Appendf(nil, "%v\n", err), stderr: true}}
	}
	return split(text, at)
}

// split reads lines, plain or in the CRI format with time, stream and tag. Plain ones get the time at.
func split(text []byte, at time.Time) []line {
	var lines []line
	for l := range bytes.Lines(text) {
		if parts := strings.SplitN(string(l), " ", 4); len(parts) == 4 && (parts[1] == "stdout" || parts[1] == "stderr") {
			if t, err := time.Parse(time.RFC3339Nano, parts[0]); err == nil {
				lines = append(lines, line{at: t, text: []byte(parts[3]), stderr: parts[1] == "stderr"})
				continue
			}
		}
		if l[len(l)-1] != '\n' {
			l = append(slices.Clone(l), '\n')
		}
		lines = append(lines, line{at: at, text: l})
	}
	return lines
}

// logOptions select the part of a log that a client wants.
type logOptions struct {
	follow, previous, timestamps bool
	since                        time.Time
	tail                         int64 // -1 for all
	limit                        int64 // of bytes; -1 is no limit
	stream                       string
}

func readLogOptions(q url.Values) (o logOptions, err error) {
	o = logOptions{tail: -1, limit: -1, stream: q.Get("stream")}
	o.follow, o.previous, o.timestamps = q.Get("follow") == "true", q.Get("previous") == "true", q.Get("timestamps") == "true"
	number := func(name string, to *int64) {
		if text := q.Get(name); text != "" && err == nil {
			*to, err = strconv.ParseInt(text, 10, 64)
		}
	}
	number("tailLines", &o.tail)
	number("limitBytes", &o.limit)
	var seconds int64
	if number("sinceSeconds", &seconds); seconds > 0 {
		o.since = time.Now().Add(-time.Duration(seconds) * time.Second)
	}
	if text := q.Get("sinceTime"); text != "" && err == nil {
		o.since, err = time.Parse(time.RFC3339, text)
	}
	return o, err
}

// logWriter writes the lines that the options select.
type logWriter struct {
	w       io.Writer
	options logOptions
	left    int64
}

// write reports whether more may follow.
func (lw *logWriter) write(lines []line) bool {
	var buf []byte
	for _, l := range lines {
		if l.at.Before(lw.options.since) || lw.options.stream == corev1.LogStreamStdout && l.stderr || lw.options.stream == corev1.LogStreamStderr && !l.stderr {
			continue
		}
		if lw.options.timestamps {
			buf = append(l.at.UTC().AppendFormat(buf, "2006-01-02T15:04:05.000000000Z07:00"), ' ')
		}
		buf = append(buf, l.text...)
	}
	if lw.left >= 0 && int64(len(buf)) > lw.left {
		buf = buf[:lw.left]
	}
	if lw.left >= 0 {
		lw.left -= int64(len(buf))
	}
	if _, err := lw.w.Write(buf); err != nil {
		return false
	}
	if f, ok := lw.w.(http.Flusher); ok {
		f.Flush()
	}
	return lw.left != 0
}
