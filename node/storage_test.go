package node_test

import (
	"encoding/json"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
)

// withVolumes gives a pod emptyDir volumes, which its container mounts. A size of "" is no limit.
func withVolumes(p *corev1.Pod, usage string, sizes map[string]string) {
	p.Annotations = map[string]string{"fairlead.dev/usage-empty-dirs": usage}
	for name, size := range sizes {
		dir := &corev1.EmptyDirVolumeSource{}
		if size != "" {
			limit := resource.MustParse(size)
			dir.SizeLimit = &limit
		}
		p.Spec.Volumes = append(p.Spec.Volumes, corev1.Volume{Name: name, VolumeSource: corev1.VolumeSource{EmptyDir: dir}})
		p.Spec.Containers[0].VolumeMounts = append(p.Spec.Containers[0].VolumeMounts, corev1.VolumeMount{Name: name, MountPath: "/" + name})
	}
}

func limitStorage(c *corev1.Container, amount string) {
	c.Resources.Limits = corev1.ResourceList{corev1.ResourceEphemeralStorage: resource.MustParse(amount)}
}

// TestEmptyDirLimits: a pod ends when a volume exceeds its size, or containers and volumes together their limits.
func TestEmptyDirLimits(t *testing.T) {
	inBubble(t, nil, func(b *bubble) {
		b.create("cache", "", func(p *corev1.Pod) {
			withVolumes(p, "tmp=1Mi,cache=2Gi", map[string]string{"cache": "1Gi", "tmp": "1Gi"})
		})
		b.create("within", "", func(p *corev1.Pod) {
			withVolumes(p, "cache=1Gi", map[string]string{"cache": "1Gi", "tmp": ""})
			p.Annotations["fairlead.dev/usage-ephemeral-storage"] = "2Gi"
			limitStorage(&p.Spec.Containers[0], "3Gi")
		})
		b.create("sum", "", func(p *corev1.Pod) {
			withVolumes(p, "cache=2Gi", map[string]string{"cache": ""})
			p.Annotations["fairlead.dev/usage-ephemeral-storage"] = "2Gi"
			limitStorage(&p.Spec.Containers[0], "3Gi")
		})
		b.create("one", "", func(p *corev1.Pod) {
			p.Annotations = map[string]string{"fairlead.dev/usage-ephemeral-storage": "2Gi"}
			p.Spec.Containers = append(p.Spec.Containers, corev1.Container{Name: "d", Image: "nginx"})
			limitStorage(&p.Spec.Containers[0], "1Gi")
			limitStorage(&p.Spec.Containers[1], "5Gi")
		})
		b.create("memory", "", func(p *corev1.Pod) {
			withVolumes(p, "shm=2Gi", map[string]string{"shm": ""})
			p.Spec.Volumes[0].EmptyDir.Medium = corev1.StorageMediumMemory
			limitStorage(&p.Spec.Containers[0], "1Gi")
		})
		time.Sleep(25 * time.Second)
		b.failed("cache", "Evicted", `Usage of EmptyDir volume "cache" exceeds the limit "1Gi". `, false)
		b.told("cache", "Evicted", `Usage of EmptyDir volume "cache" exceeds the limit "1Gi". `)
		b.failed("sum", "Evicted", "Pod ephemeral local storage usage exceeds the total limit of containers 3Gi. ", false)
		b.failed("one", "Evicted", `Container c exceeded its local ephemeral storage limit "1Gi". `, false)
		b.areRunning("memory", "within")

		type used struct{ UsedBytes, CapacityBytes, AvailableBytes int64 }
		var stats struct {
			Node struct{ FS used }
			Pods []struct {
				PodRef  struct{ Name string }
				Storage used `json:"ephemeral-storage"`
				Volume  []struct {
					Name string
					used
				}
			}
		}
		if err := json.Unmarshal(b.scrape("/stats/summary"), &stats); err != nil {
			t.Fatal(err)
		}
		const gi = 1 << 30
		if n := stats.Node.FS; n != (used{3 * gi, 100 * gi, 97 * gi}) {
			t.Errorf("the node: %+v", n)
		}
		for _, p := range stats.Pods {
			switch p.PodRef.Name {
			case "within":
				if v := p.Volume; p.Storage.UsedBytes != 3*gi || len(v) != 2 || v[0].Name != "cache" || v[0].used != (used{gi, 100 * gi, 97 * gi}) || v[1].Name != "tmp" || v[1].UsedBytes != 0 {
					t.Errorf("within: %+v", p)
				}
			case "memory":
				if v := p.Volume; p.Storage.UsedBytes != 0 || len(v) != 1 || v[0].UsedBytes != 2*gi {
					t.Errorf("memory: %+v", p)
				}
			default:
				t.Errorf("%s has ended", p.PodRef.Name)
			}
		}
	})
}

// TestGrowingEmptyDir: a volume that fills up ends its pod when it exceeds its size.
func TestGrowingEmptyDir(t *testing.T) {
	inBubble(t, nil, func(b *bubble) {
		b.create("fills", "", func(p *corev1.Pod) { withVolumes(p, "", map[string]string{"cache": "2Gi"}) })
		time.Sleep(20 * time.Second)
		b.areRunning("fills")
		time.Sleep(70 * time.Second)
		b.failed("fills", "Evicted", `Usage of EmptyDir volume "cache" exceeds the limit "2Gi". `, false)
	}, map[string]any{
		"apiVersion": "kwok.x-k8s.io/v1alpha1", "kind": "ClusterResourceUsage", "metadata": map[string]any{"name": "fills"},
		"spec": map[string]any{"usages": []any{map[string]any{"usage": map[string]any{"emptyDir/cache": map[string]any{"expression": `Quantity("32Mi") * pod.SinceSecond()`}}}}},
	})
}
