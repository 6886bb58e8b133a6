package volumes_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"fairlead.dev/client"
	"fairlead.dev/internal/controllers/podcontrol/waittest"
	"fairlead.dev/testenv"
)

// cluster has the objects of a control plane in a bubble.
type cluster struct {
	*testing.T
	claims  client.Resource[*corev1.PersistentVolumeClaim]
	volumes client.Resource[*corev1.PersistentVolume]
	pods    client.Resource[*corev1.Pod]
	events  client.Resource[*corev1.Event]
}

func run(t *testing.T, test func(cluster)) {
	synctest.Test(t, func(t *testing.T) {
		c := testenv.New(t, testenv.Options{Bubble: true, Nodes: 1}).Client(t)
		waittest.One(t, client.For[*corev1.ServiceAccount](c).Namespace("default"), "default", "the account of pods", func(*corev1.ServiceAccount) bool { return true })
		test(cluster{t, client.For[*corev1.PersistentVolumeClaim](c).Namespace("default"), client.For[*corev1.PersistentVolume](c),
			client.For[*corev1.Pod](c).Namespace("default"), client.For[*corev1.Event](c).Namespace("default")})
	})
}

func (c cluster) must(_ any, err error) {
	c.Helper()
	if err != nil {
		c.Fatal(err)
	}
}

// claim creates a claim of the default class, with 1Gi, and waits until it is bound.
func (c cluster) claim(name string, mode corev1.PersistentVolumeMode) *corev1.PersistentVolumeClaim {
	c.Helper()
	c.must(c.claims.Create(c.Context(), &corev1.PersistentVolumeClaim{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: corev1.PersistentVolumeClaimSpec{
		AccessModes: []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce}, VolumeMode: &mode,
		Resources: corev1.VolumeResourceRequirements{Requests: corev1.ResourceList{corev1.ResourceStorage: resource.MustParse("1Gi")}},
	}}))
	return waittest.One(c, c.claims, name, "its volume", func(p *corev1.PersistentVolumeClaim) bool { return p.Status.Phase == corev1.ClaimBound })
}

// run creates a pod with a claim, and waits until it runs.
func (c cluster) run(name, claim string, ephemeral bool) {
	c.Helper()
	v := corev1.Volume{Name: "v", VolumeSource: corev1.VolumeSource{PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: claim}}}
	if ephemeral {
		v.VolumeSource = corev1.VolumeSource{Ephemeral: &corev1.EphemeralVolumeSource{VolumeClaimTemplate: &corev1.PersistentVolumeClaimTemplate{Spec: corev1.PersistentVolumeClaimSpec{
			AccessModes: []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce},
			Resources:   corev1.VolumeResourceRequirements{Requests: corev1.ResourceList{corev1.ResourceStorage: resource.MustParse("1Gi")}},
		}}}}
	}
	c.must(c.pods.Create(c.Context(), &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: corev1.PodSpec{
		Containers: []corev1.Container{{Name: "c", Image: "c"}}, Volumes: []corev1.Volume{v},
	}}))
	waittest.One(c, c.pods, name, "it to run", func(p *corev1.Pod) bool { return p.Status.Phase == corev1.PodRunning })
}

func (c cluster) request(claim, size string) {
	c.Helper()
	c.must(c.claims.Patch(c.Context(), claim, client.MergePatch(map[string]any{
		"spec": map[string]any{"resources": map[string]any{"requests": map[string]any{"storage": size}}}})))
}

// grow requests a size, and waits until the claim has it. It returns the states of the expansion on the way.
func (c cluster) grow(claim, size string) (states []string) {
	c.Helper()
	now, err := c.claims.Get(c.Context(), claim)
	c.must(now, err)
	w, err := c.claims.Watch(c.Context(), metav1.ListOptions{ResourceVersion: now.ResourceVersion, FieldSelector: "metadata.name=" + claim})
	c.must(w, err)
	defer w.Stop()
	c.request(claim, size)
	for {
		e, err := w.Next(c.Context())
		c.must(e, err)
		s := e.Object.Status
		if state := string(s.AllocatedResourceStatuses[corev1.ResourceStorage]); state != "" {
			for _, condition := range s.Conditions {
				if condition.Type != corev1.PersistentVolumeClaimUnused {
					state += " " + string(condition.Type)
				}
			}
			states = append(states, fmt.Sprintf("%s %s", state, s.AllocatedResources.Storage()))
		}
		if s.Capacity.Storage().String() == size {
			return slices.Compact(states) // pvcprotection writes the condition Unused in between
		}
	}
}

