package kubeapiserver_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	apiresource "k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	"fairlead.dev/internal/kubeapiserver"
)

// introduced has, by minor version, the resources that came with it after 1.33.
var introduced = map[int][]string{
	34: {
		"resource.k8s.io/v1 deviceclasses", "resource.k8s.io/v1 resourceclaims", "resource.k8s.io/v1 resourceclaimtemplates",
		"resource.k8s.io/v1 resourceslices", "storage.k8s.io/v1 volumeattributesclasses",
	},
	36: {"admissionregistration.k8s.io/v1 mutatingadmissionpolicies", "admissionregistration.k8s.io/v1 mutatingadmissionpolicybindings"},
	37: {
		"certificates.k8s.io/v1 clustertrustbundles", "certificates.k8s.io/v1 podcertificaterequests", "resource.k8s.io/v1 devicetaintrules",
		"storagemigration.k8s.io/v1 storageversionmigrations",
	},
}

// resources lists the group versions and resources of discovery, without subresources.
func resources(t *testing.T, c *kubernetes.Clientset) map[string]bool {
	t.Helper()
	_, lists, err := c.Discovery().ServerGroupsAndResources()
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]bool{}
	for _, l := range lists {
		for _, r := range l.APIResources {
			if !strings.Contains(r.Name, "/") {
				all[l.GroupVersion+" "+r.Name] = true
			}
		}
	}
	return all
}

// TestEmulatedVersion asks servers of all versions for their kinds and their version.
func TestEmulatedVersion(t *testing.T) {
	newest := resources(t, start(t)("root-token"))
	for minor, version := range map[int]string{33: "1.33", 34: "kube=1.34", 35: "1.35", 36: "1.36", 37: "1.37"} {
		t.Run(version, func(t *testing.T) {
			root := start(t, "--emulated-version="+version)("root-token")
			got := resources(t, root)
			for name := range newest {
				want := true
				for came, names := range introduced {
					for _, n := range names {
						want = want && (n != name || came <= minor)
					}
				}
				if got[name] != want {
					t.Errorf("%s: %t, want %t", name, got[name], want)
				}
			}
			info, err := root.Discovery().ServerVersion()
			if err != nil {
				t.Fatal(err)
			}
			emulated := strings.TrimPrefix(version, "kube=")
			if info.Minor != "37" || info.EmulationMajor+"."+info.EmulationMinor != emulated {
				t.Errorf("version %+v", info)
			}
		})
	}
}

// TestEmulatedStore opens a store of 1.37 as 1.33, and again as 1.37: an object keeps the fields that it has, and those of
// kinds that are not served stay.
func TestEmulatedStore(t *testing.T) {
	dir := t.TempDir()
	in := func(version string, do func(context.Context, *testing.T, *kubernetes.Clientset)) {
		t.Run(version, func(t *testing.T) {
			do(t.Context(), t, startOn(t, dir, "--emulated-version="+version, "--disable-admission-plugins=ServiceAccount")("root-token"))
		})
	}
	name := "h.example"
	in("1.37", func(ctx context.Context, t *testing.T, c *kubernetes.Clientset) {
		class := &storagev1.VolumeAttributesClass{ObjectMeta: metav1.ObjectMeta{Name: "gold"}, DriverName: "d", Parameters: map[string]string{"a": "b"}}
		if _, err := c.StorageV1().VolumeAttributesClasses().Create(ctx, class, metav1.CreateOptions{}); err != nil {
			t.Fatal(err)
		}
		pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "p"}, Spec: corev1.PodSpec{HostnameOverride: &name, Containers: []corev1.Container{{Name: "c", Image: "i"}}}}
		if _, err := c.CoreV1().Pods("default").Create(ctx, pod, metav1.CreateOptions{}); err != nil {
			t.Fatal(err)
		}
	})
	in("1.33", func(ctx context.Context, t *testing.T, c *kubernetes.Clientset) {
		if _, err := c.StorageV1().VolumeAttributesClasses().Get(ctx, "gold", metav1.GetOptions{}); !apierrors.IsNotFound(err) {
			t.Errorf("a kind of 1.34: %v", err)
		}
		pod, err := c.CoreV1().Pods("default").Get(ctx, "p", metav1.GetOptions{})
		if err != nil {
			t.Fatal(err)
		}
		pod.Labels = map[string]string{"a": "b"}
		if pod, err = c.CoreV1().Pods("default").Update(ctx, pod, metav1.UpdateOptions{}); err != nil || pod.Spec.HostnameOverride == nil {
			t.Errorf("an update of a pod with hostnameOverride: %v, %v", pod.Spec.HostnameOverride, err)
		}
	})
	in("1.37", func(ctx context.Context, t *testing.T, c *kubernetes.Clientset) {
		if class, err := c.StorageV1().VolumeAttributesClasses().Get(ctx, "gold", metav1.GetOptions{}); err != nil || class.DriverName != "d" {
			t.Errorf("%+v, %v", class, err)
		}
	})
}

