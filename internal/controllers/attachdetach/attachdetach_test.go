package attachdetach_test

import (
	"crypto/sha256"
	"fmt"
	"strings"
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

// cluster has the objects of a control plane in a bubble. It plays the kubelets and the external-attacher.
type cluster struct {
	*testing.T
	pods        client.Resource[*corev1.Pod]
	nodes       client.Resource[*corev1.Node]
	volumes     client.Resource[*corev1.PersistentVolume]
	claims      client.Resource[*corev1.PersistentVolumeClaim]
	drivers     client.Resource[*storagev1.CSIDriver]
	attachments client.Resource[*storagev1.VolumeAttachment]
	events      client.Resource[*corev1.Event]
}

// run runs a test in a bubble, on a cluster with the managed nodes n1 and n2.
func run(t *testing.T, test func(c cluster)) {
	synctest.Test(t, func(t *testing.T) {
		env := testenv.New(t, testenv.Options{Bubble: true, NoNodes: true, NoScheduler: true, Controllers: []string{"attachdetach", "serviceaccount"}})
		api := env.Client(t)
		c := cluster{t, client.For[*corev1.Pod](api).Namespace("default"), client.For[*corev1.Node](api), client.For[*corev1.PersistentVolume](api),
			client.For[*corev1.PersistentVolumeClaim](api).Namespace("default"), client.For[*storagev1.CSIDriver](api), client.For[*storagev1.VolumeAttachment](api),
			client.For[*corev1.Event](api).Namespace("default")}
		waittest.One(t, client.For[*corev1.ServiceAccount](api).Namespace("default"), "default", "the account of pods", func(*corev1.ServiceAccount) bool { return true })
		c.node("n1", map[string]string{"volumes.kubernetes.io/controller-managed-attach-detach": "true"})
		c.node("n2", map[string]string{"volumes.kubernetes.io/controller-managed-attach-detach": "true"})
		test(c)
	})
}

func must[T any](c cluster, _ T, err error) {
	c.Helper()
	if err != nil {
		c.Fatal(err)
	}
}

func (c cluster) node(name string, annotations map[string]string) {
	c.Helper()
	n := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name, Annotations: annotations}}
	n, err := c.nodes.Create(c.Context(), n)
	must(c, n, err)
	c.nodeStatus(name, map[string]any{"conditions": []any{map[string]any{"type": "Ready", "status": "True"}}})
}

func (c cluster) nodeStatus(name string, status map[string]any) {
	c.Helper()
	n, err := c.nodes.Patch(c.Context(), name, client.MergePatch(map[string]any{"status": status}).On("status"))
	must(c, n, err)
}

// inUse sets which volumes the kubelet of a node has mounted.
func (c cluster) inUse(node string, volumes ...string) {
	c.Helper()
	list := []string{}
	for _, v := range volumes {
		list = append(list, unique(v))
	}
	c.nodeStatus(node, map[string]any{"volumesInUse": list})
}

func unique(volume string) string { return "kubernetes.io/csi/x.csi^handle-" + volume }

func attachment(volume, node string) string {
	return fmt.Sprintf("csi-%x", sha256.Sum256([]byte("handle-"+volume+"x.csi"+node)))
}

// volume creates a volume of the driver x.csi, and a claim of the same name that is bound to it. It plays the controller that
// binds them.
func (c cluster) volume(name string, mode corev1.PersistentVolumeAccessMode) {
	c.Helper()
	c.unbound(name, mode)
	claim, err := c.claims.Patch(c.Context(), name, client.MergePatch(map[string]any{"status": map[string]any{"phase": "Bound"}}).On("status"))
	must(c, claim, err)
}

// unbound creates a volume of the driver x.csi, and a claim of the same name that is for it.
func (c cluster) unbound(name string, mode corev1.PersistentVolumeAccessMode) {
	c.Helper()
	size := corev1.ResourceList{corev1.ResourceStorage: resource.MustParse("1Gi")}
	claim, err := c.claims.Create(c.Context(), &corev1.PersistentVolumeClaim{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: corev1.PersistentVolumeClaimSpec{
		StorageClassName: ptr.To(""), VolumeName: name, AccessModes: []corev1.PersistentVolumeAccessMode{mode},
		Resources: corev1.VolumeResourceRequirements{Requests: size},
	}})
	must(c, claim, err)
	v, err := c.volumes.Create(c.Context(), &corev1.PersistentVolume{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: corev1.PersistentVolumeSpec{
		Capacity: size, AccessModes: []corev1.PersistentVolumeAccessMode{mode},
		ClaimRef:               &corev1.ObjectReference{Kind: "PersistentVolumeClaim", Namespace: "default", Name: name, UID: claim.UID},
		PersistentVolumeSource: corev1.PersistentVolumeSource{CSI: &corev1.CSIPersistentVolumeSource{Driver: "x.csi", VolumeHandle: "handle-" + name}},
	}})
	must(c, v, err)
}