// settled checks the claim and the volume of a finished expansion once all is quiet, retries of conflicting writes included.
func (c cluster) settled(claim, size string, byNode bool) {
	c.Helper()
	time.Sleep(time.Minute)
	p, err := c.claims.Get(c.Context(), claim)
	c.must(p, err)
	resizing := slices.ContainsFunc(p.Status.Conditions, func(x corev1.PersistentVolumeClaimCondition) bool {
		return x.Type != corev1.PersistentVolumeClaimUnused
	})
	if s := p.Status; s.Capacity.Storage().String() != size || s.AllocatedResources.Storage().String() != size || s.AllocatedResourceStatuses != nil || resizing {
		c.Errorf("claim %s: %+v", claim, s)
	}
	if got := p.Annotations["volume.kubernetes.io/node-expansion-not-required"]; (got == "true") == byNode {
		c.Errorf("claim %s: node-expansion-not-required is %q", claim, got)
	}
	v, err := c.volumes.Get(c.Context(), p.Spec.VolumeName)
	c.must(v, err)
	if got := v.Annotations["volume.alpha.kubernetes.io/pre-resize-capacity"]; v.Spec.Capacity.Storage().String() != size || got != "" {
		c.Errorf("volume of %s: %s, formerly %q", claim, v.Spec.Capacity.Storage(), got)
	}
}

// told waits for an event about an object.
func (c cluster) told(about, reason, message string, source corev1.EventSource) {
	c.Helper()
	waittest.For(c, c.events, about+": "+reason, "", func(all map[string]*corev1.Event) bool {
		for _, e := range all {
			if e.InvolvedObject.Name == about && e.Reason == reason && e.Message == message && e.Source == source && e.Type == corev1.EventTypeNormal {
				return true
			}
		}
		return false
	})
}

var resizer = corev1.EventSource{Component: "external-resizer simulated.fairlead.dev"}

// TestGrowWithoutPod: a volume that no pod has mounted, or that has no file system, is expanded by the driver alone.
func TestGrowWithoutPod(t *testing.T) {
	run(t, func(c cluster) {
		for name, mode := range map[string]corev1.PersistentVolumeMode{"files": corev1.PersistentVolumeFilesystem, "blocks": corev1.PersistentVolumeBlock} {
			volume := c.claim(name, mode).Spec.VolumeName
			if name == "blocks" {
				c.must(c.pods.Create(c.Context(), &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "p"}, Spec: corev1.PodSpec{
					Containers: []corev1.Container{{Name: "c", Image: "c", VolumeDevices: []corev1.VolumeDevice{{Name: "v", DevicePath: "/dev/v"}}}},
					Volumes:    []corev1.Volume{{Name: "v", VolumeSource: corev1.VolumeSource{PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: name}}}},
				}}))
				waittest.One(c, c.pods, "p", "it to run", func(p *corev1.Pod) bool { return p.Status.Phase == corev1.PodRunning })
			}
			states := c.grow(name, "3Gi")
			if want := []string{"ControllerResizeInProgress Resizing 3Gi"}; !slices.Equal(states, want) {
				c.Errorf("%s: %q", name, states)
			}
			c.settled(name, "3Gi", false)
			c.told(name, "Resizing", "External resizer is resizing volume "+volume, resizer)
			c.told(name, "VolumeResizeSuccessful", "Resize volume succeeded", resizer)
		}
	})
}

// TestGrowInUse: a kubelet expands the file system of a volume that a pod has mounted.
func TestGrowInUse(t *testing.T) {
	run(t, func(c cluster) {
		c.claim("data", corev1.PersistentVolumeFilesystem)
		c.grow("data", "2Gi") // no pod yet: what that leaves is gone after the next
		c.run("p", "data", false)
		c.run("own", "", true)
		for pod, name := range map[string]string{"p": "data", "own": "own-v"} {
			p, err := c.claims.Get(c.Context(), name)
			c.must(p, err)
			states := c.grow(name, "5Gi")
			if want := []string{"ControllerResizeInProgress Resizing 5Gi", "NodeResizePending Resizing FileSystemResizePending 5Gi",
				"NodeResizeInProgress Resizing FileSystemResizePending 5Gi"}; !slices.Equal(states, want) {
				c.Errorf("%s: %q", name, states)
			}
			c.settled(name, "5Gi", true)
			c.told(name, "FileSystemResizeRequired", "Require file system resize of volume on node", resizer)
			message := fmt.Sprintf("MountVolume.NodeExpandVolume succeeded for volume %q node-1", p.Spec.VolumeName)
			for _, about := range []string{name, pod} {
				c.told(about, "FileSystemResizeSuccessful", message, corev1.EventSource{Component: "kubelet", Host: "node-1"})
			}
		}
	})
}

