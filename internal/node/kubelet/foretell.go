package kubelet

import (
	"context"
	"math"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"

	"fairlead.dev/internal/node/needs"
)

// Forever is how long a command runs that does not end.
const Forever time.Duration = math.MaxInt64

// Course is what a container does that runs its command.
type Course struct {
	Runs     time.Duration // or Forever
	ExitCode int32
	Output   []Output
	Loop     *Loop // what it does for ever after that; nil if nothing
	Vague    bool  // Output has values that only the server tells, as env has them
}

// Output is what a container writes at some time after its start.
type Output struct {
	After  time.Duration
	Text   string
	Stderr bool
}

// Foretell says what a container's command does, if the small shell that answers exec knows all of
// it; it is taken there, in no time. What the image would run is not known. env is
// asked for what the command `env` prints, and for values that are not in the pod; it may be nil if the output is
// not looked at.
func Foretell(pod *corev1.Pod, c *corev1.Container, env func() []corev1.EnvVar) (Course, bool) {
	if len(c.Command) == 0 {
		return Course{}, false
	}
	plan := &plan{}
	if env == nil {
		env = func() []corev1.EnvVar { return nil }
	}
	sh := &shell{pod: pod, container: c, env: env, plan: plan, terminal: terminal{out: plan.writer(false), err: plan.writer(true)}}
	given := needs.Plain(c)
	var words []string
	for _, w := range append(c.Command[:len(c.Command):len(c.Command)], c.Args...) {
		if w = needs.Expand(w, given); strings.Contains(w, "$(") {
			return Course{}, false
		}
		words = append(words, w)
	}
	code, _ := sh.start(context.Background(), words)
	if plan.lost {
		return Course{}, false
	}
	return Course{Runs: plan.now, ExitCode: int32(code), Output: plan.output, Loop: plan.loop, Vague: plan.vague}, true
}

// plan is how a shell takes commands that are only thought of.
type plan struct {
	now    time.Duration
	output []Output
	loop   *Loop
	lost   bool // it has met what it does not know
	vague  bool // see Course
}

// sleep lets time pass. It reports whether there is a time after that.
func (p *plan) sleep(d time.Duration) bool {
	if p.now = p.now + d; p.now < d || d == Forever {
		p.now = Forever
	}
	return p.now != Forever
}

type planWriter struct {
	*plan
	stderr bool
}

func (p *plan) writer(stderr bool) planWriter { return planWriter{p, stderr} }

func (w planWriter) Write(text []byte) (int, error) {
	w.output = append(w.output, Output{w.now, string(text), w.stderr})
	return len(text), nil
}

// written is what a course has written some time after its start, by lines, and how many lines came before
// these that are no longer kept.
func (c *Course) written(started time.Time, after time.Duration) (lines []line, before int) {
	again, rounds := c.Loop.written(after)
	outputs := c.Output
	if rounds > 0 {
		before = ends(outputs) + rounds*ends(c.Loop.Output)
		outputs = nil
	}
	for _, o := range append(outputs[:len(outputs):len(outputs)], again...) {
		if o.After > after {
			break
		}
		for text := range strings.Lines(o.Text) {
			if n := len(lines); n > 0 && lines[n-1].stderr == o.Stderr && lines[n-1].text[len(lines[n-1].text)-1] != '\n' {
				lines[n-1].text = append(lines[n-1].text, text...)
			} else {
				lines = append(lines, line{at: started.Add(o.After), text: []byte(text), stderr: o.Stderr})
			}
		}
	}
	return lines, before
}

// ends is how many lines end in outputs.
func ends(outputs []Output) (n int) {
	for _, o := range outputs {
		n += strings.Count(o.Text, "\n")
	}
	return n
}
