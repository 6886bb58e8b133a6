package main

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
)

// Marks stand in the pod where pods differ. They have a fixed length, so that a pod is a
// copy of the template with digits in place of the marks, in protobuf too.
const (
	podMark = "@pod@@@@" // 8 digits: the pod's number
	revMark = "@rev@@@@" // 8 digits: its revision
	appMark = "@app"     // 4 digits: of 50 Deployments
	nodMark = "@nod"     // 4 digits: of nodes with 100 pods each
	nspMark = "@nsp"     // 4 digits: of 20 namespaces
)

// The pods' names and places, by which the children look them up.
func podName(n int) string  { return fmt.Sprintf("app-%04d-7d4b9c6f5-%08d", n%50, n) }
func podSpace(n int) string { return fmt.Sprintf("shop-%04d", n%20) }
func nodeName(n int) string { return fmt.Sprintf("node-%04d", n/100%10000) }

// firstRev is before every revision; all have eight digits.
const firstRev = 10_000_000

// templatePod is a pod of a Deployment as a server with a kubelet serves it.
func templatePod() *corev1.Pod {
	yes, grace, mode, token := true, int64(30), int32(420), int64(3607)
	at := metav1.NewTime(epoch)
	volume := "kube-api-access-" + podMark
	p := &corev1.Pod{
		TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Pod"},
		ObjectMeta: metav1.ObjectMeta{
			Name: "app-" + appMark + "-7d4b9c6f5-" + podMark, GenerateName: "app-" + appMark + "-7d4b9c6f5-", Namespace: "shop-" + nspMark,
			UID: podMark + "-6ee1-4d8e-8e64-1d1c3f6f2c11", ResourceVersion: revMark, Generation: 1, CreationTimestamp: at,
			Labels:          map[string]string{"app": "app-" + appMark, "pod-template-hash": "7d4b9c6f5", "tier": "frontend", "app.kubernetes.io/managed-by": "Helm"},
			Annotations:     map[string]string{"example.com/checksum": "4c1c50d0ffc614f90b93b07d778028dc765548e823f676fb027f61d281a" + appMark, "example.com/owner": "team-web"},
			OwnerReferences: []metav1.OwnerReference{{APIVersion: "apps/v1", Kind: "ReplicaSet", Name: "app-" + appMark + "-7d4b9c6f5", UID: types.UID("6f3e" + appMark + "-6ee1-4d8e-8e64-1d1c3f6f2c11"), Controller: &yes, BlockOwnerDeletion: &yes}},
			ManagedFields: []metav1.ManagedFieldsEntry{
				{Manager: "kube-controller-manager", Operation: "Update", APIVersion: "v1", Time: &at, FieldsType: "FieldsV1", FieldsV1: metav1.NewFieldsV1(specFields)},
				{Manager: "kubelet", Operation: "Update", APIVersion: "v1", Time: &at, FieldsType: "FieldsV1", Subresource: "status", FieldsV1: metav1.NewFieldsV1(statusFields)},
			},
		},
		Spec: corev1.PodSpec{
			NodeName: "node-" + nodMark, RestartPolicy: "Always", DNSPolicy: "ClusterFirst", SchedulerName: "default-scheduler",
			ServiceAccountName: "default", DeprecatedServiceAccount: "default", TerminationGracePeriodSeconds: &grace, EnableServiceLinks: &yes,
			SecurityContext: &corev1.PodSecurityContext{}, Priority: new(int32), PreemptionPolicy: new(corev1.PreemptLowerPriority),
			Containers: []corev1.Container{{
				Name: "web", Image: "registry.example.com/shop/app-" + appMark + ":1.27.3", ImagePullPolicy: "IfNotPresent",
				TerminationMessagePath: "/dev/termination-log", TerminationMessagePolicy: "File",
				Ports: []corev1.ContainerPort{{Name: "http", ContainerPort: 8080, Protocol: "TCP"}},
				Env: []corev1.EnvVar{{Name: "MODE", Value: "production"}, {Name: "LOG", Value: "info"},
					{Name: "POD_IP", ValueFrom: &corev1.EnvVarSource{FieldRef: &corev1.ObjectFieldSelector{APIVersion: "v1", FieldPath: "status.podIP"}}}},
				Resources: corev1.ResourceRequirements{
					Requests: corev1.ResourceList{"cpu": resource.MustParse("100m"), "memory": resource.MustParse("128Mi")},
					Limits:   corev1.ResourceList{"cpu": resource.MustParse("500m"), "memory": resource.MustParse("256Mi")},
				},
				VolumeMounts: []corev1.VolumeMount{{Name: volume, ReadOnly: true, MountPath: "/var/run/secrets/kubernetes.io/serviceaccount"}},
			}},
			Volumes: []corev1.Volume{{Name: volume, VolumeSource: corev1.VolumeSource{Projected: &corev1.ProjectedVolumeSource{DefaultMode: &mode, Sources: []corev1.VolumeProjection{
				{ServiceAccountToken: &corev1.ServiceAccountTokenProjection{ExpirationSeconds: &token, Path: "token"}},
				{ConfigMap: &corev1.ConfigMapProjection{LocalObjectReference: corev1.LocalObjectReference{Name: "kube-root-ca.crt"}, Items: []corev1.KeyToPath{{Key: "ca.crt", Path: "ca.crt"}}}},
				{DownwardAPI: &corev1.DownwardAPIProjection{Items: []corev1.DownwardAPIVolumeFile{{Path: "namespace", FieldRef: &corev1.ObjectFieldSelector{APIVersion: "v1", FieldPath: "metadata.namespace"}}}}},
			}}}}},
			Tolerations: []corev1.Toleration{
				{Key: "node.kubernetes.io/not-ready", Operator: "Exists", Effect: "NoExecute", TolerationSeconds: &grace},
				{Key: "node.kubernetes.io/unreachable", Operator: "Exists", Effect: "NoExecute", TolerationSeconds: &grace},
			},
		},
		Status: corev1.PodStatus{
			Phase: "Running", HostIP: "10.0." + nodMark, HostIPs: []corev1.HostIP{{IP: "10.0." + nodMark}}, PodIP: "10." + podMark, PodIPs: []corev1.PodIP{{IP: "10." + podMark}},
			StartTime: &at, QOSClass: "Burstable", ObservedGeneration: 1,
			ContainerStatuses: []corev1.ContainerStatus{{Name: "web", Ready: true, Started: &yes, Image: "registry.example.com/shop/app-" + appMark + ":1.27.3",
				ImageID:     "registry.example.com/shop/app@sha256:4c1c50d0ffc614f90b93b07d778028dc765548e823f676fb027f61d281ac" + appMark,
				ContainerID: "containerd://e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b" + podMark,
				State:       corev1.ContainerState{Running: &corev1.ContainerStateRunning{StartedAt: at}}}},
		},
	}
	for _, c := range []corev1.PodConditionType{"PodReadyToStartContainers", "Initialized", "Ready", "ContainersReady", "PodScheduled"} {
		p.Status.Conditions = append(p.Status.Conditions, corev1.PodCondition{Type: c, Status: "True", LastTransitionTime: at, ObservedGeneration: 1})
	}
	return p
}