// pod creates a pod on a node with the volume of a claim.
func (c cluster) pod(name, node, claim string) {
	c.Helper()
	p, err := c.pods.Create(c.Context(), &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: corev1.PodSpec{
		NodeName: node, Containers: []corev1.Container{{Name: "c", Image: "c"}}, TerminationGracePeriodSeconds: ptr.To[int64](0),
		Volumes: []corev1.Volume{{Name: "v", VolumeSource: corev1.VolumeSource{PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: claim}}}},
	}})
	must(c, p, err)
}

func (c cluster) remove(pod string) {
	c.Helper()
	if err := c.pods.Delete(c.Context(), pod); err != nil {
		c.Fatal(err)
	}
}

// attach waits until a volume is to be attached, and attaches it.
func (c cluster) attach(volume, node string) {
	c.Helper()
	name := attachment(volume, node)
	va := waittest.One(c, c.attachments, name, "the attachment of "+volume+" to "+node, func(*storagev1.VolumeAttachment) bool { return true })
	if s := va.Spec; s.Attacher != "x.csi" || s.NodeName != node || ptr.Deref(s.Source.PersistentVolumeName, "") != volume {
		c.Errorf("attachment of %s to %s: %+v", volume, node, s)
	}
	c.attachStatus(name, map[string]any{"attached": true})
	c.lists(node, unique(volume))
}

func (c cluster) attachStatus(name string, status map[string]any) {
	c.Helper()
	va, err := c.attachments.Patch(c.Context(), name, client.MergePatch(map[string]any{"status": status}).On("status"))
	must(c, va, err)
}

// lists waits until the status of a node lists these volumes as attached.
func (c cluster) lists(node string, want ...string) {
	c.Helper()
	waittest.One(c, c.nodes, node, "the volumes of "+node, func(n *corev1.Node) bool {
		var have []string
		for _, v := range n.Status.VolumesAttached {
			have = append(have, string(v.Name))
		}
		return fmt.Sprint(have) == fmt.Sprint(want)
	})
}

// attached checks, once all is quiet, to which nodes a volume is attached.
func (c cluster) attached(volume string, want ...string) {
	c.Helper()
	synctest.Wait()
	list, err := c.attachments.List(c.Context(), metav1.ListOptions{})
	must(c, list, err)
	var have []string
	for _, node := range []string{"n1", "n2"} {
		for _, va := range list.Items {
			if va.Name == attachment(volume, node) {
				have = append(have, node)
			}
		}
	}
	if fmt.Sprint(have) != fmt.Sprint(want) {
		c.Errorf("%s is attached to %v, want %v", volume, have, want)
	}
}

func (c cluster) told(pod, reason, message string) {
	c.Helper()
	waittest.For(c, c.events, "the event "+reason+" of "+pod, "", func(all map[string]*corev1.Event) bool {
		for _, e := range all {
			if e.InvolvedObject.Name == pod && e.Reason == reason && strings.Contains(e.Message, message) && e.Source.Component == "attachdetach-controller" {
				return true
			}
		}
		return false
	})
}

// TestAVolumeFollowsItsPod: a volume is attached for a pod, and detached when the pod is gone and the node has unmounted it.
func TestAVolumeFollowsItsPod(t *testing.T) {
	run(t, func(c cluster) {
		c.volume("a", corev1.ReadWriteOnce)
		c.pod("p", "n1", "a")
		c.attach("a", "n1")
		c.told("p", "SuccessfulAttachVolume", `AttachVolume.Attach succeeded for volume "a" `)
		c.inUse("n1", "a")
		c.remove("p")
		time.Sleep(time.Hour) // the node is ready, and has it mounted
		c.attached("a", "n1")
		c.lists("n1", unique("a"))
		c.inUse("n1")
		waittest.Gone(c, c.attachments, attachment("a", "n1"))
		c.lists("n1")
		c.pod("done", "n2", "a")
		c.attach("a", "n2")
		p, err := c.pods.Patch(c.Context(), "done", client.MergePatch(map[string]any{"status": map[string]any{"phase": "Succeeded"}}).On("status"))
		must(c, p, err)
		waittest.Gone(c, c.attachments, attachment("a", "n2"))
	})
}

// TestOneNode: a volume for one node moves to another when it has left the first; one for many nodes is on both.
func TestOneNode(t *testing.T) {
	run(t, func(c cluster) {
		c.volume("one", corev1.ReadWriteOnce)
		c.volume("many", corev1.ReadWriteMany)
		c.pod("p1", "n1", "one")
		c.attach("one", "n1")
		c.inUse("n1", "one")
		c.pod("p2", "n2", "one")
		c.told("p2", "FailedAttachVolume", `Waiting for detach for volume "one" Volume is already used by pod(s) p1`)
		c.remove("p1")
		c.attached("one", "n1")
		c.inUse("n1")
		c.attach("one", "n2")
		c.attached("one", "n2")
		c.pod("m1", "n1", "many")
		c.pod("m2", "n2", "many")
		for _, node := range []string{"n1", "n2"} {
			waittest.One(c, c.attachments, attachment("many", node), "both", func(*storagev1.VolumeAttachment) bool { return true })
		}
	})
}

