package testenv

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"
)

// The limits of a report.
const (
	maxExplained = 3
	maxEvents    = 20
	maxWatchers  = 10
)

// reportTimeout limits the requests of a report.
const reportTimeout = 30 * time.Second

// remember notes that a test waits for an object.
func (e *Env) remember(s subject) {
	e.mu.Lock()
	defer e.mu.Unlock()
	for i, other := range e.mu.waited {
		if other == s {
			e.mu.waited = append(e.mu.waited[:i:i], e.mu.waited[i+1:]...)
			break
		}
	}
	e.mu.waited = append(e.mu.waited, s)
}

// report logs the explanation of a test's failure, once.
func (e *Env) report(t T) {
	t.Helper()
	e.mu.Lock()
	told := e.mu.reported[t]
	e.mu.reported[t] = true
	waited := append([]subject(nil), e.mu.waited...)
	e.mu.Unlock()
	if told || e.hasEnded() {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), reportTimeout)
	defer cancel()
	for i := range waited[:min(len(waited), maxExplained)] {
		t.Logf("why %s", e.why(ctx, waited[len(waited)-1-i]))
	}
	for _, part := range []func(context.Context, []subject) (string, error){e.tail, e.watchers, e.queues} {
		text, err := part(ctx, waited)
		if err != nil {
			text = "no report: " + err.Error()
		}
		t.Logf("%s", text)
	}
}

// why explains the state of an object.
func (e *Env) why(ctx context.Context, s subject) string {
	q := url.Values{"resource": {s.resource}, "namespace": {s.namespace}, "name": {s.name}}
	text, err := e.api.text(ctx, "/debug/why?"+q.Encode())
	if err != nil {
		return fmt.Sprintf("%s: %v", s, err)
	}
	return fmt.Sprintf("%s:\n%s", s, strings.TrimRight(text, "\n"))
}

// event is an event of the trace.
type event struct {
	Revision                        int64
	Type, Resource, Namespace, Name string
	Verb, Subresource, User, Agent  string
	Causes                          []int64
	Began                           time.Time
}

func (v event) String() string {
	object := subject{resource: v.Resource, namespace: v.Namespace, name: v.Name}
	verb := v.Verb
	if v.Subresource != "" {
		verb += " " + v.Subresource
	}
	program, _, _ := strings.Cut(v.Agent, " ")
	return fmt.Sprintf("%s  %6d %-8s %s, %s by %s (%s)", v.Began.Local().Format("15:04:05.000"), v.Revision, v.Type, object, verb, v.User, program)
}

// tail returns the last changes of the test's objects: those that clients of the test have written, those that were
// waited for, and those that controllers wrote because of these.
func (e *Env) tail(ctx context.Context, waited []subject) (string, error) {
	in, err := e.api.stream(ctx, http.MethodGet, "/debug/lives", "application/jsonl, */*", nil)
	if err != nil {
		return "", err
	}
	defer in.Close()
	ours := map[subject]bool{}
	for _, s := range waited {
		s.collection = ""
		ours[s] = true
	}
	revisions := map[int64]bool{}
	var lines []string
	for events := bufio.NewReader(in); ; {
		line, err := events.ReadBytes('\n')
		if err != nil && err != io.EOF {
			return "", err
		}
		var v event
		if json.Unmarshal(line, &v) == nil && v.Resource != "" && v.Agent != userAgent {
			key := subject{resource: v.Resource, namespace: v.Namespace, name: v.Name}
			caused := ours[key] || v.User != "" && !strings.HasPrefix(v.User, "system:")
			for _, c := range v.Causes {
				caused = caused || revisions[c]
			}
			if caused {
				ours[key], revisions[v.Revision] = true, true
				lines = append(lines, v.String())
			}
		}
		if err == io.EOF {
			break
		}
	}
	if len(lines) == 0 {
		return "the trace has no changes of the test's objects", nil
	}
	shown := lines[max(0, len(lines)-maxEvents):]
	return fmt.Sprintf("the last %d of %d changes of the test's objects:\n%s", len(shown), len(lines), strings.Join(shown, "\n")), nil
}

// watchers returns the watches of the test's clients, and those that have not been sent every event.
func (e *Env) watchers(ctx context.Context, _ []subject) (string, error) {
	var all []struct {
		User, Agent, Resource, Namespace, Name string
		Reached                                int64
		Waiting                                int
		Oldest                                 int64
	}
	if err := e.api.get(ctx, "/debug/watchers", &all); err != nil {
		return "", err
	}
	var lines []string
	for _, w := range all {
		if w.Waiting == 0 && (w.User == "" || strings.HasPrefix(w.User, "system:")) || w.Agent == userAgent {
			continue
		}
		state := fmt.Sprintf("has been sent all, up to revision %d", w.Reached)
		if w.Waiting > 0 {
			state = fmt.Sprintf("has not been sent %d events, from revision %d on", w.Waiting, w.Oldest)
		}
		program, _, _ := strings.Cut(w.Agent, " ")
		of := strings.Trim(w.Resource+" "+w.Namespace+" "+w.Name, " ")
		lines = append(lines, fmt.Sprintf("%s by %s (%s) %s", of, w.User, program, state))
	}
	rest := ""
	if len(lines) > maxWatchers {
		rest, lines = fmt.Sprintf("\nand %d more", len(lines)-maxWatchers), lines[:maxWatchers]
	}
	if len(lines) == 0 {
		return fmt.Sprintf("all %d watches have been sent every event, and none is the test's", len(all)), nil
	}
	return fmt.Sprintf("watches of the test and those that lag, of %d:\n%s%s", len(all), strings.Join(lines, "\n"), rest), nil
}

// queues returns the state of the controllers' queues that hold keys or have failed.
func (e *Env) queues(ctx context.Context, _ []subject) (string, error) {
	text, err := e.api.text(ctx, "/metrics")
	if err != nil {
		return "", err
	}
	type queue struct{ depth, retries, running float64 }
	all, names := map[string]*queue{}, []string{}
	for _, line := range strings.Split(text, "\n") {
		metric, rest, _ := strings.Cut(line, `{name="`)
		name, number, ok := strings.Cut(rest, `"} `)
		var value float64
		if _, err := fmt.Sscan(number, &value); err != nil || !ok || !strings.HasPrefix(metric, "workqueue_") {
			continue
		}
		q := all[name]
		if q == nil {
			q = &queue{}
			all[name] = q
			names = append(names, name)
		}
		switch metric {
		case "workqueue_depth":
			q.depth = value
		case "workqueue_retries_total":
			q.retries = value
		case "workqueue_longest_running_processor_seconds":
			q.running = value
		}
	}
	var lines []string
	for _, name := range names {
		if q := all[name]; q.depth > 0 || q.retries > 0 || q.running > 0 {
			lines = append(lines, fmt.Sprintf("%s: %g keys wait, %g attempts have failed, one is running for %.3f s", name, q.depth, q.retries, q.running))
		}
	}
	if len(lines) == 0 {
		return fmt.Sprintf("all %d queues of controllers are empty", len(names)), nil
	}
	return "queues of controllers:\n" + strings.Join(lines, "\n"), nil
}
