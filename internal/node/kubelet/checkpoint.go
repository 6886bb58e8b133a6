package kubelet

import (
	"fmt"
	"net/http"
	"strconv"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// checkpoint answers with the name of a file, as a kubelet does. There is no file: a container that is not executed has no
// memory.
func (s *Server) checkpoint(w http.ResponseWriter, req *http.Request) {
	namespace, name, container := req.PathValue("namespace"), req.PathValue("pod"), req.PathValue("container")
	pod, _ := s.pods.Pod(namespace, name)
	switch {
	case pod == nil:
		plain(w, http.StatusNotFound, "pod does not exist")
		return
	case !has(pod, container):
		plain(w, http.StatusNotFound, fmt.Sprintf("container %v does not exist", container))
		return
	}
	if all := req.URL.Query()["timeout"]; len(all) > 0 {
		if _, err := strconv.ParseInt(all[len(all)-1], 10, 64); err != nil {
			plain(w, http.StatusNotFound, "cannot parse value of timeout parameter")
			return
		}
	}
	if c := status(pod, container); c == nil || c.State.Running == nil {
		plain(w, http.StatusInternalServerError, fmt.Sprintf("checkpointing of %v/%v/%v failed (container %q is not running)", namespace, name, container, container))
		return
	}
	encode(w, map[string]any{"items": []string{
		fmt.Sprintf("/var/lib/kubelet/checkpoints/checkpoint-%s_%s-%s-%s.tar", name, namespace, container, time.Now().Format(time.RFC3339)),
	}})
}

// listRunning serves the pods that have running containers, as a container runtime knows them: names and images.
func (s *Server) listRunning(w http.ResponseWriter, req *http.Request) {
	list := corev1.PodList{TypeMeta: metav1.TypeMeta{Kind: "PodList", APIVersion: "v1"}, Items: []corev1.Pod{}}
	for _, p := range s.pods.On(s.pods.NodeAt(host(req))) {
		one := corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: p.Name, Namespace: p.Namespace, UID: p.UID}}
		for _, statuses := range [][]corev1.ContainerStatus{p.Status.InitContainerStatuses, p.Status.ContainerStatuses, p.Status.EphemeralContainerStatuses} {
			for i := range statuses {
				if c := &statuses[i]; c.State.Running != nil {
					one.Spec.Containers = append(one.Spec.Containers, corev1.Container{Name: c.Name, Image: c.ImageID})
				}
			}
		}
		if len(one.Spec.Containers) > 0 {
			list.Items = append(list.Items, one)
		}
	}
	encode(w, list)
}