// TestForcedDetach: a volume leaves a node that is not ready after six minutes, one that is out of service at once, and
// one that is gone after six minutes if it was mounted.
func TestForcedDetach(t *testing.T) {
	run(t, func(c cluster) {
		mounted := func(volume, node string) {
			c.volume(volume, corev1.ReadWriteOnce)
			c.pod("p-"+volume, node, volume)
			c.attach(volume, node)
			c.inUse(node, volume)
			c.remove("p-" + volume)
		}
		c.nodeStatus("n1", map[string]any{"conditions": []any{map[string]any{"type": "Ready", "status": "Unknown"}}})
		mounted("a", "n1")
		time.Sleep(5 * time.Minute)
		c.attached("a", "n1")
		time.Sleep(61 * time.Second)
		c.attached("a")
		mounted("b", "n2")
		c.attached("b", "n2")
		n, err := c.nodes.Patch(c.Context(), "n2", client.MergePatch(map[string]any{"spec": map[string]any{"taints": []any{
			map[string]any{"key": "node.kubernetes.io/out-of-service", "effect": "NoExecute"}}}}))
		must(c, n, err)
		c.attached("b")
		mounted("c", "n1")
		if err := c.nodes.Delete(c.Context(), "n1"); err != nil {
			c.Fatal(err)
		}
		time.Sleep(5 * time.Minute)
		c.attached("c", "n1")
		time.Sleep(61 * time.Second)
		c.attached("c")
	})
}

// TestNotAttached: volumes of drivers that do not attach, and of nodes that are not managed, are left alone, until that changes.
// So are VolumeAttachments of others.
func TestNotAttached(t *testing.T) {
	run(t, func(c cluster) {
		d, err := c.drivers.Create(c.Context(), &storagev1.CSIDriver{ObjectMeta: metav1.ObjectMeta{Name: "x.csi"}, Spec: storagev1.CSIDriverSpec{AttachRequired: ptr.To(false)}})
		must(c, d, err)
		c.node("n3", nil)
		c.volume("a", corev1.ReadWriteMany)
		c.pod("p1", "n1", "a")
		c.pod("p3", "n3", "a")
		for _, name := range []string{attachment("a", "n2"), "manual"} {
			va, err := c.attachments.Create(c.Context(), &storagev1.VolumeAttachment{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: storagev1.VolumeAttachmentSpec{
				Attacher: "x.csi", NodeName: "n2", Source: storagev1.VolumeAttachmentSource{PersistentVolumeName: ptr.To("a")}}})
			must(c, va, err)
		}
		c.attached("a", "n2")
		if err := c.drivers.Delete(c.Context(), "x.csi"); err != nil {
			c.Fatal(err)
		}
		c.attach("a", "n1")
		c.attached("a", "n1", "n2")
		n, err := c.nodes.Patch(c.Context(), "n3", client.MergePatch(map[string]any{"metadata": map[string]any{"annotations": map[string]any{
			"volumes.kubernetes.io/controller-managed-attach-detach": "true"}}}))
		must(c, n, err)
		c.attach("a", "n3")
		if _, err := c.attachments.Get(c.Context(), "manual"); err != nil {
			c.Error(err)
		}
	})
}

// TestAttachErrors: pods are told why their volume is not attached.
func TestAttachErrors(t *testing.T) {
	run(t, func(c cluster) {
		c.volume("a", corev1.ReadWriteOnce)
		c.pod("p", "n1", "a")
		c.attached("a", "n1")
		time.Sleep(2 * time.Minute)
		c.told("p", "FailedAttachVolume", `AttachVolume.Attach failed for volume "a" : timed out waiting for external-attacher of x.csi CSI driver to attach volume handle-a`)
		c.attachStatus(attachment("a", "n1"), map[string]any{"attachError": map[string]any{"message": "the disk is broken"}})
		c.told("p", "FailedAttachVolume", `AttachVolume.Attach failed for volume "a" : the disk is broken`)
		c.attachStatus(attachment("a", "n1"), map[string]any{"attachError": nil})
		c.attach("a", "n1")
		c.told("p", "SuccessfulAttachVolume", `AttachVolume.Attach succeeded for volume "a" `)
		if err := c.attachments.Delete(c.Context(), attachment("a", "n1")); err != nil { // by mistake
			c.Fatal(err)
		}
		c.lists("n1")
		c.attach("a", "n1")
	})
}
