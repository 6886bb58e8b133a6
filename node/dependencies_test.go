package node_test

import (
	"context"
	"crypto/sha256"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	"k8s.io/utils/ptr"

	"fairlead.dev/client"
	"fairlead.dev/controller"
	"fairlead.dev/node"
)

// watches counts watches of single objects.
type watches struct {
	next http.RoundTripper
	mu   sync.Mutex
	all  map[string]int
	end  chan string
}

func (w *watches) RoundTrip(req *http.Request) (*http.Response, error) {
	q := req.URL.Query()
	if name, ok := strings.CutPrefix(q.Get("fieldSelector"), "metadata.name="); ok && q.Get("watch") != "" {
		parts := strings.Split(req.URL.Path, "/")
		key := parts[len(parts)-1] + "/" + name
		w.mu.Lock()
		w.all[key]++
		w.mu.Unlock()
		context.AfterFunc(req.Context(), func() { w.end <- key })
	}
	return w.next.RoundTrip(req)
}

// watched is env with a client of its own, whose watches are counted.
func watched(t *testing.T) (controller.Env, *watches, controller.Env) {
	t.Helper()
	env, config := servedAt(t)
	w := &watches{all: map[string]int{}, end: make(chan string, 100)}
	config = rest.CopyConfig(config)
	config.Wrap(func(next http.RoundTripper) http.RoundTripper {
		w.next = next
		return w
	})
	c, err := client.New(config, client.Options{})
	if err != nil {
		t.Fatal(err)
	}
	nodes := env
	nodes.Client = c
	return env, w, nodes
}

// ended waits for the ends of watches, in any order.
func (w *watches) ended(t *testing.T, wants ...string) {
	t.Helper()
	for limit := time.After(20 * time.Second); len(wants) > 0; {
		select {
		case got := <-w.end:
			wants = slices.DeleteFunc(wants, func(want string) bool { return want == got })
		case <-limit:
			t.Fatalf("the watches of %q go on", wants)
		}
	}
}

// event waits for one about a pod.
func event(t *testing.T, env controller.Env, pod, reason, message string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	w, err := client.For[*corev1.Event](env.Client).Namespace("default").Watch(ctx, metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	defer w.Stop()
	for {
		ev, err := w.Next(ctx)
		if err != nil {
			t.Fatalf("no event %s %q of %s: %v", reason, message, pod, err)
		}
		if e := ev.Object; e.InvolvedObject.Name == pod && e.Reason == reason && e.Message == message {
			return
		}
	}
}

func waits(reason, message string) func(*corev1.Pod) bool {
	return func(p *corev1.Pod) bool {
		if len(p.Status.ContainerStatuses) == 0 || p.Status.Phase != corev1.PodPending {
			return false
		}
		w := p.Status.ContainerStatuses[0].State.Waiting
		return w != nil && w.Reason == reason && w.Message == message
	}
}

func running(p *corev1.Pod) bool { return p.Status.Phase == corev1.PodRunning }

// TestEnvironment: a container is created when the objects of its environment exist; each
// object is watched once on a node, and as long as it is used.
func TestEnvironment(t *testing.T) {
	env, w, mine := watched(t)
	ctx := t.Context()
	start(t, mine, node.Options{Count: 1})
	pods, maps := client.For[*corev1.Pod](env.Client).Namespace("default"), client.For[*corev1.ConfigMap](env.Client).Namespace("default")
	from := corev1.EnvVarSource{ConfigMapKeyRef: &corev1.ConfigMapKeySelector{LocalObjectReference: corev1.LocalObjectReference{Name: "paint"}, Key: "color"}}
	for _, name := range []string{"a", "b", "plain"} {
		p := boundPod(name, "node-1", "")
		p.Spec.Containers = append(p.Spec.Containers, corev1.Container{Name: "other", Image: "nginx"})
		if name != "plain" {
			p.Spec.Containers[0].Env = []corev1.EnvVar{{Name: "COLOR", ValueFrom: &from}}
		}
		if _, err := pods.Create(ctx, p); err != nil {
			t.Fatal(err)
		}
	}
	await(t, pods, "plain", "running", running)
	p := await(t, pods, "a", "waiting", waits("CreateContainerConfigError", `configmap "paint" not found`))
	if p.Status.PodIP == "" || p.Status.ContainerStatuses[1].State.Running == nil {
		t.Errorf("while one container waits: %+v", p.Status)
	}
	event(t, env, "a", "Failed", `Error: configmap "paint" not found`)
	m := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "paint"}, Data: map[string]string{"size": "1"}}
	m, err := maps.Create(ctx, m)
	if err != nil {
		t.Fatal(err)
	}
	await(t, pods, "a", "waiting for a key", waits("CreateContainerConfigError", "couldn't find key color in ConfigMap default/paint"))
	m = m.DeepCopy()
	m.Data["color"] = "red"
	if _, err := maps.Update(ctx, m); err != nil {
		t.Fatal(err)
	}
	await(t, pods, "a", "running", running)
	await(t, pods, "b", "running", running)
	w.mu.Lock()
	if len(w.all) != 1 || w.all["configmaps/paint"] != 1 {
		t.Errorf("watches: %v", w.all)
	}
	w.mu.Unlock()
	now := metav1.DeleteOptions{GracePeriodSeconds: new(int64)}
	for _, name := range []string{"a", "b"} {
		if err := pods.Delete(ctx, name, now); err != nil {
			t.Fatal(err)
		}
	}
	w.ended(t, "configmaps/paint")
}