const specFields = `{"f:metadata":{"f:annotations":{".":{},"f:example.com/checksum":{},"f:example.com/owner":{}},"f:generateName":{},"f:labels":{".":{},"f:app":{},"f:pod-template-hash":{},"f:tier":{}},"f:ownerReferences":{".":{},"k:{\"uid\":\"6f3e` + appMark + `-6ee1-4d8e-8e64-1d1c3f6f2c11\"}":{}}},"f:spec":{"f:containers":{"k:{\"name\":\"web\"}":{".":{},"f:env":{".":{},"k:{\"name\":\"LOG\"}":{".":{},"f:name":{},"f:value":{}},"k:{\"name\":\"MODE\"}":{".":{},"f:name":{},"f:value":{}}},"f:image":{},"f:imagePullPolicy":{},"f:name":{},"f:ports":{".":{},"k:{\"containerPort\":8080,\"protocol\":\"TCP\"}":{".":{},"f:containerPort":{},"f:name":{},"f:protocol":{}}},"f:resources":{".":{},"f:limits":{".":{},"f:cpu":{},"f:memory":{}},"f:requests":{".":{},"f:cpu":{},"f:memory":{}}},"f:terminationMessagePath":{},"f:terminationMessagePolicy":{}}},"f:dnsPolicy":{},"f:enableServiceLinks":{},"f:restartPolicy":{},"f:schedulerName":{},"f:securityContext":{},"f:terminationGracePeriodSeconds":{}}}`

