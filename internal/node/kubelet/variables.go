package kubelet

import (
	"io"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"fairlead.dev/internal/node/needs"
)

// fields are the words of a command with the values of variables in them. sure is false if one
// is known at the server and not here, as those of config maps are in a plan.
func (sh *shell) fields(words []word) (out []string, sure bool) {
	sure = true
	for _, w := range words {
		var b strings.Builder
		there := false
		for _, p := range w {
			if p.name == "" {
				b.WriteString(p.text)
				there = there || p.quoted || p.text != ""
				continue
			}
			value, known := sh.value(p.name)
			if sure = sure && known; p.quoted {
				b.WriteString(value)
				there = true
				continue
			}
			// What stands apart in a value without quotes are words of their own.
			parts := strings.Fields(value)
			if there && value != "" && strings.TrimLeft(value, " \t\n") != value {
				out, there = append(out, b.String()), false
				b.Reset()
			}
			for i, part := range parts {
				if i > 0 {
					out = append(out, b.String())
					b.Reset()
				}
				b.WriteString(part)
				there = true
			}
			if len(parts) > 0 && strings.TrimRight(value, " \t\n") != value {
				out, there = append(out, b.String()), false
				b.Reset()
			}
		}
		if there {
			out = append(out, b.String())
		}
	}
	return out, sure
}

// value is that of a variable. One that only the server could tell is not known in a plan; one that nobody has
// set, in a plan, is not understood, since the image may set it.
func (sh *shell) value(name string) (value string, known bool) {
	if i := find(sh.set, name); i >= 0 {
		return sh.set[i].Value, true
	}
	if sh.plan == nil {
		if env := sh.environment(); find(env, name) >= 0 {
			return env[find(env, name)].Value, true
		}
		return "", true
	}
	if plain := needs.Plain(sh.container); find(plain, name) >= 0 {
		return plain[find(plain, name)].Value, true
	}
	if name == "HOSTNAME" {
		return sh.hostname(), true
	}
	if find(sh.container.Env, name) < 0 {
		sh.wonder()
		return "", true
	}
	env := sh.env()
	if i := find(env, name); i >= 0 {
		return env[i].Value, false
	}
	return "", false
}

// environment is that of a command, without what the script has set.
func (sh *shell) environment() []corev1.EnvVar {
	return append([]corev1.EnvVar{{Name: "HOSTNAME", Value: sh.hostname()}}, sh.env()...)
}

// find is the place of the last of a name, -1 if there is none.
func find(env []corev1.EnvVar, name string) int {
	for i, e := range slices.Backward(env) {
		if e.Name == name {
			return i
		}
	}
	return -1
}

// redirected runs something with the streams of a command.
func (sh *shell) redirected(c command, run func() int) int {
	out, err := sh.out, sh.err
	defer func() { sh.out, sh.err = out, err }()
	errors := err
	if sh.tty || err == nil {
		errors = out
	}
	stream := func(t target, before io.Writer) io.Writer {
		switch t {
		case nowhere:
			return io.Discard
		case toOutput:
			return sh.out // after > /dev/null 2>&1 that is nowhere
		case toErrors:
			return errors
		}
		return before
	}
	sh.out = stream(c.out, out)
	sh.err = stream(c.err, errors)
	return run()
}