// TestGates switches gates of fields, up from the emulated version and down from the newest.
func TestGates(t *testing.T) {
	name := "h.example"
	for _, c := range []struct {
		name, flags string
		want        bool
	}{
		{"newest", "--feature-gates=EnvFiles=false", true},
		{"off", "--emulated-version=1.36 --feature-gates=HostnameOverride=false", false},
		{"on", "--emulated-version=1.34 --feature-gates=kube:HostnameOverride=true", true},
		{"with gates of kubelets that need it", "--feature-gates=PodLevelResources=false,PodLevelResourcesFixKubeletQOSClass=false,PodLevelResourcesFixDefaulting=false,InPlacePodLevelResourcesVerticalScaling=false", true},
		{"others", "--emulated-version=1.33 --feature-gates=WatchList=true,PodLevelResources=true", false},
	} {
		t.Run(c.name, func(t *testing.T) {
			root := start(t, append(strings.Fields(c.flags), "--disable-admission-plugins=ServiceAccount")...)("root-token")
			pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "p"}, Spec: corev1.PodSpec{HostnameOverride: &name, Containers: []corev1.Container{{Name: "c", Image: "i"}}}}
			pod, err := root.CoreV1().Pods("default").Create(t.Context(), pod, metav1.CreateOptions{})
			if err != nil {
				t.Fatal(err)
			}
			if got := pod.Spec.HostnameOverride != nil; got != c.want {
				t.Errorf("hostnameOverride %t, want %t", got, c.want)
			}
		})
	}
}

// TestResizesBefore136: before 1.36 neither init containers nor the resources of a whole pod can be resized.
func TestResizesBefore136(t *testing.T) {
	for _, c := range []struct{ version, ofInit, ofPod string }{
		{"1.37", "", ""},
		{"1.35", "resources for non-sidecar init containers are immutable", "resize of pods with pod-level resources is forbidden"},
	} {
		t.Run(c.version, func(t *testing.T) {
			root := start(t, "--emulated-version="+c.version, "--disable-admission-plugins=ServiceAccount")("root-token")
			pods := root.CoreV1().Pods("default")
			cpu := func(n string) corev1.ResourceRequirements {
				return corev1.ResourceRequirements{Requests: corev1.ResourceList{"cpu": apiresource.MustParse(n)}}
			}
			pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "p"}, Spec: corev1.PodSpec{
				InitContainers: []corev1.Container{{Name: "i", Image: "i", Resources: cpu("1")}}, Containers: []corev1.Container{{Name: "c", Image: "i", Resources: cpu("1")}},
			}}
			pod, err := pods.Create(t.Context(), pod, metav1.CreateOptions{})
			if err != nil {
				t.Fatal(err)
			}
			resize := func(what, refused string, change func(*corev1.PodSpec)) {
				t.Helper()
				next := pod.DeepCopy()
				change(&next.Spec)
				next, err := pods.UpdateResize(t.Context(), "p", next, metav1.UpdateOptions{})
				if got := fmt.Sprint(err); refused == "" && err != nil || refused != "" && !strings.Contains(got, refused) {
					t.Errorf("a resize of %s: %v", what, err)
				}
				if err == nil {
					pod = next
				}
			}
			resize("a container", "", func(s *corev1.PodSpec) { s.Containers[0].Resources = cpu("2") })
			resize("an init container", c.ofInit, func(s *corev1.PodSpec) { s.InitContainers[0].Resources = cpu("2") })
			resize("the whole pod", c.ofPod, func(s *corev1.PodSpec) {
				whole := cpu("8")
				s.Resources = &whole
			})
		})
	}
}

