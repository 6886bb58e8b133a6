package quota_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	upstream "k8s.io/component-helpers/resource"

	"fairlead.dev/internal/quota"
)

func randomList(r *rand.Rand) corev1.ResourceList {
	l := corev1.ResourceList{}
	for _, name := range []corev1.ResourceName{"cpu", "memory", "ephemeral-storage", "example.com/gpu", "hugepages-2Mi"} {
		if r.IntN(2) == 0 {
			l[name] = *resource.NewQuantity(int64(r.IntN(5)), resource.DecimalSI)
		}
	}
	if len(l) == 0 && r.IntN(2) == 0 {
		return nil
	}
	return l
}

func randomPod(r *rand.Rand) *corev1.Pod {
	p := &corev1.Pod{}
	always := corev1.ContainerRestartPolicyAlways
	requirements := func() corev1.ResourceRequirements {
		return corev1.ResourceRequirements{Requests: randomList(r), Limits: randomList(r)}
	}
	for i := range r.IntN(6) {
		c := corev1.Container{Name: fmt.Sprint("c", i), Resources: requirements()}
		s := corev1.ContainerStatus{Name: c.Name, AllocatedResources: randomList(r)}
		if r.IntN(2) == 0 {
			used := requirements()
			s.Resources = &used
		}
		statuses := &p.Status.ContainerStatuses
		if i < 3 && r.IntN(2) == 0 {
			if r.IntN(2) == 0 {
				c.RestartPolicy = &always
			}
			p.Spec.InitContainers = append(p.Spec.InitContainers, c)
			statuses = &p.Status.InitContainerStatuses
		} else {
			p.Spec.Containers = append(p.Spec.Containers, c)
		}
		if r.IntN(3) > 0 {
			*statuses = append(*statuses, s)
		}
	}
	if r.IntN(4) == 0 {
		whole := requirements()
		p.Spec.Resources = &whole
	}
	if r.IntN(3) == 0 {
		p.Spec.Overhead = randomList(r)
	}
	if r.IntN(3) == 0 {
		p.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodResizePending, Reason: []string{"Infeasible", "Deferred"}[r.IntN(2)]}}
	}
	return p
}

// TestSumsAreKubernetes compares the sums of random pods with those of Kubernetes' library.
func TestSumsAreKubernetes(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for i := range 5000 {
		p := randomPod(r)
		for _, s := range []quota.Sum{{}, {Overhead: true}, {Actual: true}, {Actual: true, Overhead: true}} {
			o := upstream.PodResourcesOptions{UseStatusResources: s.Actual, ExcludeOverhead: !s.Overhead}
			if got, want := s.Requests(p), upstream.PodRequests(p, o); !quota.Equal(got, want) {
				t.Fatalf("pod %d, %+v: requests %v, want %v, of %+v", i, s, got, want, p)
			}
			if got, want := s.Limits(p), upstream.PodLimits(p, o); !quota.Equal(got, want) {
				t.Fatalf("pod %d, %+v: limits %v, want %v, of %+v", i, s, got, want, p)
			}
		}
	}
}

func TestAPodCountsUntilItIsOver(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m, _ := quota.For(schema.GroupResource{Resource: "pods"}, quota.Lookups{})
		counts := func(p *corev1.Pod) string {
			l := m.Usage(p)
			exists, lives := l["count/pods"], l[corev1.ResourcePods]
			return exists.String() + " " + lives.String()
		}
		p := &corev1.Pod{}
		if got := counts(p); got != "1 1" {
			t.Errorf("living: %s", got)
		}
		p.Status.Phase = corev1.PodSucceeded
		if got := counts(p); got != "1 0" {
			t.Errorf("ended: %s", got)
		}
		p.Status.Phase = corev1.PodRunning
		grace := int64(30)
		at := metav1.NewTime(time.Now().Add(30 * time.Second))
		p.DeletionTimestamp, p.DeletionGracePeriodSeconds = &at, &grace
		time.Sleep(time.Minute)
		if got := counts(p); got != "1 1" {
			t.Errorf("on its way out: %s", got)
		}
		time.Sleep(time.Second)
		if got := counts(p); got != "1 0" {
			t.Errorf("stuck: %s", got)
		}
	})
}

func TestNamesBelongToMeasures(t *testing.T) {
	hard := corev1.ResourceList{}
	for _, n := range []corev1.ResourceName{"pods", "cpu", "limits.memory", "requests.example.com/gpu", "requests.hugepages-2Mi", "hugepages-1Gi",
		"requests.storage", "gold.storageclass.storage.k8s.io/persistentvolumeclaims", "services.nodeports", "count/pods", "count/jobs.batch",
		"secrets", "count/secrets", "requests.kubernetes.io/odd", "nonsense"} {
		hard[n] = resource.MustParse("1")
	}
	for gr, want := range map[schema.GroupResource][]corev1.ResourceName{
		{Resource: "pods"}:                   {"count/pods", "cpu", "hugepages-1Gi", "limits.memory", "pods", "requests.example.com/gpu", "requests.hugepages-2Mi"},
		{Resource: "persistentvolumeclaims"}: {"gold.storageclass.storage.k8s.io/persistentvolumeclaims", "requests.storage"},
		{Resource: "services"}:               {"services.nodeports"},
		{Resource: "secrets"}:                {"count/secrets", "secrets"},
		{Group: "batch", Resource: "jobs"}:   {"count/jobs.batch"},
		{Group: "apps", Resource: "jobs"}:    nil,
	} {
		m, ok := quota.For(gr, quota.Lookups{})
		if got := m.Covers(hard); !ok || !slices.Equal(got, want) {
			t.Errorf("%s covers %v, want %v", gr, got, want)
		}
		for _, n := range want {
			if of, ok := quota.Counted(n); ok && of != gr {
				t.Errorf("%s counts %s, want %s", n, of, gr)
			}
		}
	}
	if _, ok := quota.For(schema.GroupResource{Group: "events.k8s.io", Resource: "events"}, quota.Lookups{}); ok {
		t.Error("events are held back")
	}
}
