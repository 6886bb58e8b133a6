package admission_test

import (
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"fairlead.dev/internal/server/admission"
)

// list parses "cpu=1 memory=1Gi".
func list(s string) corev1.ResourceList {
	if s == "" {
		return nil
	}
	l := corev1.ResourceList{}
	for _, item := range strings.Fields(s) {
		name, value, _ := strings.Cut(item, "=")
		l[corev1.ResourceName(name)] = resource.MustParse(value)
	}
	return l
}

// podOf returns a pod of containers, each given by its requests and limits.
func podOf(resources ...string) *corev1.Pod {
	p := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "p"}}
	for i := 0; i < len(resources); i += 2 {
		p.Spec.Containers = append(p.Spec.Containers, corev1.Container{
			Name:      string(rune('a' + i/2)),
			Resources: corev1.ResourceRequirements{Requests: list(resources[i]), Limits: list(resources[i+1])},
		})
	}
	return p
}

func limitRange(items ...corev1.LimitRangeItem) world {
	return world{"limitranges": {&corev1.LimitRange{
		ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "limits"}, Spec: corev1.LimitRangeSpec{Limits: items},
	}}}
}

func TestLimitRangerFillsIn(t *testing.T) {
	w := limitRange(corev1.LimitRangeItem{Type: corev1.LimitTypeContainer, Default: list("cpu=1 memory=1Gi"), DefaultRequest: list("cpu=100m memory=64Mi")})
	p := podOf("", "", "cpu=2", "cpu=3")
	p.Spec.InitContainers = podOf("", "memory=2Gi").Spec.Containers
	if err := admit(t, admission.LimitRanger{Lookup: w}, request(admission.Create, "pods", "shop", "p", p, nil)); err != nil {
		t.Fatal(err)
	}
	for i, want := range []string{"100m/1 64Mi/1Gi", "2/3 64Mi/1Gi"} {
		r := p.Spec.Containers[i].Resources
		got := r.Requests.Cpu().String() + "/" + r.Limits.Cpu().String() + " " + r.Requests.Memory().String() + "/" + r.Limits.Memory().String()
		if got != want {
			t.Errorf("container %d has %s, want %s", i, got, want)
		}
	}
	want := "LimitRanger plugin set: cpu, memory request for container a; cpu, memory limit for container a; " +
		"memory request for container b; memory limit for container b; " +
		"cpu, memory request for init container a; cpu limit for init container a"
	if got := p.Annotations["kubernetes.io/limit-ranger"]; got != want {
		t.Errorf("told %q", got)
	}
	q := podOf("", "")
	if err := admit(t, admission.LimitRanger{Lookup: w}, request(admission.Update, "pods", "shop", "p", q, p)); err != nil || q.Spec.Containers[0].Resources.Limits != nil {
		t.Error("updates are not filled in")
	}
	q.Namespace = "other"
	if err := admit(t, admission.LimitRanger{Lookup: w}, request(admission.Create, "pods", "other", "p", q, nil)); err != nil || q.Spec.Containers[0].Resources.Limits != nil {
		t.Error("another namespace's range")
	}
}

func TestLimitRangerRefuses(t *testing.T) {
	container := corev1.LimitRangeItem{Type: corev1.LimitTypeContainer, Min: list("cpu=100m"), Max: list("cpu=2 memory=1Gi")}
	whole := corev1.LimitRangeItem{Type: corev1.LimitTypePod, Max: list("cpu=3")}
	ratio := corev1.LimitRangeItem{Type: corev1.LimitTypeContainer, MaxLimitRequestRatio: list("cpu=2")}
	for _, c := range []struct {
		name string
		item corev1.LimitRangeItem
		pod  *corev1.Pod
		want string
	}{
		{"within", container, podOf("cpu=1 memory=1Gi", "cpu=2 memory=1Gi"), ""},
		{"too little", container, podOf("cpu=50m", "cpu=2 memory=1Gi"), "minimum cpu usage per Container is 100m, but request is 50m"},
		{"no request", container, podOf("memory=1", "cpu=2 memory=1Gi"), "minimum cpu usage per Container is 100m.  No request is specified"},
		{"too much", container, podOf("cpu=1", "cpu=2500m memory=1Gi"), "maximum cpu usage per Container is 2, but limit is 2500m"},
		{"no limit, and too much", container, podOf("cpu=3", "memory=2Gi"),
			"[maximum cpu usage per Container is 2.  No limit is specified, maximum memory usage per Container is 1Gi, but limit is 2Gi]"},
		{"together too much", whole, podOf("cpu=1", "cpu=2", "cpu=1", "cpu=2"), "maximum cpu usage per Pod is 3, but limit is 4"},
		{"ratio", ratio, podOf("cpu=500m", "cpu=2"), "cpu max limit to request ratio per Container is 2, but provided ratio is 4.000000"},
		{"ratio of nothing", ratio, podOf("", "cpu=2"), "cpu max limit to request ratio per Container is 2, but no request is specified or request is 0"},
		{"ratio to nothing", ratio, podOf("cpu=2", ""), "cpu max limit to request ratio per Container is 2, but no limit is specified or limit is 0"},
	} {
		got := ""
		if err := admit(t, admission.LimitRanger{Lookup: limitRange(c.item)}, request(admission.Create, "pods", "shop", "p", c.pod, nil)); err != nil {
			got = strings.TrimPrefix(err.ErrStatus.Message, `pods "p" is forbidden: `)
		}
		if got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}

func TestLimitRangerOnClaims(t *testing.T) {
	w := limitRange(corev1.LimitRangeItem{Type: corev1.LimitTypePersistentVolumeClaim, Min: list("storage=1Gi"), Max: list("storage=10Gi")})
	for size, want := range map[string]string{
		"storage=5Gi":   "",
		"storage=500Mi": "minimum storage usage per PersistentVolumeClaim is 1Gi, but request is 500Mi",
		"storage=20Gi":  "maximum storage usage per PersistentVolumeClaim is 10Gi, but request is 20Gi",
	} {
		claim := &corev1.PersistentVolumeClaim{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "c"}}
		claim.Spec.Resources.Requests = list(size)
		for _, verb := range []admission.Verb{admission.Create, admission.Update} {
			got := ""
			if err := admit(t, admission.LimitRanger{Lookup: w}, request(verb, "persistentvolumeclaims", "shop", "c", claim, nil)); err != nil {
				got = strings.TrimPrefix(err.ErrStatus.Message, `persistentvolumeclaims "c" is forbidden: `)
			}
			if got != want {
				t.Errorf("%s: %q, want %q", size, got, want)
			}
		}
		now := metav1.Now()
		old := claim.DeepCopy()
		old.DeletionTimestamp = &now
		if err := admit(t, admission.LimitRanger{Lookup: w}, request(admission.Update, "persistentvolumeclaims", "shop", "c", claim, old)); err != nil {
			t.Error("who goes is let go")
		}
	}
}
