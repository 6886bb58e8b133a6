package deployment

import (
	"fmt"
	"slices"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
)

func rolling(replicas int32, surge, unavailable string) *appsv1.Deployment {
	s, u := intstr.Parse(surge), intstr.Parse(unavailable)
	return &appsv1.Deployment{Spec: appsv1.DeploymentSpec{
		Replicas: &replicas,
		Strategy: appsv1.DeploymentStrategy{
			Type:          appsv1.RollingUpdateDeploymentStrategyType,
			RollingUpdate: &appsv1.RollingUpdateDeployment{MaxSurge: &s, MaxUnavailable: &u},
		},
	}}
}

// set returns a set with a number of available replicas. Sets created later are younger.
func set(name string, n, avail int32) *appsv1.ReplicaSet {
	made++
	return &appsv1.ReplicaSet{
		ObjectMeta: metav1.ObjectMeta{Name: name, CreationTimestamp: metav1.Unix(made, 0)},
		Spec:       appsv1.ReplicaSetSpec{Replicas: &n},
		Status:     appsv1.ReplicaSetStatus{Replicas: n, AvailableReplicas: avail},
	}
}

var made int64

func TestFenceposts(t *testing.T) {
	for _, c := range []struct {
		surge, unavailable string
		desired            int32
		up, down           int32
	}{
		{"25%", "25%", 10, 3, 2}, // surge rounds up, unavailability down
		{"25%", "25%", 1, 1, 0},
		{"0", "25%", 1, 0, 1}, // both would be zero
		{"0", "0", 5, 0, 1},
		{"100%", "0", 4, 4, 0},
		{"2", "3", 10, 2, 3},
	} {
		s, u := intstr.Parse(c.surge), intstr.Parse(c.unavailable)
		if up, down := fenceposts(&s, &u, c.desired); up != c.up || down != c.down {
			t.Errorf("%+v: got %d, %d", c, up, down)
		}
	}
	if n := maxUnavailable(rolling(3, "0", "5")); n != 3 {
		t.Errorf("more unavailable than there are: %d", n)
	}
}

func TestNewSetSize(t *testing.T) {
	for _, c := range []struct {
		d         *appsv1.Deployment
		old, want int32
		has       int32
	}{
		{rolling(10, "3", "2"), 0, 10, 0},
		{rolling(10, "3", "2"), 10, 3, 0},
		{rolling(10, "3", "2"), 8, 5, 3},
		{rolling(10, "0", "2"), 10, 0, 0},
		{rolling(10, "3", "2"), 20, 4, 4}, // too many already: unchanged
		{rolling(5, "3", "2"), 0, 5, 9},   // too large: scales down to the desired size
	} {
		n := set("new", c.has, 0)
		if got := newSetSize(c.d, []*appsv1.ReplicaSet{set("old", c.old, c.old), n}, n); got != c.want {
			t.Errorf("old %d, new %d of %d: got %d, want %d", c.old, c.has, *c.d.Spec.Replicas, got, c.want)
		}
	}
	recreate := rolling(4, "1", "1")
	recreate.Spec.Strategy = appsv1.DeploymentStrategy{Type: appsv1.RecreateDeploymentStrategyType}
	n := set("new", 0, 0)
	if got := newSetSize(recreate, []*appsv1.ReplicaSet{n}, n); got != 4 {
		t.Errorf("recreate: %d", got)
	}
}

func TestShrinkOld(t *testing.T) {
	type s = [2]int32 // size, available
	for _, c := range []struct {
		name string
		d    *appsv1.Deployment
		old  []s
		new  s
		want []int32
	}{
		{"first step of an update", rolling(10, "3", "2"), []s{{10, 10}}, s{3, 0}, []int32{8}},
		{"new pods never available: stands still", rolling(10, "3", "2"), []s{{8, 8}}, s{5, 0}, []int32{8}},
		{"stands still when an old one fails too", rolling(10, "3", "2"), []s{{8, 7}}, s{5, 0}, []int32{8}},
		{"undo: the broken go at once", rolling(10, "3", "2"), []s{{5, 0}}, s{8, 7}, []int32{1}},
		{"roll over: unhealthy olds first", rolling(10, "3", "2"), []s{{8, 8}, {5, 0}}, s{0, 0}, []int32{8, 0}},
		{"new ready: old follow", rolling(10, "3", "2"), []s{{8, 8}}, s{5, 5}, []int32{3}},
		{"all new ready: the rest goes", rolling(10, "3", "2"), []s{{3, 3}}, s{10, 10}, []int32{0}},
		{"oldest first", rolling(4, "2", "0"), []s{{2, 2}, {2, 2}}, s{2, 2}, []int32{0, 2}},
		{"nothing may be missing", rolling(4, "1", "0"), []s{{4, 4}}, s{1, 0}, []int32{4}},
	} {
		var old []*appsv1.ReplicaSet
		for i, x := range c.old {
			old = append(old, set(fmt.Sprint("old", i), x[0], x[1]))
		}
		got := shrinkOld(c.d, old, set("new", c.new[0], c.new[1]))
		if !slices.Equal(got, c.want) {
			t.Errorf("%s: got %v, want %v", c.name, got, c.want)
		}
	}
}

