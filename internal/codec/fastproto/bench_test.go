package fastproto_test

import (
	"fmt"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"fairlead.dev/internal/codec/fastproto"
)

// servedPods returns pods of 50 Deployments, as a server with kubelets has them, in protobuf.
func servedPods(n, revision int) [][]byte {
	all := make([][]byte, n)
	for i := range all {
		b, err := servedPod(i, revision).Marshal()
		if err != nil {
			panic(err)
		}
		all[i] = b
	}
	return all
}

func servedPod(n, revision int) *corev1.Pod {
	yes, grace := true, int64(30)
	app, volume, ip := fmt.Sprintf("app-%02d", n%50), fmt.Sprintf("kube-api-access-%05d", n), fmt.Sprintf("10.0.%d.%d", n/250, n%250)
	born := metav1.NewTime(time.Unix(1750000000+int64(n), 0))
	p := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{
			Name: fmt.Sprintf("%s-7d4b9c6f5-%05d", app, n), GenerateName: app + "-7d4b9c6f5-", Namespace: "default",
			UID: types.UID(fmt.Sprintf("0b5e8d4e-3c1f-4d8a-9a55-%012d", n)), ResourceVersion: fmt.Sprint(revision + n), CreationTimestamp: born,
			Labels: map[string]string{"app": app, "pod-template-hash": "7d4b9c6f5", "tier": "front"},
			ManagedFields: []metav1.ManagedFieldsEntry{
				{Manager: "kube-controller-manager", Operation: "Update", APIVersion: "v1", Time: &born, FieldsType: "FieldsV1", FieldsV1: metav1.NewFieldsV1(`{"f:metadata":{"f:labels":{".":{},"f:app":{}}}}`)},
				{Manager: "kubelet", Operation: "Update", APIVersion: "v1", Time: &born, FieldsType: "FieldsV1", FieldsV1: metav1.NewFieldsV1(`{"f:status":{"f:podIPs":{"k:{\"ip\":\"` + ip + `\"}":{}}}}`)},
			},
		},
		Spec: corev1.PodSpec{
			NodeName: fmt.Sprintf("node-%d", n%100), RestartPolicy: "Always", DNSPolicy: "ClusterFirst", SchedulerName: "default-scheduler",
			ServiceAccountName: "default", TerminationGracePeriodSeconds: &grace, EnableServiceLinks: &yes,
			Containers: []corev1.Container{{
				Name: "web", Image: "registry.example.com/shop/" + app + ":1.27.3", ImagePullPolicy: "IfNotPresent",
				Ports: []corev1.ContainerPort{{Name: "http", ContainerPort: 8080, Protocol: "TCP"}},
				Env:   []corev1.EnvVar{{Name: "MODE", Value: "production"}, {Name: "LOG", Value: "info"}},
				Resources: corev1.ResourceRequirements{
					Requests: corev1.ResourceList{"cpu": resource.MustParse("100m"), "memory": resource.MustParse("128Mi")},
					Limits:   corev1.ResourceList{"cpu": resource.MustParse("500m"), "memory": resource.MustParse("256Mi")},
				},
				VolumeMounts: []corev1.VolumeMount{{Name: volume, ReadOnly: true, MountPath: "/var/run/secrets/kubernetes.io/serviceaccount"}},
			}},
			Volumes: []corev1.Volume{{Name: volume, VolumeSource: corev1.VolumeSource{Projected: &corev1.ProjectedVolumeSource{DefaultMode: new(int32)}}}},
			Tolerations: []corev1.Toleration{
				{Key: "node.kubernetes.io/not-ready", Operator: "Exists", Effect: "NoExecute", TolerationSeconds: &grace},
				{Key: "node.kubernetes.io/unreachable", Operator: "Exists", Effect: "NoExecute", TolerationSeconds: &grace},
			},
		},
		Status: corev1.PodStatus{
			Phase: "Running", HostIP: "10.0.0.7", PodIP: ip, PodIPs: []corev1.PodIP{{IP: ip}}, StartTime: &born, QOSClass: "Burstable",
			ContainerStatuses: []corev1.ContainerStatus{{Name: "web", Ready: true, Started: &yes, Image: "registry.example.com/shop/" + app + ":1.27.3",
				ContainerID: fmt.Sprintf("containerd://e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b%08d", n),
				State:       corev1.ContainerState{Running: &corev1.ContainerStateRunning{StartedAt: born}}}},
		},
	}
	for _, c := range []corev1.PodConditionType{"PodReadyToStartContainers", "Initialized", "Ready", "ContainersReady", "PodScheduled"} {
		p.Status.Conditions = append(p.Status.Conditions, corev1.PodCondition{Type: c, Status: "True", LastTransitionTime: born})
	}
	return p
}

// BenchmarkPods decodes many pods by the generated code, by this package's plans, and by a Sharer; then the next
// version of each, which differs only in its revision, given the previous one.
func BenchmarkPods(b *testing.B) {
	pods, next := servedPods(1000, 100_000), servedPods(1000, 200_000)
	each := func(b *testing.B, decode func(i int) bool) {
		b.SetBytes(int64(len(pods[0])))
		b.ReportAllocs()
		for i := range b.N {
			if !decode(i % len(pods)) {
				b.Fatal("gave up")
			}
		}
	}
	b.Run("generated", func(b *testing.B) {
		each(b, func(i int) bool { return new(corev1.Pod).Unmarshal(pods[i]) == nil })
	})
	b.Run("plan", func(b *testing.B) {
		each(b, func(i int) bool { return fastproto.Unmarshal(pods[i], new(corev1.Pod)) })
	})
	s := fastproto.NewSharer()
	b.Run("shared", func(b *testing.B) {
		each(b, func(i int) bool { return s.Unmarshal(pods[i], new(corev1.Pod), nil) })
	})
	b.Run("update", func(b *testing.B) {
		last := make([]*corev1.Pod, len(pods))
		for i := range last {
			last[i] = new(corev1.Pod)
			s.Unmarshal(pods[i], last[i], nil)
		}
		b.ResetTimer()
		each(b, func(i int) bool {
			now := new(corev1.Pod)
			ok := s.Unmarshal(next[i], now, last[i])
			last[i] = now
			return ok
		})
	})
}
