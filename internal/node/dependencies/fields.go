package dependencies

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
)

// fieldValue returns a field of a pod for an environment; ok is false if an environment cannot have it.
func fieldValue(pod *corev1.Pod, path string) (value string, ok bool) {
	if name, key, found := strings.Cut(strings.TrimSuffix(path, "']"), "['"); found {
		switch name {
		case "metadata.labels":
			return pod.Labels[key], true
		case "metadata.annotations":
			return pod.Annotations[key], true
		}
		return "", false
	}
	switch path {
	case "metadata.name":
		return pod.Name, true
	case "metadata.namespace":
		return pod.Namespace, true
	case "metadata.uid":
		return string(pod.UID), true
	case "spec.nodeName":
		return pod.Spec.NodeName, true
	case "spec.serviceAccountName":
		return pod.Spec.ServiceAccountName, true
	case "status.podIP":
		return pod.Status.PodIP, true
	case "status.hostIP":
		return pod.Status.HostIP, true
	case "status.podIPs":
		ips := make([]string, len(pod.Status.PodIPs))
		for i := range ips {
			ips[i] = pod.Status.PodIPs[i].IP
		}
		return strings.Join(ips, ","), true
	case "status.hostIPs":
		ips := make([]string, len(pod.Status.HostIPs))
		for i := range ips {
			ips[i] = pod.Status.HostIPs[i].IP
		}
		return strings.Join(ips, ","), true
	}
	return "", false
}

// resourceValue returns a request or limit of a container for an environment, in units of the divisor, rounded up.
// A missing limit is the node's allocatable amount.
func resourceValue(pod *corev1.Pod, own *corev1.Container, from *corev1.ResourceFieldSelector, allocatable corev1.ResourceList) (value string, err error) {
	c := own
	if from.ContainerName != "" {
		if c = named(pod, from.ContainerName); c == nil {
			return "", fmt.Errorf("container %s not found", from.ContainerName)
		}
	}
	kind, name, _ := strings.Cut(from.Resource, ".")
	q := c.Resources.Requests[corev1.ResourceName(name)]
	if kind == "limits" {
		if q = c.Resources.Limits[corev1.ResourceName(name)]; q.IsZero() {
			q = allocatable[corev1.ResourceName(name)]
		}
	}
	divisor := 1.0
	if !from.Divisor.IsZero() {
		divisor = from.Divisor.AsApproximateFloat64()
	}
	return strconv.FormatInt(int64(math.Ceil(q.AsApproximateFloat64()/divisor)), 10), nil
}

// named returns the container of a name in a pod, or nil.
func named(pod *corev1.Pod, name string) *corev1.Container {
	for _, list := range [][]corev1.Container{pod.Spec.Containers, pod.Spec.InitContainers} {
		for i := range list {
			if list[i].Name == name {
				return &list[i]
			}
		}
	}
	return nil
}