// TestRolloutKeepsItsBounds simulates whole rollouts: each step keeps the bounds, and they end.
func TestRolloutKeepsItsBounds(t *testing.T) {
	for desired := int32(1); desired <= 12; desired++ {
		for _, b := range [][2]string{{"1", "0"}, {"0", "1"}, {"25%", "25%"}, {"3", "2"}, {"100%", "0"}} {
			d := rolling(desired, b[0], b[1])
			old, fresh := set("old", desired, desired), set("new", 0, 0)
			for step := 0; ; step++ {
				if step > 100 {
					t.Fatalf("%d %v: does not end", desired, b)
				}
				if n := newSetSize(d, []*appsv1.ReplicaSet{old, fresh}, fresh); n != size(fresh) {
					fresh.Spec.Replicas = &n
				} else if n := shrinkOld(d, []*appsv1.ReplicaSet{old}, fresh)[0]; n != size(old) {
					old.Spec.Replicas = &n
					old.Status.AvailableReplicas = min(old.Status.AvailableReplicas, n)
				} else if fresh.Status.AvailableReplicas < size(fresh) {
					fresh.Status.AvailableReplicas++
				} else {
					break
				}
				if sum := size(old) + size(fresh); sum > desired+maxSurge(d) {
					t.Fatalf("%d %v: %d pods", desired, b, sum)
				}
				if sum := available(old) + available(fresh); sum < desired-maxUnavailable(d) {
					t.Fatalf("%d %v: %d available", desired, b, sum)
				}
			}
			if size(old) != 0 || size(fresh) != desired {
				t.Errorf("%d %v: ends with old %d, new %d", desired, b, size(old), size(fresh))
			}
		}
	}
}

func TestProportions(t *testing.T) {
	sized := func(rs *appsv1.ReplicaSet, desired, most int32) *appsv1.ReplicaSet {
		recordDesired(rs, desired, most)
		return rs
	}
	for _, c := range []struct {
		name string
		d    *appsv1.Deployment
		sets []*appsv1.ReplicaSet
		want map[string]int32
	}{
		{"10 to 20 in mid-rollout", rolling(20, "3", "2"),
			[]*appsv1.ReplicaSet{sized(set("old", 8, 8), 10, 13), sized(set("new", 5, 0), 10, 13)},
			map[string]int32{"old": 14, "new": 9}},
		{"10 to 5", rolling(5, "3", "2"),
			[]*appsv1.ReplicaSet{sized(set("old", 8, 8), 10, 13), sized(set("new", 5, 5), 10, 13)},
			map[string]int32{"old": 5, "new": 3}},
		{"to zero", rolling(0, "3", "2"),
			[]*appsv1.ReplicaSet{sized(set("old", 8, 8), 10, 13), sized(set("new", 5, 5), 10, 13)},
			map[string]int32{"old": 0, "new": 0}},
		{"among equals the young grow", rolling(3, "0", "1"),
			[]*appsv1.ReplicaSet{sized(set("old", 1, 1), 2, 2), sized(set("new", 1, 1), 2, 2)},
			map[string]int32{"old": 1, "new": 2}},
		{"among equals the old shrink", rolling(1, "0", "1"),
			[]*appsv1.ReplicaSet{sized(set("old", 1, 1), 2, 2), sized(set("new", 1, 1), 2, 2)},
			map[string]int32{"old": 0, "new": 1}},
	} {
		sizes := proportions(c.d, c.sets)
		for i, rs := range c.sets {
			if sizes[i] != c.want[rs.Name] {
				t.Errorf("%s: %s gets %d, want %d", c.name, rs.Name, sizes[i], c.want[rs.Name])
			}
		}
	}
}

