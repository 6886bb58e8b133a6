package attachdetach_test

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"

	"fairlead.dev/client"
	"fairlead.dev/internal/controllers/podcontrol/waittest"
	"fairlead.dev/internal/controlplane"
	"fairlead.dev/internal/controlplane/controlplanetest"
)

// TestRestart: a controller adopts the VolumeAttachments of the one before, and detaches the volume of a pod that was
// deleted in between.
func TestRestart(t *testing.T) {
	dir := t.TempDir()
	start := func(controllers ...string) (*controlplane.ControlPlane, cluster) {
		cp := controlplanetest.Start(t, controlplane.Options{DataDir: dir, Controllers: controllers})
		api := controlplanetest.Client(t, cp)
		return cp, cluster{T: t, pods: client.For[*corev1.Pod](api).Namespace("default"), nodes: client.For[*corev1.Node](api),
			volumes: client.For[*corev1.PersistentVolume](api), claims: client.For[*corev1.PersistentVolumeClaim](api).Namespace("default"),
			attachments: client.For[*storagev1.VolumeAttachment](api)}
	}
	stop := func(cp *controlplane.ControlPlane) {
		t.Helper()
		if err := cp.Stop(); err != nil {
			t.Fatal(err)
		}
	}
	cp, c := start("attachdetach", "serviceaccount")
	accounts := client.For[*corev1.ServiceAccount](controlplanetest.Client(t, cp)).Namespace("default")
	waittest.One(t, accounts, "default", "the account of pods", func(*corev1.ServiceAccount) bool { return true })
	c.node("n1", map[string]string{"volumes.kubernetes.io/controller-managed-attach-detach": "true"})
	for _, v := range []string{"a", "b"} {
		c.volume(v, corev1.ReadWriteOnce)
		c.pod("p-"+v, "n1", v)
	}
	waittest.One(t, c.attachments, attachment("a", "n1"), "an attachment", func(*storagev1.VolumeAttachment) bool { return true })
	c.attachStatus(attachment("a", "n1"), map[string]any{"attached": true})
	waittest.One(t, c.attachments, attachment("b", "n1"), "an attachment", func(*storagev1.VolumeAttachment) bool { return true })
	c.attachStatus(attachment("b", "n1"), map[string]any{"attached": true})
	c.lists("n1", unique("a"), unique("b"))
	stop(cp)
	cp, c = start("-attachdetach")
	c.remove("p-a")
	stop(cp)
	_, c = start("attachdetach")
	waittest.Gone(t, c.attachments, attachment("a", "n1"))
	c.lists("n1", unique("b"))
	if _, err := c.attachments.Get(t.Context(), attachment("b", "n1")); err != nil {
		t.Error(err)
	}
}
