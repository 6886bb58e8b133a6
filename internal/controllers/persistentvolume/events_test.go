package persistentvolume_test

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"fairlead.dev/client"
	"fairlead.dev/internal/controllers/podcontrol/waittest"
	"fairlead.dev/testenv"
)

// told waits until an event about an object has the given count.
func told(t *testing.T, events client.Resource[*corev1.Event], about, kind, reason, message string, times int32) {
	t.Helper()
	waittest.For(t, events, about+": "+reason, "", func(have map[string]*corev1.Event) bool {
		for _, e := range have {
			if e.InvolvedObject.Name == about && e.Reason == reason && e.Type == kind && e.Message == message && e.Count >= times {
				return true
			}
		}
		return false
	})
}

func TestWhatClaimsWaitFor(t *testing.T) {
	t.Parallel() // it waits
	c := testenv.New(t, testenv.Options{NoScheduler: true, Nodes: 1}).Client(t)
	claims, classes := client.For[*corev1.PersistentVolumeClaim](c).Namespace("default"), client.For[*storagev1.StorageClass](c)
	volumes, events := client.For[*corev1.PersistentVolume](c), client.For[*corev1.Event](c).Namespace("default")
	for name, class := range map[string]storagev1.StorageClass{
		"late":   {Provisioner: "simulated.fairlead.dev", VolumeBindingMode: ptr.To(storagev1.VolumeBindingWaitForFirstConsumer)},
		"byhand": {Provisioner: "kubernetes.io/no-provisioner"},
		"old":    {Provisioner: "kubernetes.io/aws-ebs"},
		"far":    {Provisioner: "example.com/disk", AllowVolumeExpansion: ptr.To(true)},
	} {
		class.Name = name
		must(classes.Create(t.Context(), &class))
		must(claims.Create(t.Context(), claim(name, "1Gi", &name)))
	}
	none := ""
	must(claims.Create(t.Context(), claim("none", "1Gi", &none)))
	told(t, events, "byhand", "Warning", "ProvisioningFailed", "no volume plugin matched name: kubernetes.io/no-provisioner", 1)
	told(t, events, "old", "Normal", "ExternalProvisioning", "Waiting for a volume to be created either by the external provisioner 'ebs.csi.aws.com' or manually by the system administrator. If volume creation is delayed, please verify that the provisioner is running and correctly registered.", 1)
	told(t, events, "late", "Normal", "WaitForFirstConsumer", "waiting for first consumer to be created before binding", 1)

	must(client.For[*corev1.Pod](c).Namespace("default").Create(t.Context(), &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "p"}, Spec: corev1.PodSpec{
		Containers: []corev1.Container{{Name: "c", Image: "i"}},
		Volumes: []corev1.Volume{{Name: "v", VolumeSource: corev1.VolumeSource{
			PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: "late"}}}},
	}}))

	// A claim of a foreign volume with a larger request.
	v := volume("disk", "1Gi")
	v.Spec.StorageClassName = "far"
	must(volumes.Create(t.Context(), v))
	waittest.One(t, claims, "far", "its volume", bound)
	must(claims.Patch(t.Context(), "far", client.MergePatch(map[string]any{
		"spec": map[string]any{"resources": map[string]any{"requests": map[string]any{"storage": "3Gi"}}}})))
	told(t, events, "far", "Normal", "ExternalExpanding", "waiting for an external controller to expand this PVC", 1)

	// Events are repeated.
	told(t, events, "late", "Normal", "WaitForPodScheduled", "waiting for pod p to be scheduled", 1)
	told(t, events, "none", "Normal", "FailedBinding", "no persistent volumes available for this claim and no storage class is set", 2)
}

func TestVolumesThatNobodyDeletes(t *testing.T) {
	c := testenv.New(t, testenv.Options{NoScheduler: true, NoNodes: true, Controllers: []string{"persistentvolume", "pvcprotection"}}).Client(t)
	claims, volumes := client.For[*corev1.PersistentVolumeClaim](c).Namespace("default"), client.For[*corev1.PersistentVolume](c)
	events := client.For[*corev1.Event](c).Namespace("default")
	for name, source := range map[string]corev1.PersistentVolumeSource{
		"host":   {HostPath: &corev1.HostPathVolumeSource{Path: "/data"}},
		"tmp":    {HostPath: &corev1.HostPathVolumeSource{Path: "/tmp/data"}},
		"nfs":    {NFS: &corev1.NFSVolumeSource{Server: "example.com", Path: "/"}},
		"iscsi":  {ISCSI: &corev1.ISCSIPersistentVolumeSource{TargetPortal: "10.1.2.3", IQN: "iqn.2001-04.com.example:storage"}},
		"driver": {CSI: &corev1.CSIPersistentVolumeSource{Driver: "example.com", VolumeHandle: "x"}},
	} {
		v := volume(name, "1Gi")
		v.Spec.PersistentVolumeSource, v.Spec.PersistentVolumeReclaimPolicy = source, corev1.PersistentVolumeReclaimDelete
		must(volumes.Create(t.Context(), v))
		none := ""
		asks := claim(name, "1Gi", &none)
		asks.Spec.VolumeName = name
		must(claims.Create(t.Context(), asks))
		waittest.One(t, claims, name, "its volume", bound)
		if err := claims.Delete(t.Context(), name); err != nil {
			t.Fatal(err)
		}
	}
	for name, why := range map[string]string{
		"host":  "host_path deleter only supports /tmp/.+ but received provided /data",
		"nfs":   `error getting deleter volume plugin for volume "nfs": no deletable volume plugin matched`,
		"iscsi": `error getting deleter volume plugin for volume "iscsi": no volume plugin matched`,
	} {
		waittest.One(t, volumes, name, "failure", func(v *corev1.PersistentVolume) bool {
			return v.Status.Phase == corev1.VolumeFailed && v.Status.Message == why
		})
		told(t, events, name, "Warning", "VolumeFailedDelete", why, 1)
	}
	waittest.One(t, volumes, "driver", "its release", inPhase(corev1.VolumeReleased))
	waittest.One(t, volumes, "tmp", "its end", func(v *corev1.PersistentVolume) bool { return v.DeletionTimestamp != nil })
}
