package kubeapiserver_test

import (
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
	"k8s.io/utils/ptr"
)

// TestAlwaysPullImages: pods pull their images always, and updates without new images are left alone.
func TestAlwaysPullImages(t *testing.T) {
	root := start(t, "--enable-admission-plugins=AlwaysPullImages", "--disable-admission-plugins=ServiceAccount")("root-token")
	pod, err := makePod(t, root, "default", "p", func(p *corev1.Pod) {
		p.Spec.Containers[0].ImagePullPolicy = corev1.PullNever
		p.Spec.Containers[0].VolumeMounts = []corev1.VolumeMount{{Name: "v", MountPath: "/v"}}
		p.Spec.Volumes = []corev1.Volume{{Name: "v", VolumeSource: corev1.VolumeSource{Image: &corev1.ImageVolumeSource{Reference: "i:2", PullPolicy: corev1.PullNever}}}}
		p.Spec.InitContainers = []corev1.Container{{Name: "i", Image: "i:3"}}
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, policy := range []corev1.PullPolicy{pod.Spec.Containers[0].ImagePullPolicy, pod.Spec.InitContainers[0].ImagePullPolicy, pod.Spec.Volumes[0].Image.PullPolicy} {
		if policy != corev1.PullAlways {
			t.Errorf("the pull policy is %s", policy)
		}
	}
}

// TestSmallOptionalPlugins makes objects that plugins reject or complete.
func TestSmallOptionalPlugins(t *testing.T) {
	root := start(t, "--enable-admission-plugins=AlwaysAdmit,LimitPodHardAntiAffinityTopology,DenyServiceExternalIPs,ExtendedResourceToleration",
		"--disable-admission-plugins=ServiceAccount,DefaultTolerationSeconds")("root-token")
	apart := func(key string) func(*corev1.Pod) {
		return func(p *corev1.Pod) {
			p.Spec.Affinity = &corev1.Affinity{PodAntiAffinity: &corev1.PodAntiAffinity{RequiredDuringSchedulingIgnoredDuringExecution: []corev1.PodAffinityTerm{
				{TopologyKey: key, LabelSelector: &metav1.LabelSelector{}},
			}}}
		}
	}
	if _, err := makePod(t, root, "default", "apart", apart(corev1.LabelHostname)); err != nil {
		t.Error(err)
	}
	const want = `pods "far" is forbidden: affinity.PodAntiAffinity.RequiredDuringScheduling has TopologyKey topology.kubernetes.io/zone but only key kubernetes.io/hostname is allowed`
	if _, err := makePod(t, root, "default", "far", apart(corev1.LabelTopologyZone)); message(err) != want {
		t.Errorf("apart by zone: %v", err)
	}
	pod, err := makePod(t, root, "default", "gpu", func(p *corev1.Pod) {
		one := corev1.ResourceList{"example.com/gpu": resource.MustParse("1"), corev1.ResourceCPU: resource.MustParse("1")}
		p.Spec.Containers[0].Resources = corev1.ResourceRequirements{Requests: one, Limits: one}
	})
	if err != nil || len(pod.Spec.Tolerations) != 1 || pod.Spec.Tolerations[0] != (corev1.Toleration{Key: "example.com/gpu", Operator: corev1.TolerationOpExists, Effect: corev1.TaintEffectNoSchedule}) {
		t.Errorf("a pod with a GPU: %v %v", err, pod.Spec.Tolerations)
	}
	svc := &corev1.Service{ObjectMeta: metav1.ObjectMeta{Name: "s"}, Spec: corev1.ServiceSpec{Ports: []corev1.ServicePort{{Port: 80}}, ExternalIPs: []string{"192.0.2.1"}}}
	if _, err := root.CoreV1().Services("default").Create(t.Context(), svc, metav1.CreateOptions{}); message(err) != `services "s" is forbidden: Use of external IPs is denied by admission control` {
		t.Errorf("a service with an external IP: %v", err)
	}
}

// TestAlwaysDeny: no write is admitted, and the server is ready nevertheless.
func TestAlwaysDeny(t *testing.T) {
	root := start(t, "--enable-admission-plugins=AlwaysDeny")("root-token")
	const want = `configmaps "c" is forbidden: admission control is denying all modifications`
	if err := makeConfigMap(t, root, "c", "v"); message(err) != want {
		t.Errorf("a create: %v", err)
	}
	if err := root.CoreV1().Namespaces().Delete(t.Context(), "kube-node-lease", metav1.DeleteOptions{}); !apierrors.IsForbidden(err) {
		t.Errorf("a delete: %v", err)
	}
	if err := list(t, root); err != nil {
		t.Errorf("a read: %v", err)
	}
}

// TestNamespacePlugins: missing namespaces are created, except for a write that is not kept.
func TestNamespacePlugins(t *testing.T) {
	root := start(t, "--enable-admission-plugins=NamespaceAutoProvision")("root-token")
	create := func(namespace string, dryRun ...string) error {
		_, err := root.CoreV1().ConfigMaps(namespace).Create(t.Context(), &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "c"}}, metav1.CreateOptions{DryRun: dryRun})
		return err
	}
	if err := create("new", metav1.DryRunAll); !apierrors.IsNotFound(err) {
		t.Errorf("a dry run: %v", err)
	}
	if err := create("new"); err != nil {
		t.Errorf("in a new namespace: %v", err)
	}
	if _, err := root.CoreV1().Namespaces().Get(t.Context(), "new", metav1.GetOptions{}); err != nil {
		t.Error(err)
	}
}