// TestVolumes: a pod starts when the objects of its volumes exist, and its claims
// are bound.
func TestVolumes(t *testing.T) {
	env, w, mine := watched(t)
	ctx := t.Context()
	start(t, mine, node.Options{Count: 1})
	pods, claims := client.For[*corev1.Pod](env.Client).Namespace("default"), client.For[*corev1.PersistentVolumeClaim](env.Client).Namespace("default")
	optional := true
	p := boundPod("a", "node-1", "")
	p.Spec.Volumes = []corev1.Volume{
		{Name: "key", VolumeSource: corev1.VolumeSource{Secret: &corev1.SecretVolumeSource{SecretName: "key"}}},
		{Name: "more", VolumeSource: corev1.VolumeSource{ConfigMap: &corev1.ConfigMapVolumeSource{
			LocalObjectReference: corev1.LocalObjectReference{Name: "none"}, Optional: &optional}}},
		{Name: "data", VolumeSource: corev1.VolumeSource{PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: "data"}}},
	}
	if _, err := claims.Create(ctx, &corev1.PersistentVolumeClaim{ObjectMeta: metav1.ObjectMeta{Name: "data"}, Spec: corev1.PersistentVolumeClaimSpec{
		AccessModes: []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce},
		Resources:   corev1.VolumeResourceRequirements{Requests: corev1.ResourceList{corev1.ResourceStorage: resource.MustParse("1Gi")}},
		VolumeName:  "disk",
	}}); err != nil {
		t.Fatal(err)
	}
	if _, err := pods.Create(ctx, p); err != nil {
		t.Fatal(err)
	}
	got := await(t, pods, "a", "waiting", waits("ContainerCreating", ""))
	if got.Status.PodIP != "" {
		t.Errorf("set up: %+v", got.Status)
	}
	event(t, env, "a", "FailedMount", `MountVolume.SetUp failed for volume "key" : secret "key" not found`)
	event(t, env, "a", "FailedMount", "Unable to attach or mount volumes: unmounted volumes=[data], unattached volumes=[], failed to process volumes=[data]: error processing PVC default/data: PVC is not bound")
	if _, err := claims.Patch(ctx, "data", client.MergePatch(map[string]any{"status": map[string]any{"phase": "Bound"}}).On("status")); err != nil {
		t.Fatal(err)
	}
	if _, err := client.For[*corev1.Secret](env.Client).Namespace("default").Create(ctx, &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: "key"}}); err != nil {
		t.Fatal(err)
	}
	event(t, env, "a", "FailedMount", `Unable to attach or mount volumes: unmounted volumes=[data], unattached volumes=[], failed to process volumes=[data]: error processing PVC default/data: failed to fetch PV disk from API server: persistentvolume "disk" not found`)
	if _, err := client.For[*corev1.PersistentVolume](env.Client).Create(ctx, &corev1.PersistentVolume{ObjectMeta: metav1.ObjectMeta{Name: "disk"}, Spec: corev1.PersistentVolumeSpec{
		AccessModes: []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce}, Capacity: corev1.ResourceList{corev1.ResourceStorage: resource.MustParse("1Gi")},
		PersistentVolumeSource: corev1.PersistentVolumeSource{CSI: &corev1.CSIPersistentVolumeSource{Driver: "x.csi", VolumeHandle: "h"}},
	}}); err != nil {
		t.Fatal(err)
	}
	name := fmt.Sprintf("csi-%x", sha256.Sum256([]byte("hx.csinode-1")))
	event(t, env, "a", "FailedMount", `MountVolume.WaitForAttach failed for volume "disk" : volume h has GET error for volume attachment `+name+`: volumeattachments.storage.k8s.io "`+name+`" not found`)
	attachments := client.For[*storagev1.VolumeAttachment](env.Client)
	if _, err := attachments.Create(ctx, &storagev1.VolumeAttachment{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: storagev1.VolumeAttachmentSpec{
		Attacher: "x.csi", NodeName: "node-1", Source: storagev1.VolumeAttachmentSource{PersistentVolumeName: ptr.To("disk")},
	}}); err != nil {
		t.Fatal(err)
	}
	event(t, env, "a", "FailedMount", `MountVolume.WaitForAttach failed for volume "disk" : volume h is not attached for volume attachment `+name)
	if _, err := attachments.Patch(ctx, name, client.MergePatch(map[string]any{"status": map[string]any{"attached": true}}).On("status")); err != nil {
		t.Fatal(err)
	}
	event(t, env, "a", "FailedMount", `MountVolume.SetUp failed for volume "disk" : driver name x.csi not found in the list of registered CSI drivers (CSINode node-1)`)
	if _, err := client.For[*storagev1.CSINode](env.Client).Create(ctx, &storagev1.CSINode{ObjectMeta: metav1.ObjectMeta{Name: "node-1"}, Spec: storagev1.CSINodeSpec{
		Drivers: []storagev1.CSINodeDriver{{Name: "x.csi", NodeID: "n"}},
	}}); err != nil {
		t.Fatal(err)
	}
	await(t, pods, "a", "running", running)
	w.ended(t, "persistentvolumeclaims/data", "volumeattachments/"+name) // they are of no more interest
}

