package shell

import (
	"regexp"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"

	"fairlead.dev/internal/node/dependencies"
)

// Prediction is the course of a container that runs its command.
type Prediction struct {
	Runs     time.Duration // or Forever
	ExitCode int32
	Output   []Output
	Loop     *Loop // the endless loop after Output, or nil
	Vague    bool  // Output has values that only the server knows
}

// Output is a text that a container writes.
type Output struct {
	After  time.Duration // since its start
	Text   string
	Stderr bool
}

// Loop is an endless loop of a container.
type Loop struct {
	From, Every time.Duration
	Output      []Output // of the first round
}

// Predict runs the command of a container in virtual time. It reports whether all of it is
// understood; the command of an image is not known. env returns the environment that config maps, secrets and
// fields of the pod make; it may be nil if the output is not used.
func Predict(pod *corev1.Pod, c *corev1.Container, env func() []corev1.EnvVar) (Prediction, bool) {
	if len(c.Command) == 0 {
		return Prediction{}, false
	}
	plain := dependencies.Plain(c)
	var words []string
	for _, w := range append(c.Command[:len(c.Command):len(c.Command)], c.Args...) {
		if w = dependencies.Expand(w, plain); isFilledByServer(c, plain, w) {
			return Prediction{}, false
		}
		words = append(words, w)
	}
	given := plain
	if env != nil {
		given = env()
	}
	sh := newShell(Container{
		Hostname: Hostname(pod), WorkingDir: c.WorkingDir, Env: given, Files: FilesOf(pod, c, given),
	}, Streams{})
	for name, v := range sh.vars {
		if name != "HOSTNAME" && !has(plain, name) {
			v.unsure, v.unnamed = true, !has(c.Env, name)
			sh.vars[name] = v
		}
	}
	for _, e := range c.Env {
		if !has(given, e.Name) {
			sh.vars[e.Name] = variable{unsure: true, exported: true}
		}
	}
	sh.envFrom = len(c.EnvFrom) > 0
	r := &recording{clock: &sh.clock}
	sh.recorder, sh.stdout, sh.stderr = r, recorder{r, false}, recorder{r, true}
	code := sh.top(func() int { return sh.run(words) })
	if r.lost {
		return Prediction{}, false
	}
	return Prediction{Runs: sh.clock.now, ExitCode: int32(code), Output: r.output, Loop: r.loop, Vague: r.vague}, true
}

func has(env []corev1.EnvVar, name string) bool {
	return slices.ContainsFunc(env, func(e corev1.EnvVar) bool { return e.Name == name })
}

var reference = regexp.MustCompile(`\$\(([^()]*)\)`)

// isFilledByServer reports whether a word refers, as $(NAME), to a variable whose value only the server knows.
// A reference to no variable stays as it is, and a shell takes it as a command substitution.
func isFilledByServer(c *corev1.Container, plain []corev1.EnvVar, word string) bool {
	for _, m := range reference.FindAllStringSubmatch(word, -1) {
		if !has(plain, m[1]) && (has(c.Env, m[1]) || len(c.EnvFrom) > 0) {
			return true
		}
	}
	return false
}

// shown notes that a value that only the server knows goes to the output of the container, which is
// then vague; it ends a prediction if it goes anywhere else.
func (sh *shell) shown() {
	if !sh.unsure {
		return
	}
	if _, ok := sh.stdout.(recorder); !ok {
		sh.certain()
	}
	sh.recorder.vague = true
}

// Hostname returns the host name that the containers of a pod see.
func Hostname(pod *corev1.Pod) string {
	if pod.Spec.Hostname != "" {
		return pod.Spec.Hostname
	}
	return pod.Name
}

// recording collects the result of a prediction.
type recording struct {
	clock  *clock
	output []Output
	size   int
	loop   *Loop
	lost   bool // the command needs something that is not simulated
	vague  bool // see Prediction
}

// recorder is a standard stream of a predicted container.
type recorder struct {
	*recording
	stderr bool
}

func (w recorder) Write(text []byte) (int, error) {
	if w.size += len(text) + 32; w.size > maxHeld {
		refuse("output that is so long")
	}
	w.output = append(w.output, Output{w.clock.now, string(text), w.stderr})
	return len(text), nil
}
