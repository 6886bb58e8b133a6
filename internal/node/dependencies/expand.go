package dependencies

import (
	"strings"

	corev1 "k8s.io/api/core/v1"
)

// Expand replaces references $(NAME) in commands, arguments and values by an environment. A reference to an
// unknown name stays, and $$ becomes $.
func Expand(text string, env []corev1.EnvVar) string {
	if !strings.Contains(text, "$") {
		return text
	}
	var out strings.Builder
	for {
		before, after, found := strings.Cut(text, "$")
		out.WriteString(before)
		if !found {
			return out.String()
		}
		text = after
		name, rest, closed := strings.Cut(strings.TrimPrefix(after, "("), ")")
		switch value, known := lookup(env, name); {
		case strings.HasPrefix(after, "$"):
			out.WriteByte('$')
			text = after[1:]
		case strings.HasPrefix(after, "(") && closed && known:
			out.WriteString(value)
			text = rest
		default:
			out.WriteByte('$')
		}
	}
}

// Plain returns the variables of a container whose values are in its spec.
func Plain(c *corev1.Container) (env []corev1.EnvVar) {
	for i := range c.Env {
		if e := &c.Env[i]; e.ValueFrom == nil {
			env = append(env, corev1.EnvVar{Name: e.Name, Value: Expand(e.Value, env)})
		}
	}
	return env
}

// lookup returns the value of a variable.
func lookup(env []corev1.EnvVar, name string) (value string, ok bool) {
	for i := range env {
		if env[i].Name == name {
			value, ok = env[i].Value, true
		}
	}
	return value, ok
}
