package main

import (
	"encoding/json"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
)

const (
	namespace = "bench"
	podsPath  = "/api/v1/namespaces/" + namespace + "/pods"
	// labelled is how many pods share a value of the label "group".
	labelled = 100
)

func podName(i int) string { return fmt.Sprintf("pod-%05d", i) }
func podPath(i int) string { return podsPath + "/" + podName(i) }

// newPod is pod i as posted, 1.2 KB, on its node. Pods of a group share a label.
func newPod(i, groups, nodes int) ([]byte, error) {
	quantity := resource.MustParse
	return json.Marshal(&corev1.Pod{
		TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Pod"},
		ObjectMeta: metav1.ObjectMeta{
			Name: podName(i),
			Labels: map[string]string{
				"group": groupName(i % groups), "app.kubernetes.io/name": "web", "app.kubernetes.io/part-of": "shop",
				"pod-template-hash": "6d4cf56db6",
			},
			Annotations: map[string]string{
				"prometheus.io/scrape": "true", "prometheus.io/port": "8080", seqKey: "none",
			},
		},
		Spec: corev1.PodSpec{
			NodeName: nodeName(i % nodes),
			Containers: []corev1.Container{{
				Name: "web", Image: "registry.example.com/shop/web:v1.24.3",
				Args:  []string{"--listen=:8080", "--log-level=info", "--cache=/var/cache/web"},
				Ports: []corev1.ContainerPort{{Name: "http", ContainerPort: 8080}},
				Env: []corev1.EnvVar{
					{Name: "REGION", Value: "eu-central-1"},
					{Name: "DATABASE", Value: "postgres.shop.svc:5432"},
					{Name: "POD_IP", ValueFrom: &corev1.EnvVarSource{FieldRef: &corev1.ObjectFieldSelector{FieldPath: "status.podIP"}}},
				},
				Resources: corev1.ResourceRequirements{
					Requests: corev1.ResourceList{"cpu": quantity("100m"), "memory": quantity("128Mi")},
					Limits:   corev1.ResourceList{"memory": quantity("256Mi")},
				},
				ReadinessProbe: &corev1.Probe{ProbeHandler: corev1.ProbeHandler{
					HTTPGet: &corev1.HTTPGetAction{Path: "/healthz", Port: intstr.FromString("http")}}},
				VolumeMounts: []corev1.VolumeMount{{Name: "cache", MountPath: "/var/cache/web"}},
			}},
			Volumes: []corev1.Volume{{Name: "cache", VolumeSource: corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{}}}},
		},
	})
}

func groupName(i int) string { return fmt.Sprintf("g%04d", i) }
func nodeName(i int) string  { return fmt.Sprintf("node-%04d", i) }

// seqKey is the annotation that patches write; its value identifies the patch of an event.
// seqMark is in front of the value in JSON, once.
const (
	seqKey  = "bench.fairlead.dev/seq"
	seqMark = `"` + seqKey + `":"`
)

func seqPatch(value string) []byte {
	return fmt.Appendf(nil, `{"metadata":{"annotations":{%q:%q}}}`, seqKey, value)
}
