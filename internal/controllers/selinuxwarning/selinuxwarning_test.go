package selinuxwarning_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/utils/ptr"

	"fairlead.dev/testenv"
)

// cluster is a control plane in a bubble that has no controller but selinuxwarning and those that bind claims.
type cluster struct {
	*testing.T
	kubernetes.Interface
	told map[string]int // the number of each event so far
}

func run(t *testing.T, test func(c *cluster)) {
	synctest.Test(t, func(t *testing.T) {
		env := testenv.New(t, testenv.Options{Bubble: true, NoNodes: true, NoScheduler: true, Controllers: []string{"selinux-warning-controller", "persistentvolume", "serviceaccount"}})
		clients, err := kubernetes.NewForConfig(env.Config())
		if err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		c := &cluster{t, clients, map[string]int{}}
		_, err = c.CoreV1().Namespaces().Create(c.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "other"}}, metav1.CreateOptions{})
		must(c, err)
		synctest.Wait()
		test(c)
	})
}

func must(c *cluster, err error) {
	c.Helper()
	if err != nil {
		c.Fatal(err)
	}
}

func (c *cluster) driver(mounts bool) {
	c.Helper()
	_, err := c.StorageV1().CSIDrivers().Create(c.Context(), &storagev1.CSIDriver{ObjectMeta: metav1.ObjectMeta{Name: "x.csi"}, Spec: storagev1.CSIDriverSpec{SELinuxMount: &mounts}}, metav1.CreateOptions{})
	must(c, err)
}

// volume creates a bound volume and its claim.
func (c *cluster) volume(name string) {
	c.Helper()
	size := corev1.ResourceList{corev1.ResourceStorage: resource.MustParse("1Gi")}
	modes := []corev1.PersistentVolumeAccessMode{corev1.ReadWriteMany}
	_, err := c.CoreV1().PersistentVolumes().Create(c.Context(), &corev1.PersistentVolume{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: corev1.PersistentVolumeSpec{
		Capacity: size, AccessModes: modes, ClaimRef: &corev1.ObjectReference{Namespace: "default", Name: name},
		PersistentVolumeSource: corev1.PersistentVolumeSource{CSI: &corev1.CSIPersistentVolumeSource{Driver: "x.csi", VolumeHandle: "handle-" + name}},
	}}, metav1.CreateOptions{})
	must(c, err)
	_, err = c.CoreV1().PersistentVolumeClaims("default").Create(c.Context(), &corev1.PersistentVolumeClaim{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: corev1.PersistentVolumeClaimSpec{
		AccessModes: modes, VolumeName: name, StorageClassName: new(string), Resources: corev1.VolumeResourceRequirements{Requests: size},
	}}, metav1.CreateOptions{})
	must(c, err)
}

func claim(name string) corev1.VolumeSource {
	return corev1.VolumeSource{PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: name}}
}

var target = corev1.VolumeSource{ISCSI: &corev1.ISCSIVolumeSource{TargetPortal: "10.0.0.1:3260", IQN: "iqn.2000-01.com.example:disk", Lun: 1}}

func level(l string) *corev1.SELinuxOptions { return &corev1.SELinuxOptions{Level: l} }

// pod creates a pod that mounts a volume.
func (c *cluster) pod(name string, v corev1.VolumeSource, o *corev1.SELinuxOptions, change ...func(*corev1.Pod)) {
	c.Helper()
	namespace := "default"
	if at, rest, found := strings.Cut(name, "/"); found {
		namespace, name = at, rest
	}
	p := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: corev1.PodSpec{
		AutomountServiceAccountToken: new(bool), SecurityContext: &corev1.PodSecurityContext{SELinuxOptions: o}, Volumes: []corev1.Volume{{Name: "data", VolumeSource: v}},
		Containers: []corev1.Container{{Name: "main", Image: "x", VolumeMounts: []corev1.VolumeMount{{Name: "data", MountPath: "/data"}}}},
	}}
	for _, f := range change {
		f(p)
	}
	_, err := c.CoreV1().Pods(namespace).Create(c.Context(), p, metav1.CreateOptions{})
	must(c, err)
	synctest.Wait()
}

