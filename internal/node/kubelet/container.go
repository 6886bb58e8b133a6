package kubelet

import (
	"sync"

	corev1 "k8s.io/api/core/v1"

	"fairlead.dev/internal/node/shell"
)

// containerFiles are the files that commands have written in containers, by the container's ID. A container
// in which no command has run has no entry.
type containerFiles struct {
	mu struct {
		sync.Mutex
		byID map[string]containerFile
	}
}

type containerFile struct {
	namespace, pod string
	files          *shell.Files
}

// of returns the files of a running container, which start makes for its first command. Those of containers that have ended are dropped.
func (c *containerFiles) of(pods Pods, pod *corev1.Pod, id string, start func() *shell.Files) *shell.Files {
	c.mu.Lock()
	defer c.mu.Unlock()
	if f, ok := c.mu.byID[id]; ok {
		return f.files
	}
	for id, f := range c.mu.byID {
		if p, _ := pods.Pod(f.namespace, f.pod); p == nil || !runs(p, id) {
			delete(c.mu.byID, id)
		}
	}
	if c.mu.byID == nil {
		c.mu.byID = map[string]containerFile{}
	}
	f := containerFile{pod.Namespace, pod.Name, start()}
	c.mu.byID[id] = f
	return f.files
}

// container returns a running container as its commands see it.
func (s *Server) container(pod *corev1.Pod, name, id string) shell.Container {
	c := spec(pod, name)
	env := s.pods.Env(pod, c)
	return shell.Container{
		Hostname: shell.Hostname(pod), WorkingDir: c.WorkingDir, Env: env,
		Files: s.files.of(s.pods, pod, id, func() *shell.Files { return shell.FilesOf(pod, c, env) }),
	}
}
