package persistentvolumeexpander_test

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"fairlead.dev/client"
	"fairlead.dev/internal/controllers/podcontrol/waittest"
	"fairlead.dev/testenv"
)

// cluster has the objects of a control plane in a bubble, without nodes.
type cluster struct {
	*testing.T
	claims  client.Resource[*corev1.PersistentVolumeClaim]
	volumes client.Resource[*corev1.PersistentVolume]
	events  client.Resource[*corev1.Event]
}

func run(t *testing.T, test func(cluster)) {
	synctest.Test(t, func(t *testing.T) {
		api := testenv.New(t, testenv.Options{Bubble: true, NoNodes: true, NoScheduler: true,
			Controllers: []string{"persistentvolume", "persistentvolumeexpander", "pvcprotection"}}).Client(t)
		c := cluster{t, client.For[*corev1.PersistentVolumeClaim](api).Namespace("default"), client.For[*corev1.PersistentVolume](api), client.For[*corev1.Event](api).Namespace("default")}
		c.must(client.For[*storagev1.StorageClass](api).Create(t.Context(), &storagev1.StorageClass{
			ObjectMeta: metav1.ObjectMeta{Name: "grows"}, Provisioner: "x.csi", AllowVolumeExpansion: ptr.To(true)}))
		test(c)
	})
}

func (c cluster) must(_ any, err error) {
	c.Helper()
	if err != nil {
		c.Fatal(err)
	}
}

// claim creates a claim of 1Gi, and waits until it is bound to the volume.
func (c cluster) claim(name, volume string, mode corev1.PersistentVolumeMode) {
	c.Helper()
	c.must(c.claims.Create(c.Context(), &corev1.PersistentVolumeClaim{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: corev1.PersistentVolumeClaimSpec{
		StorageClassName: ptr.To("grows"), VolumeName: volume, VolumeMode: &mode, AccessModes: []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce},
		Resources: corev1.VolumeResourceRequirements{Requests: corev1.ResourceList{corev1.ResourceStorage: resource.MustParse("1Gi")}},
	}}))
	waittest.One(c, c.claims, name, "its volume", func(p *corev1.PersistentVolumeClaim) bool { return p.Status.Phase == corev1.ClaimBound })
}

// bound creates a volume, and a claim of its name that is bound to it.
func (c cluster) bound(name string, source corev1.PersistentVolumeSource, mode corev1.PersistentVolumeMode) {
	c.Helper()
	c.must(c.volumes.Create(c.Context(), &corev1.PersistentVolume{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: corev1.PersistentVolumeSpec{
		Capacity: corev1.ResourceList{corev1.ResourceStorage: resource.MustParse("1Gi")}, StorageClassName: "grows", VolumeMode: &mode,
		AccessModes: []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce}, PersistentVolumeSource: source,
	}}))
	c.claim(name, name, mode)
}

func (c cluster) request(claim, size string) {
	c.Helper()
	c.must(c.claims.Patch(c.Context(), claim, client.MergePatch(map[string]any{
		"spec": map[string]any{"resources": map[string]any{"requests": map[string]any{"storage": size}}}})))
}

// told waits for an event about a claim. It is only there once.
func (c cluster) told(claim, reason, message string) {
	c.Helper()
	waittest.For(c, c.events, claim+": "+reason, "", func(all map[string]*corev1.Event) bool {
		for _, e := range all {
			if e.InvolvedObject.Name == claim && e.Reason == reason && e.Message == message && e.Type == corev1.EventTypeNormal &&
				e.Source.Component == "volume_expand" && e.Count == 1 {
				return true
			}
		}
		return false
	})
}

// state describes the expansion of a claim and its volume once all is quiet, retries of conflicting writes included.
func (c cluster) state(name string) string {
	c.Helper()
	time.Sleep(time.Minute)
	p, err := c.claims.Get(c.Context(), name)
	c.must(p, err)
	v, err := c.volumes.Get(c.Context(), p.Spec.VolumeName)
	c.must(v, err)
	text := fmt.Sprintf("claim %s volume %s", p.Status.Capacity.Storage(), v.Spec.Capacity.Storage())
	if s := p.Status.AllocatedResourceStatuses[corev1.ResourceStorage]; s != "" {
		text += fmt.Sprintf(" %s %s", s, p.Status.AllocatedResources.Storage())
	}
	for _, x := range p.Status.Conditions {
		if x.Type != corev1.PersistentVolumeClaimUnused {
			text += " " + string(x.Type)
		}
	}
	if former := v.Annotations["volume.alpha.kubernetes.io/pre-resize-capacity"]; former != "" {
		text += " formerly " + former
	}
	if resizer := p.Annotations["volume.kubernetes.io/storage-resizer"]; resizer != "" {
		text += " by " + resizer
	}
	return text
}

func (c cluster) expect(name, want string) {
	c.Helper()
	if got := c.state(name); got != want {
		c.Errorf("%s:\n got %s\nwant %s", name, got, want)
	}
}

