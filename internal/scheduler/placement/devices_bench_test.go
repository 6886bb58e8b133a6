package placement

import (
	"errors"
	"fmt"
	"testing"

	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"

	"fairlead.dev/internal/scheduler/cache"
	"fairlead.dev/internal/scheduler/config"
	"fairlead.dev/internal/scheduler/framework"
	st "fairlead.dev/internal/scheduler/schedulertest"
)

const (
	benchNodes   = 1000
	benchDevices = 8 // of each node
	benchPods    = 10000
)

// BenchmarkDevices places pods that have a claim of one device each, from a template, logic only: it takes the claim as
// the watch shows it, chooses the node and the device, and assumes the pod. After 10,000 pods it begins again with a
// cluster whose 8,000 devices are free, so a fifth of the pods do not fit. One op is one pod.
func BenchmarkDevices(b *testing.B) {
	var c *cache.Cluster
	var pl Placer
	pods, claims := make([]*corev1.Pod, benchPods), make([]*resourcev1.ResourceClaim, benchPods)
	for i := range pods {
		pods[i], claims[i] = podWithClaim(i)
	}
	b.ReportAllocs()
	placed := 0
	for i := range b.N {
		k := i % benchPods
		if k == 0 {
			b.StopTimer()
			c, pl = clusterWithDevices(), Placer{Profile: config.DefaultProfile()}
			b.StartTimer()
		}
		devices := cache.DevicesOf(c)
		devices.SetClaim(claims[k])
		p := cache.NewPodInfo(pods[k])
		n, err := pl.Place(c, p)
		var fit *framework.FitError
		if errors.As(err, &fit) && k >= benchNodes*benchDevices {
			continue
		} else if err != nil {
			b.Fatal(err)
		}
		placed++
		for _, f := range pl.Filters {
			if r, ok := f.(framework.Reserver); ok {
				if _, v := r.Reserve(c, p, n); !v.IsSuccess() {
					b.Fatal(v)
				}
			}
		}
		c.AddPod(p, n.Name)
	}
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "pods/s")
	b.ReportMetric(float64(placed)/float64(b.N), "placed")
}

func clusterWithDevices() *cache.Cluster {
	nodes := make([]*corev1.Node, benchNodes)
	for i := range nodes {
		nodes[i] = st.Node(fmt.Sprintf("n%d", i), st.Allocatable("cpu", "64", "memory", "256Gi", "pods", "1000"))
	}
	c := st.NewCluster(&st.Objects{}, nodes)
	devices := cache.DevicesOf(c)
	devices.SetClass(&resourcev1.DeviceClass{ObjectMeta: metav1.ObjectMeta{Name: "gpu"}, Spec: resourcev1.DeviceClassSpec{
		Selectors: []resourcev1.DeviceSelector{{CEL: &resourcev1.CELDeviceSelector{Expression: `device.driver == "gpu.example.com"`}}},
	}})
	for _, n := range nodes {
		slice := &resourcev1.ResourceSlice{ObjectMeta: metav1.ObjectMeta{Name: n.Name}, Spec: resourcev1.ResourceSliceSpec{
			Driver: "gpu.example.com", NodeName: &n.Name, Pool: resourcev1.ResourcePool{Name: n.Name, Generation: 1, ResourceSliceCount: 1},
		}}
		for i := range benchDevices {
			slice.Spec.Devices = append(slice.Spec.Devices, resourcev1.Device{
				Name:       fmt.Sprintf("gpu-%d", i),
				Attributes: map[resourcev1.QualifiedName]resourcev1.DeviceAttribute{"model": {StringValue: ptr.To("large")}},
			})
		}
		devices.SetSlice(slice)
	}
	return c
}

func podWithClaim(i int) (*corev1.Pod, *resourcev1.ResourceClaim) {
	name := fmt.Sprintf("p%d", i)
	p := st.Pod(name, st.Requesting("cpu", "100m", "memory", "64Mi"))
	p.Spec.ResourceClaims = []corev1.PodResourceClaim{{Name: "gpu", ResourceClaimTemplateName: ptr.To("gpu")}}
	p.Status.ResourceClaimStatuses = []corev1.PodResourceClaimStatus{{Name: "gpu", ResourceClaimName: &name}}
	return p, &resourcev1.ResourceClaim{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: p.Namespace, Name: name, UID: types.UID("claim " + name), ResourceVersion: fmt.Sprint(i + 1),
			OwnerReferences: []metav1.OwnerReference{{APIVersion: "v1", Kind: "Pod", Name: name, UID: p.UID, Controller: ptr.To(true)}},
		},
		Spec: resourcev1.ResourceClaimSpec{Devices: resourcev1.DeviceClaim{Requests: []resourcev1.DeviceRequest{{Name: "gpu", Exactly: &resourcev1.ExactDeviceRequest{
			DeviceClassName: "gpu", AllocationMode: resourcev1.DeviceAllocationModeExactCount, Count: 1,
			Selectors: []resourcev1.DeviceSelector{{CEL: &resourcev1.CELDeviceSelector{Expression: `device.attributes["gpu.example.com"].model == "large"`}}},
		}}}}},
	}
}