const statusFields = `{"f:status":{"f:conditions":{"k:{\"type\":\"ContainersReady\"}":{".":{},"f:lastTransitionTime":{},"f:status":{},"f:type":{}},"k:{\"type\":\"Initialized\"}":{".":{},"f:lastTransitionTime":{},"f:status":{},"f:type":{}},"k:{\"type\":\"Ready\"}":{".":{},"f:lastTransitionTime":{},"f:status":{},"f:type":{}}},"f:containerStatuses":{},"f:hostIP":{},"f:hostIPs":{},"f:phase":{},"f:podIP":{},"f:podIPs":{".":{},"k:{\"ip\":\"10.` + podMark + `\"}":{".":{},"f:ip":{}}},"f:startTime":{}}}`

// template is bytes with places for the parts that differ.
type template struct {
	text  []byte
	spots []spot
}

// spot is such a place, and the function that writes its bytes.
type spot struct {
	at, end int
	write   func(b []byte, n, rev int)
}

func newTemplate(text []byte) *template {
	t := &template{text: text}
	digits := func(of func(n, rev int) int) func([]byte, int, int) {
		return func(b []byte, n, rev int) {
			for i, v := len(b)-1, of(n, rev); i >= 0; i, v = i-1, v/10 {
				b[i] = byte('0' + v%10)
			}
		}
	}
	for mark, write := range map[string]func([]byte, int, int){
		podMark: digits(func(n, _ int) int { return n }),
		revMark: digits(func(_, rev int) int { return rev }),
		appMark: digits(func(n, _ int) int { return n % 50 }),
		nodMark: digits(func(n, _ int) int { return n / 100 % 10000 }),
		nspMark: digits(func(n, _ int) int { return n % 20 }),
		// A pod has times of its own, in JSON and in protobuf.
		epoch.Format(time.RFC3339):                              func(b []byte, n, _ int) { born(n).AppendFormat(b[:0], time.RFC3339) },
		string(binary.AppendUvarint(nil, uint64(epoch.Unix()))): func(b []byte, n, _ int) { binary.PutUvarint(b, uint64(born(n).Unix())) },
	} {
		for at := 0; ; {
			i := bytes.Index(text[at:], []byte(mark))
			if i < 0 {
				break
			}
			t.spots = append(t.spots, spot{at + i, at + i + len(mark), write})
			at += i + len(mark)
		}
	}
	return t
}

// epoch stands for all times in the template.
var epoch = time.Date(2026, 7, 1, 12, 0, 0, 0, time.UTC)

func born(n int) time.Time { return epoch.Add(time.Duration(n) * time.Second) }

// append adds the text of pod n at a revision.
func (t *template) append(b []byte, n, rev int) []byte {
	start := len(b)
	b = append(b, t.text...)
	for _, s := range t.spots {
		s.write(b[start+s.at:start+s.end], n, rev)
	}
	return b
}

// frame is an event of a watch.
func frame(proto bool, typ string, p *corev1.Pod) []byte {
	if !proto {
		return fmt.Appendf(nil, "{\"type\":%q,\"object\":%s}\n", typ, must(json.Marshal(p)))
	}
	ev := metav1.WatchEvent{Type: typ, Object: runtime.RawExtension{Raw: envelope("v1", "Pod", must(p.Marshal()))}}
	raw := must(ev.Marshal())
	return append(binary.BigEndian.AppendUint32(nil, uint32(len(raw))), raw...)
}

// envelope wraps an object in Kubernetes' protobuf envelope.
func envelope(version, kind string, raw []byte) []byte {
	u := runtime.Unknown{TypeMeta: runtime.TypeMeta{APIVersion: version, Kind: kind}, Raw: raw}
	return append([]byte("k8s\x00"), must(u.Marshal())...)
}

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}