// TestLaterAPIs enables a version that came after the emulated one.
func TestLaterAPIs(t *testing.T) {
	root := start(t, "--emulated-version=1.33", "--runtime-config=resource.k8s.io/v1=true", "--runtime-config-emulation-forward-compatible", "--emulation-forward-compatible")("root-token")
	got := resources(t, root)
	if !got["resource.k8s.io/v1 resourceclaims"] || got["storage.k8s.io/v1 volumeattributesclasses"] {
		t.Errorf("%v", got)
	}
}

// TestEmulationErrors has values of the flags that kube-apiserver refuses, in its words, and gates that this server
// cannot switch.
func TestEmulationErrors(t *testing.T) {
	for flags, want := range map[string]string{
		"--emulated-version=1.32":                                             "emulation version 1.32 is not between [1.33, 1.37.0]",
		"--emulated-version=1.38":                                             "emulation version 1.38 is not between [1.33, 1.37.0]",
		"--emulated-version=1.35.1":                                           "patch version not allowed, got: kube=1.35.1",
		"--emulated-version=abc":                                              `could not parse "abc" as version`,
		"--emulated-version=wardle=1.2":                                       "component not registered: wardle",
		"--emulated-version=1.35,1.34":                                        "duplicate version flag, kube=1.35 and kube=1.34",
		"--min-compatibility-version=1.30":                                    "minCompatibilityVersion version 1.30 is not between [1.33, 1.37]",
		"--emulated-version=1.34 --min-compatibility-version=1.35":            "minCompatibilityVersion version 1.35 is not between [1.33, 1.34]",
		"--emulation-forward-compatible":                                      "cannot be set to true if the emulation version is the same as the binary version",
		"--runtime-config-emulation-forward-compatible":                       "cannot be set to true if the emulation version is the same as the binary version",
		"--emulated-version=1.33 --runtime-config=resource.k8s.io/v1=true":    "cannot enable version resource.k8s.io/v1 in runtime-config because all the resources have been introduced after the current version 1.33",
		"--runtime-config=api/all":                                            "invalid value of api/all=",
		"--feature-gates=PodLevelResourcesFixKubeletQOSClass=false":           "PodLevelResourcesFixKubeletQOSClass=false: Fairlead has this gate of Kubernetes 1.37 at its default",
		"--feature-gates=Nonsense=true":                                       "unrecognized feature gate: Nonsense",
		"--feature-gates=WatchList":                                           "missing bool value for WatchList",
		"--feature-gates=WatchList=perhaps":                                   "invalid value of WatchList=perhaps",
		"--feature-gates=wardle:X=true":                                       "component not registered: wardle",
		"--feature-gates=kube:WatchList=true,CBORServingAndStorage=true":      "do not mix use",
		"--feature-gates=HostnameOverride=false":                              "cannot set feature gate HostnameOverride to false, feature is locked to true",
		"--emulated-version=1.33 --feature-gates=HostnameOverride=true":       "cannot set feature gate HostnameOverride to true, feature is PreAlpha at emulated version 1.33",
		"--emulated-version=1.33 --feature-gates=DRAAdminAccess=true":         "DRAAdminAccess is enabled, but depends on features that are disabled: [DynamicResourceAllocation]",
		"--feature-gates=WorkloadWithJob=true":                                "WorkloadWithJob is enabled, but depends on features that are disabled: [GenericWorkload]",
		"--feature-gates=APIServingWithRoutine=true":                          "APIServingWithRoutine=true: Fairlead has this gate of Kubernetes 1.37 at its default",
		"--emulated-version=1.36 --feature-gates=VolumeBindMountOptions=true": "feature is PreAlpha",
	} {
		cmd := kubeapiserver.Command()
		cmd.SetArgs(append(strings.Fields(flags), "--etcd-servers=http://127.0.0.1:1"))
		if err := cmd.ExecuteContext(t.Context()); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", flags, err, want)
		}
	}
}
