package fastjson_test

import (
	stdjson "encoding/json"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/json"

	"fairlead.dev/internal/codec/fastjson"
)

// BenchmarkPod decodes a pod of realistic size, with this package and with the general decoder.
func BenchmarkPod(b *testing.B) {
	in, err := stdjson.Marshal(servedPod())
	if err != nil {
		b.Fatal(err)
	}
	b.Run("plan", func(b *testing.B) {
		b.SetBytes(int64(len(in)))
		b.ReportAllocs()
		for range b.N {
			if !fastjson.Unmarshal(in, new(corev1.Pod)) {
				b.Fatal("gave up")
			}
		}
	})
	b.Run("write", func(b *testing.B) {
		b.SetBytes(int64(len(in)))
		b.ReportAllocs()
		pod := servedPod()
		for range b.N {
			if _, _, ok := fastjson.Marshal(pod); !ok {
				b.Fatal("gave up")
			}
		}
	})
	b.Run("write-general", func(b *testing.B) {
		b.SetBytes(int64(len(in)))
		b.ReportAllocs()
		pod := servedPod()
		for range b.N {
			if _, err := stdjson.Marshal(pod); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("general", func(b *testing.B) {
		b.SetBytes(int64(len(in)))
		b.ReportAllocs()
		for range b.N {
			if err := json.UnmarshalCaseSensitivePreserveInts(in, new(corev1.Pod)); err != nil {
				b.Fatal(err)
			}
		}
	})
}

func servedPod() *corev1.Pod {
	yes, grace := true, int64(30)
	now := metav1.NewTime(time.Unix(1750000000, 0).UTC())
	p := &corev1.Pod{
		TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Pod"},
		ObjectMeta: metav1.ObjectMeta{
			Name: "web-7d4b9c6f5-x7k2p", GenerateName: "web-7d4b9c6f5-", Namespace: "default",
			UID:             "0b5e8d4e-3c1f-4d8a-9a55-1d1c3f6f2c11",
			ResourceVersion: "12345", CreationTimestamp: now,
			Labels:          map[string]string{"app": "web", "pod-template-hash": "7d4b9c6f5", "tier": "front"},
			Annotations:     map[string]string{"example.com/config-hash": "d41d8cd98f00b204e9800998ecf8427e"},
			OwnerReferences: []metav1.OwnerReference{{APIVersion: "apps/v1", Kind: "ReplicaSet", Name: "web-7d4b9c6f5", UID: "6f3e8a60-6ee1-4d8e-8e64-1d1c3f6f2c11", Controller: &yes, BlockOwnerDeletion: &yes}},
			ManagedFields: []metav1.ManagedFieldsEntry{{Manager: "kube-controller-manager", Operation: "Update", APIVersion: "v1", Time: &now, FieldsType: "FieldsV1",
				FieldsV1: metav1.NewFieldsV1(`{"f:metadata":{"f:generateName":{},"f:labels":{".":{},"f:app":{},"f:pod-template-hash":{}},"f:ownerReferences":{".":{},"k:{\"uid\":\"6f3e8a60\"}":{}}},"f:spec":{"f:containers":{"k:{\"name\":\"web\"}":{".":{},"f:env":{".":{}},"f:image":{},"f:imagePullPolicy":{},"f:name":{},"f:resources":{}}},"f:dnsPolicy":{},"f:restartPolicy":{},"f:schedulerName":{}}}`)}},
		},
		Spec: corev1.PodSpec{
			NodeName: "node-42", RestartPolicy: "Always", DNSPolicy: "ClusterFirst", SchedulerName: "default-scheduler",
			ServiceAccountName: "default", TerminationGracePeriodSeconds: &grace, EnableServiceLinks: &yes,
			Containers: []corev1.Container{{
				Name: "web", Image: "registry.example.com/shop/web:1.27.3", ImagePullPolicy: "IfNotPresent",
				Ports: []corev1.ContainerPort{{Name: "http", ContainerPort: 8080, Protocol: "TCP"}},
				Env:   []corev1.EnvVar{{Name: "MODE", Value: "production"}, {Name: "LOG", Value: "info"}},
				Resources: corev1.ResourceRequirements{
					Requests: corev1.ResourceList{"cpu": resource.MustParse("100m"), "memory": resource.MustParse("128Mi")},
					Limits:   corev1.ResourceList{"cpu": resource.MustParse("500m"), "memory": resource.MustParse("256Mi")},
				},
				VolumeMounts: []corev1.VolumeMount{{Name: "kube-api-access-x7k2p", ReadOnly: true, MountPath: "/var/run/secrets/kubernetes.io/serviceaccount"}},
			}},
			Tolerations: []corev1.Toleration{
				{Key: "node.kubernetes.io/not-ready", Operator: "Exists", Effect: "NoExecute", TolerationSeconds: &grace},
				{Key: "node.kubernetes.io/unreachable", Operator: "Exists", Effect: "NoExecute", TolerationSeconds: &grace},
			},
		},
		Status: corev1.PodStatus{
			Phase: "Running", HostIP: "10.0.0.7", PodIP: "10.244.1.17", PodIPs: []corev1.PodIP{{IP: "10.244.1.17"}}, StartTime: &now, QOSClass: "Burstable",
			ContainerStatuses: []corev1.ContainerStatus{{Name: "web", Ready: true, Started: &yes, Image: "registry.example.com/shop/web:1.27.3",
				ImageID:     "registry.example.com/shop/web@sha256:4c1c50d0ffc614f90b93b07d778028dc765548e823f676fb027f61d281ac380d",
				ContainerID: "containerd://e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
				State:       corev1.ContainerState{Running: &corev1.ContainerStateRunning{StartedAt: now}}}},
		},
	}
	for _, c := range []corev1.PodConditionType{"PodReadyToStartContainers", "Initialized", "Ready", "ContainersReady", "PodScheduled"} {
		p.Status.Conditions = append(p.Status.Conditions, corev1.PodCondition{Type: c, Status: "True", LastTransitionTime: now})
	}
	return p
}