// TestGrowResumes: an expansion that was interrupted is finished from any of its states, whether the pod is still there or
// not, also if the request was lowered in the meantime.
func TestGrowResumes(t *testing.T) {
	run(t, func(c cluster) {
		for state, conditions := range map[string][]string{
			"ControllerResizeInProgress": {"Resizing"},
			"NodeResizePending":          {"Resizing", "FileSystemResizePending"},
			"NodeResizeInProgress":       {"Resizing", "FileSystemResizePending"},
			"ControllerResizeInfeasible": {"ControllerResizeError"},
		} {
			for _, inUse := range []bool{false, true} {
				name := strings.ToLower(fmt.Sprint(state, inUse))
				p := c.claim(name, corev1.PersistentVolumeFilesystem)
				if inUse {
					c.run(name, name, false)
				}
				c.must(c.volumes.Patch(c.Context(), p.Spec.VolumeName, client.MergePatch(map[string]any{
					"metadata": map[string]any{"annotations": map[string]any{"volume.alpha.kubernetes.io/pre-resize-capacity": "1Gi"}},
					"spec":     map[string]any{"capacity": map[string]any{"storage": "4Gi"}}})))
				var list []any
				for _, x := range conditions {
					list = append(list, map[string]any{"type": x, "status": "True"})
				}
				c.must(c.claims.Patch(c.Context(), name, client.MergePatch(map[string]any{"status": map[string]any{
					"conditions": list, "allocatedResources": map[string]any{"storage": "4Gi"}, "allocatedResourceStatuses": map[string]any{"storage": state}}}).On("status")))
				c.request(name, "2Gi")
				waittest.One(c, c.claims, name, "its size", func(p *corev1.PersistentVolumeClaim) bool { return p.Status.Capacity.Storage().String() == "4Gi" })
				c.settled(name, "4Gi", inUse)
			}
		}
	})
}

// TestGrowOwnOnly: volumes of other drivers are left alone; one of this driver that a user has created is not.
func TestGrowOwnOnly(t *testing.T) {
	run(t, func(c cluster) {
		for name, driver := range map[string]string{"foreign": "x.csi", "manual": "simulated.fairlead.dev"} {
			c.must(c.volumes.Create(c.Context(), &corev1.PersistentVolume{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: corev1.PersistentVolumeSpec{
				Capacity: corev1.ResourceList{corev1.ResourceStorage: resource.MustParse("1Gi")}, AccessModes: []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce},
				StorageClassName: "standard", ClaimRef: &corev1.ObjectReference{Namespace: "default", Name: name},
				PersistentVolumeSource: corev1.PersistentVolumeSource{CSI: &corev1.CSIPersistentVolumeSource{Driver: driver, VolumeHandle: name}},
			}}))
			c.must(c.claims.Create(c.Context(), &corev1.PersistentVolumeClaim{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: corev1.PersistentVolumeClaimSpec{
				AccessModes: []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce}, VolumeName: name, StorageClassName: ptr.To("standard"),
				Resources: corev1.VolumeResourceRequirements{Requests: corev1.ResourceList{corev1.ResourceStorage: resource.MustParse("1Gi")}},
			}}))
			waittest.One(c, c.claims, name, "its volume", func(p *corev1.PersistentVolumeClaim) bool { return p.Status.Phase == corev1.ClaimBound })
			c.request(name, "2Gi")
		}
		waittest.One(c, c.claims, "manual", "its size", func(p *corev1.PersistentVolumeClaim) bool { return p.Status.Capacity.Storage().String() == "2Gi" })
		c.told("foreign", "ExternalExpanding", "waiting for an external controller to expand this PVC", corev1.EventSource{Component: "volume_expand"})
		time.Sleep(time.Minute)
		p, err := c.claims.Get(c.Context(), "foreign")
		c.must(p, err)
		if p.Status.Capacity.Storage().String() != "1Gi" || p.Status.AllocatedResources != nil {
			c.Errorf("foreign: %+v", p.Status)
		}
	})
}