// TestNamespaceExists creates an object in a missing namespace.
func TestNamespaceExists(t *testing.T) {
	root := start(t, "--enable-admission-plugins=NamespaceExists", "--disable-admission-plugins=NamespaceLifecycle")("root-token")
	_, err := root.CoreV1().ConfigMaps("gone").Create(t.Context(), &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "c"}}, metav1.CreateOptions{})
	if !apierrors.IsNotFound(err) || message(err) != `namespaces "gone" not found` {
		t.Errorf("in a missing namespace: %v", err)
	}
}

// TestOwnerReferences changes owners as users with some of the rights.
func TestOwnerReferences(t *testing.T) {
	as := start(t, "--enable-admission-plugins=OwnerReferencesPermissionEnforcement", "--authorization-mode=RBAC")
	root, ada := as("root-token"), as("ada-token")
	grant := func(name string, rules ...rbacv1.PolicyRule) {
		t.Helper()
		role := &rbacv1.Role{ObjectMeta: metav1.ObjectMeta{Name: name}, Rules: rules}
		if _, err := root.RbacV1().Roles("default").Create(t.Context(), role, metav1.CreateOptions{}); err != nil {
			t.Fatal(err)
		}
		binding := &rbacv1.RoleBinding{ObjectMeta: metav1.ObjectMeta{Name: name}, RoleRef: rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "Role", Name: name},
			Subjects: []rbacv1.Subject{{Kind: "User", APIGroup: rbacv1.GroupName, Name: "ada"}}}
		if _, err := root.RbacV1().RoleBindings("default").Create(t.Context(), binding, metav1.CreateOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	grant("write", rbacv1.PolicyRule{Verbs: []string{"create", "patch", "get"}, APIGroups: []string{""}, Resources: []string{"configmaps"}})
	may := func(name string, owner metav1.OwnerReference) error {
		_, err := ada.CoreV1().ConfigMaps("default").Create(t.Context(), &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: name, OwnerReferences: []metav1.OwnerReference{owner}}}, metav1.CreateOptions{})
		return err
	}
	owner := metav1.OwnerReference{APIVersion: "apps/v1", Kind: "Deployment", Name: "d", UID: "1"}
	if err := may("a", owner); err != nil {
		t.Errorf("a new object: %v", err)
	}
	owner.BlockOwnerDeletion = ptr.To(true)
	if err := may("b", owner); !strings.Contains(message(err), `configmaps "b" is forbidden: cannot set blockOwnerDeletion if an ownerReference refers to a resource you can't set finalizers on: `) {
		t.Errorf("a blocking reference: %v", err)
	}
	unknown := owner
	unknown.Kind = "Nonsense"
	if err := may("b", unknown); !strings.Contains(message(err), `cannot set blockOwnerDeletion in this case because cannot find RESTMapping for APIVersion apps/v1 Kind Nonsense: no matches for kind "Nonsense" in version "apps/v1"`) {
		t.Errorf("a reference to an unknown kind: %v", err)
	}
	disown := func(c *kubernetes.Clientset) error {
		_, err := c.CoreV1().ConfigMaps("default").Patch(t.Context(), "a", types.MergePatchType, []byte(`{"metadata":{"ownerReferences":null}}`), metav1.PatchOptions{})
		return err
	}
	if err := disown(ada); !strings.Contains(message(err), `configmaps "a" is forbidden: cannot set an ownerRef on a resource you can't delete: `) {
		t.Errorf("a change without the right to delete: %v", err)
	}
	grant("finalize", rbacv1.PolicyRule{Verbs: []string{"update"}, APIGroups: []string{"apps"}, Resources: []string{"deployments/finalizers"}},
		rbacv1.PolicyRule{Verbs: []string{"delete"}, APIGroups: []string{""}, Resources: []string{"configmaps"}})
	eventually(t, "the rights", func() bool { return may("b", owner) == nil })
	if err := disown(ada); err != nil {
		t.Errorf("a change with the right to delete: %v", err)
	}
}