func TestAnnotateRemembersRevisions(t *testing.T) {
	d := &appsv1.Deployment{}
	d.Annotations = map[string]string{"note": "x", corev1.LastAppliedConfigAnnotation: "secret", revisionAnnotation: "9"}
	rs := &appsv1.ReplicaSet{}
	if !annotate(d, rs, 3) || rs.Annotations[revisionAnnotation] != "3" || rs.Annotations["note"] != "x" {
		t.Fatalf("first: %v", rs.Annotations)
	}
	if _, ok := rs.Annotations[corev1.LastAppliedConfigAnnotation]; ok {
		t.Error("what kubectl applied was inherited")
	}
	if annotate(d, rs, 3) || annotate(d, rs, 2) {
		t.Error("a repetition changed something")
	}
	annotate(d, rs, 5)
	annotate(d, rs, 8)
	if r, h := rs.Annotations[revisionAnnotation], rs.Annotations[historyAnnotation]; r != "8" || h != "3,5" {
		t.Errorf("revision %s, history %s", r, h)
	}
}

func TestJudgeProgress(t *testing.T) {
	start := time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC)
	deadline := int32(60)
	d := rolling(3, "1", "1")
	d.Spec.ProgressDeadlineSeconds = &deadline
	d.Status.Conditions = []appsv1.DeploymentCondition{{
		Type: appsv1.DeploymentProgressing, Status: corev1.ConditionTrue, Reason: reasonNewSet, LastUpdateTime: metav1.NewTime(start),
	}}
	for _, c := range []struct {
		name   string
		status appsv1.DeploymentStatus
		after  time.Duration
		reason string
	}{
		{"nothing yet", appsv1.DeploymentStatus{}, time.Second, reasonNewSet},
		{"moves", appsv1.DeploymentStatus{UpdatedReplicas: 1, Replicas: 1}, time.Second, reasonSetUpdated},
		{"done", appsv1.DeploymentStatus{UpdatedReplicas: 3, Replicas: 3, AvailableReplicas: 3}, time.Second, reasonSetAvailable},
		{"late", appsv1.DeploymentStatus{}, 61 * time.Second, reasonTimedOut},
		{"moves late", appsv1.DeploymentStatus{UpdatedReplicas: 1, Replicas: 1}, 61 * time.Second, reasonSetUpdated},
	} {
		s := c.status
		s.Conditions = slices.Clone(d.Status.Conditions)
		judgeProgress(d, &s, "rs", start.Add(c.after))
		if got := deploymentCondition(&s, appsv1.DeploymentProgressing).Reason; got != c.reason {
			t.Errorf("%s: %s, want %s", c.name, got, c.reason)
		}
	}
}

func TestTemplateHash(t *testing.T) {
	seen := make(map[string]int)
	for i := range 1000 {
		spec := &corev1.PodTemplateSpec{Spec: corev1.PodSpec{Containers: []corev1.Container{{Image: fmt.Sprint("v", i)}}}}
		h, err := templateHash(spec, nil)
		if err != nil {
			t.Fatal(err)
		}
		if j, ok := seen[h]; ok {
			t.Errorf("%d and %d have the hash %s", i, j, h)
		}
		seen[h] = i
	}
	n := int32(1)
	a, _ := templateHash(&corev1.PodTemplateSpec{}, nil)
	b, _ := templateHash(&corev1.PodTemplateSpec{}, &n)
	if a == b {
		t.Error("a collision does not change the hash")
	}
}

func TestExpendable(t *testing.T) {
	limit := int32(1)
	d := rolling(1, "1", "1")
	d.Spec.RevisionHistoryLimit = &limit
	mk := func(name, rev string, n int32) *appsv1.ReplicaSet {
		rs := set(name, n, n)
		rs.Annotations = map[string]string{revisionAnnotation: rev}
		return rs
	}
	got := expendable(d, []*appsv1.ReplicaSet{mk("c", "10", 0), mk("a", "2", 0), mk("busy", "1", 1), mk("b", "3", 0)})
	if len(got) != 2 || got[0].Name != "a" || got[1].Name != "b" {
		t.Errorf("got %v", got)
	}
}