// TestExternal: volumes of CSI drivers and those that cannot be expanded are left to others.
func TestExternal(t *testing.T) {
	run(t, func(c cluster) {
		for name, source := range map[string]corev1.PersistentVolumeSource{
			"driver": {CSI: &corev1.CSIPersistentVolumeSource{Driver: "x.csi", VolumeHandle: "x"}},
			"nfs":    {NFS: &corev1.NFSVolumeSource{Server: "example.com", Path: "/"}},
		} {
			c.bound(name, source, corev1.PersistentVolumeFilesystem)
			c.request(name, "2Gi")
			c.told(name, "ExternalExpanding", "waiting for an external controller to expand this PVC")
			c.expect(name, "claim 1Gi volume 1Gi")
		}
		c.bound("ebs", corev1.PersistentVolumeSource{AWSElasticBlockStore: &corev1.AWSElasticBlockStoreVolumeSource{VolumeID: "x"}}, corev1.PersistentVolumeFilesystem)
		c.request("ebs", "2Gi")
		c.told("ebs", "ExternalExpanding", "CSI migration enabled for kubernetes.io/aws-ebs; waiting for external resizer to expand the pvc")
		c.expect("ebs", "claim 1Gi volume 1Gi by ebs.csi.aws.com")
	})
}

// TestFlexVolume: a kubelet finishes the expansion of a FlexVolume, also after a failure and for a newer request.
func TestFlexVolume(t *testing.T) {
	run(t, func(c cluster) {
		source := corev1.PersistentVolumeSource{FlexVolume: &corev1.FlexPersistentVolumeSource{Driver: "example.com/flex"}}
		c.bound("files", source, corev1.PersistentVolumeFilesystem)
		kubelet := func(status map[string]any) {
			c.Helper()
			c.must(c.claims.Patch(c.Context(), "files", client.MergePatch(map[string]any{"status": status}).On("status")))
		}
		const pending = "claim 1Gi volume 2Gi NodeResizePending 2Gi Resizing FileSystemResizePending formerly 1Gi by example.com/flex"
		c.request("files", "2Gi")
		c.expect("files", pending)
		c.request("files", "3Gi")
		c.expect("files", pending)
		finished := func(size string) map[string]any {
			return map[string]any{"capacity": map[string]any{"storage": size}, "allocatedResourceStatuses": nil, "conditions": nil}
		}
		kubelet(finished("2Gi"))
		c.expect("files", "claim 2Gi volume 3Gi NodeResizePending 3Gi Resizing FileSystemResizePending formerly 1Gi by example.com/flex")
		kubelet(map[string]any{"allocatedResourceStatuses": map[string]any{"storage": "NodeResizeInfeasible"}})
		c.request("files", "4Gi")
		c.expect("files", "claim 2Gi volume 3Gi NodeResizePending 3Gi Resizing FileSystemResizePending formerly 1Gi by example.com/flex")
		kubelet(finished("3Gi"))
		c.expect("files", "claim 3Gi volume 4Gi NodeResizePending 4Gi Resizing FileSystemResizePending formerly 1Gi by example.com/flex")
		kubelet(finished("4Gi"))
		c.expect("files", "claim 4Gi volume 4Gi by example.com/flex")

		c.bound("blocks", source, corev1.PersistentVolumeBlock)
		c.request("blocks", "2Gi")
		c.told("blocks", "VolumeResizeSuccessful", "ExpandVolume succeeded for volume default/blocks")
		c.expect("blocks", "claim 2Gi volume 2Gi by example.com/flex")
	})
}

// TestRebind: a claim that is bound to a volume whose file system is still to be expanded has the former capacity, and gets
// the rest as by any expansion.
func TestRebind(t *testing.T) {
	run(t, func(c cluster) {
		c.bound("v", corev1.PersistentVolumeSource{FlexVolume: &corev1.FlexPersistentVolumeSource{Driver: "example.com/flex"}}, corev1.PersistentVolumeFilesystem)
		c.request("v", "2Gi")
		c.expect("v", "claim 1Gi volume 2Gi NodeResizePending 2Gi Resizing FileSystemResizePending formerly 1Gi by example.com/flex")
		if err := c.claims.Delete(c.Context(), "v"); err != nil {
			t.Fatal(err)
		}
		waittest.One(c, c.volumes, "v", "its release", func(v *corev1.PersistentVolume) bool { return v.Status.Phase == corev1.VolumeReleased })
		c.must(c.volumes.Patch(c.Context(), "v", client.MergePatch(map[string]any{"spec": map[string]any{"claimRef": nil}})))
		c.claim("next", "v", corev1.PersistentVolumeFilesystem)
		c.expect("next", "claim 1Gi volume 2Gi formerly 1Gi")
		c.request("next", "2Gi")
		c.expect("next", "claim 1Gi volume 2Gi NodeResizePending 2Gi Resizing FileSystemResizePending formerly 1Gi by example.com/flex")
	})
}