// events compares the events since the last call, as "pod reason message", of which want has the beginnings.
func (c *cluster) events(when string, want ...string) {
	c.Helper()
	synctest.Wait()
	list, err := c.CoreV1().Events("").List(c.Context(), metav1.ListOptions{})
	must(c, err)
	var got []string
	for _, e := range list.Items {
		if e.Source.Component != "selinux_warning" {
			continue
		}
		text := fmt.Sprintf("%s %s %s", e.InvolvedObject.Name, e.Reason, e.Message)
		if n := max(int(e.Count), 1); n > c.told[text] {
			c.told[text] = n
			got = append(got, text)
		}
	}
	slices.Sort(got)
	slices.Sort(want)
	if !slices.EqualFunc(got, want, strings.HasPrefix) {
		c.Errorf("%s:\n%s\nwant\n%s", when, strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

const then = " If both pods land on the same node, only one of them may access the volume."

// TestLabels: pods are told of different labels once, and only if they may get the volume by its label.
func TestLabels(t *testing.T) {
	run(t, func(c *cluster) {
		c.driver(true)
		c.volume("v")
		c.pod("a", claim("v"), level("s0:c1"))
		c.pod("same", claim("v"), level("s0:c1"))
		c.pod("typed", claim("v"), &corev1.SELinuxOptions{Type: "t", Level: "s0:c1"}) // nodes may complete the others to this
		c.events("equal labels")
		c.pod("b", claim("v"), level("s0:c2"))
		c.events("another label",
			`a SELinuxLabelConflict SELinuxLabel ":::s0:c1" conflicts with pod b that uses the same volume as this pod with SELinuxLabel ":::s0:c2".`+then,
			`b SELinuxLabelConflict SELinuxLabel ":::s0:c2" conflicts with pod a that uses`, `b SELinuxLabelConflict SELinuxLabel ":::s0:c2" conflicts with pod same that uses`,
			`b SELinuxLabelConflict SELinuxLabel ":::s0:c2" conflicts with pod typed that uses`, `same SELinuxLabelConflict`, `typed SELinuxLabelConflict`)
		c.volume("w")
		c.pod("elsewhere", claim("w"), level("s0:c3"))
		c.pod("nothing", corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{}}, level("s0:c4"))
		c.events("other volumes")
		c.pod("recursive", claim("w"), level("s0:c3"), func(p *corev1.Pod) {
			p.Spec.SecurityContext.SELinuxChangePolicy = ptr.To(corev1.SELinuxChangePolicyRecursive)
		})
		c.events("another policy",
			`elsewhere SELinuxChangePolicyConflict SELinuxChangePolicy "MountOption" conflicts with pod recursive that uses the same volume as this pod with SELinuxChangePolicy "Recursive".`+then,
			`recursive SELinuxChangePolicyConflict`, `elsewhere SELinuxLabelConflict SELinuxLabel ":::s0:c3" conflicts with pod recursive that uses the same volume as this pod with SELinuxLabel "".`,
			`recursive SELinuxLabelConflict`)
		text, err := c.CoreV1().RESTClient().Get().AbsPath("/metrics").DoRaw(c.Context())
		must(c, err)
		const metric = `selinux_warning_controller_selinux_volume_conflict{pod1_name="b",pod1_namespace="default",pod1_value=":::s0:c2",pod2_name="a",pod2_namespace="default",pod2_value=":::s0:c1",property="SELinuxLabel"} 1`
		if n := strings.Count(string(text), "\nselinux_warning_controller_selinux_volume_conflict{"); n != 10 || !strings.Contains(string(text), metric) {
			c.Errorf("%d conflicts in the metric, want 10, one of them %s", n, metric)
		}

		// Pods that end or go have no conflicts.
		b, err := c.CoreV1().Pods("default").Get(c.Context(), "b", metav1.GetOptions{})
		must(c, err)
		b.Status.Phase = corev1.PodSucceeded
		_, err = c.CoreV1().Pods("default").UpdateStatus(c.Context(), b, metav1.UpdateOptions{})
		must(c, err)
		must(c, c.CoreV1().Pods("default").Delete(c.Context(), "recursive", metav1.DeleteOptions{GracePeriodSeconds: new(int64)}))
		synctest.Wait()
		if text, err = c.CoreV1().RESTClient().Get().AbsPath("/metrics").DoRaw(c.Context()); err != nil || strings.Contains(string(text), "\nselinux_warning_controller_selinux_volume_conflict{") {
			c.Errorf("conflicts with pods that have ended, %v", err)
		}
		c.events("at the end")
	})
}

// TestVolumesThatComeLater: what a volume is, and whether it has a label, may be known after the pods.
func TestVolumesThatComeLater(t *testing.T) {
	run(t, func(c *cluster) {
		c.pod("a", claim("v"), level("s0:c1"))
		c.pod("b", claim("v"), level("s0:c2"))
		c.volume("v")
		c.events("a driver without labels")
		c.driver(true)
		c.events("a driver with labels", "a SELinuxLabelConflict", "b SELinuxLabelConflict",
			// While one of them is looked at, the other one still has no label.
			"a SELinuxChangePolicyConflict", "b SELinuxChangePolicyConflict", "a SELinuxLabelConflict", "b SELinuxLabelConflict")
	})
}

// TestContainers: a volume has the label of the containers that mount it, and one only.
func TestContainers(t *testing.T) {
	run(t, func(c *cluster) {
		c.pod("a", target, level("s0:c1"))
		c.pod("twice", target, level("s0:c1"), func(p *corev1.Pod) {
			p.Spec.InitContainers = []corev1.Container{{
				Name: "init", Image: "x", VolumeMounts: p.Spec.Containers[0].VolumeMounts, SecurityContext: &corev1.SecurityContext{SELinuxOptions: level("s0:c2")},
			}}
		})
		c.events("two labels in a pod", `twice MultipleSELinuxLabels Volume "data" is mounted twice with different SELinux labels inside this pod`)
		c.pod("other/b", target, nil, func(p *corev1.Pod) {
			p.Spec.Containers[0].SecurityContext = &corev1.SecurityContext{SELinuxOptions: level("s0:c2")}
		})
		c.events("a label of another namespace",
			`a SELinuxLabelConflict SELinuxLabel ":::s0:c1" conflicts with another pod that uses the same volume as this pod with a different SELinuxLabel.`+then,
			`b SELinuxLabelConflict`)
	})
}