// TestDevices: resources that others add to the capacity of a node become allocatable, as with a kubelet.
func TestDevices(t *testing.T) {
	env, _, mine := watched(t)
	start(t, mine, node.Options{Count: 1})
	nodes := client.For[*corev1.Node](env.Client)
	await(t, nodes, "node-1", "registered", func(*corev1.Node) bool { return true })
	for _, n := range []string{"3", "1k"} {
		if _, err := nodes.Patch(t.Context(), "node-1", client.MergePatch(map[string]any{"status": map[string]any{"capacity": map[string]any{"example.com/beardsecond": n}}}).On("status")); err != nil {
			t.Fatal(err)
		}
		await(t, nodes, "node-1", "allocatable", func(o *corev1.Node) bool {
			q := o.Status.Allocatable["example.com/beardsecond"]
			return q.Cmp(resource.MustParse(n)) == 0
		})
	}
}

// TestSubPath: a pod whose environment does not make a path in a volume waits, is told so, and runs
// when it does.
func TestSubPath(t *testing.T) {
	env := served(t)
	start(t, env, node.Options{Count: 1})
	pods := client.For[*corev1.Pod](env.Client).Namespace("default")
	p := boundPod("a", "node-1", "")
	p.Spec.Volumes = []corev1.Volume{{Name: "v", VolumeSource: corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{}}}}
	c := &p.Spec.Containers[0]
	c.Env = []corev1.EnvVar{{Name: "WHERE", ValueFrom: &corev1.EnvVarSource{FieldRef: &corev1.ObjectFieldSelector{FieldPath: "metadata.annotations['where']"}}}}
	c.VolumeMounts = []corev1.VolumeMount{{Name: "v", MountPath: "/v", SubPathExpr: "data/$(WHERE)"}}
	if _, err := pods.Create(t.Context(), p); err != nil {
		t.Fatal(err)
	}
	await(t, pods, "a", "told what is missing", func(p *corev1.Pod) bool {
		s := p.Status.ContainerStatuses
		return len(s) > 0 && s[0].State.Waiting != nil && s[0].State.Waiting.Reason == "CreateContainerConfigError" && s[0].State.Waiting.Message == "missing value for WHERE"
	})
	event(t, env, "a", "Failed", "Error: missing value for WHERE")
	if _, err := pods.Patch(t.Context(), "a", client.MergePatch(map[string]any{"metadata": map[string]any{"annotations": map[string]any{"where": "there"}}})); err != nil {
		t.Fatal(err)
	}
	await(t, pods, "a", "running", running)
}

// TestBackOff: the events of a pod show that a container fails again and again.
func TestBackOff(t *testing.T) {
	env := served(t)
	start(t, env, node.Options{Count: 1})
	pods := client.For[*corev1.Pod](env.Client).Namespace("default")
	p := boundPod("a", "node-1", corev1.RestartPolicyAlways)
	p.Spec.Containers[0].Command = []string{"false"}
	made, err := pods.Create(t.Context(), p)
	if err != nil {
		t.Fatal(err)
	}
	event(t, env, "a", "BackOff", "Back-off restarting failed container c in pod a_default("+string(made.UID)+")")
}
