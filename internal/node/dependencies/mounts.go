package dependencies

import (
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
)

// Fallible reports whether containers of a pod may have configuration errors even if all objects exist: by
// subPathExpr, or by resources of other containers. It reports true, too, for a pod with ResourceClaims, whose names
// may not be known yet.
func Fallible(pod *corev1.Pod) bool {
	return len(pod.Spec.ResourceClaims) > 0 || slices.ContainsFunc([][]corev1.Container{pod.Spec.InitContainers, pod.Spec.Containers}, func(cs []corev1.Container) bool {
		return slices.ContainsFunc(cs, func(c corev1.Container) bool {
			return slices.ContainsFunc(c.VolumeMounts, func(m corev1.VolumeMount) bool { return m.SubPathExpr != "" }) ||
				slices.ContainsFunc(c.Env, func(e corev1.EnvVar) bool {
					return e.ValueFrom != nil && e.ValueFrom.ResourceFieldRef != nil && e.ValueFrom.ResourceFieldRef.ContainerName != ""
				})
		})
	})
}

// Mounts returns the error in the subPathExpr of a container's mounts. The pod's status, such as its IP, is known
// by then.
func Mounts(c *corev1.Container, env []corev1.EnvVar) error {
	known := func(name string) bool {
		if value, _ := lookup(env, name); value != "" {
			return true
		}
		return slices.ContainsFunc(c.Env, func(e corev1.EnvVar) bool {
			return e.Name == name && e.ValueFrom != nil && e.ValueFrom.FieldRef != nil && strings.HasPrefix(e.ValueFrom.FieldRef.FieldPath, "status.")
		})
	}
	for _, m := range c.VolumeMounts {
		if m.SubPathExpr == "" {
			continue
		}
		missing := slices.DeleteFunc(references(m.SubPathExpr), known)
		path := Expand(m.SubPathExpr, env)
		slices.Sort(missing)
		switch {
		case len(missing) > 0:
			return fmt.Errorf("missing value for %s", strings.Join(slices.Compact(missing), ", "))
		case strings.HasPrefix(path, "/"):
			return fmt.Errorf("error SubPath `%s` must not be an absolute path", path)
		case slices.Contains(strings.Split(path, "/"), ".."):
			return fmt.Errorf("unable to provision SubPath `%s`: must not contain '..'", path)
		}
	}
	return nil
}

// references returns the names of $(NAME) in a text.
func references(text string) (names []string) {
	for {
		_, after, found := strings.Cut(text, "$")
		if !found {
			return names
		}
		text = after
		if strings.HasPrefix(after, "$") {
			text = after[1:]
		} else if name, rest, closed := strings.Cut(strings.TrimPrefix(after, "("), ")"); closed && strings.HasPrefix(after, "(") {
			names, text = append(names, name), rest
		}
	}
}
