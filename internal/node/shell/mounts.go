package shell

import (
	"cmp"
	"path"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"fairlead.dev/internal/node/dependencies"
)

const maxPath = 4096 // bytes in the name of a directory, as on Linux (PATH_MAX)

// FilesOf returns the files of a container that has just started: directories for its writable emptyDir volumes. A
// sub path makes a directory in its volume, which is visible where the whole volume is mounted as well. env has
// the variables of subPathExpr; a sub path with one that is missing is left out.
func FilesOf(pod *corev1.Pod, c *corev1.Container, env []corev1.EnvVar) *Files {
	f := NewFiles()
	for _, m := range c.VolumeMounts {
		if m.ReadOnly || !isEmptyDir(pod, m.Name) {
			continue
		}
		f.give(m.MountPath)
		sub := cmp.Or(m.SubPath, dependencies.Expand(m.SubPathExpr, env))
		if sub == "" || strings.Contains(sub, "$(") {
			continue
		}
		for _, whole := range c.VolumeMounts {
			if whole.Name == m.Name && !whole.ReadOnly && whole.SubPath == "" && whole.SubPathExpr == "" {
				f.give(path.Join(whole.MountPath, sub))
			}
		}
	}
	return f
}

func isEmptyDir(pod *corev1.Pod, volume string) bool {
	return slices.ContainsFunc(pod.Spec.Volumes, func(v corev1.Volume) bool { return v.Name == volume && v.EmptyDir != nil })
}

// give adds a directory that the spec of the container makes. A name that is too long is left out.
func (f *Files) give(name string) {
	if len(name) > maxPath {
		return
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.mu.given == nil {
		f.mu.given = map[string]bool{}
	}
	for name = path.Join("/", name); name != "/" && !f.mu.given[name]; name = path.Dir(name) {
		f.mu.given[name] = true
	}
}
