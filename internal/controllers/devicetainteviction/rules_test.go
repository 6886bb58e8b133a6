package devicetainteviction_test

import (
	"strconv"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"fairlead.dev/client"
	"fairlead.dev/testenv"
)

const preview = " if the effect was NoExecute. This information will not be updated again. Recreate the DeviceTaintRule to trigger an update."

// TestRuleLife follows a rule from a dry run to the last eviction.
func TestRuleLife(t *testing.T) {
	run(t, func(c cluster) {
		c.publish("old", 1, "a", "x", "y")
		c.publish("s", 2, "a", "b", "c")
		c.user("a", "a")
		c.user("tolerant", "a", tolerate(resourcev1.DeviceTaintEffectNoExecute, "", nil))
		c.in("other").user("slow", "b", tolerate(resourcev1.DeviceTaintEffectNoExecute, "", ptr.To[int64](60)))
		c.in("other").user("lost", "lost") // its device is in no slice any more
		c.rule("r", "", resourcev1.DeviceTaintEffectNone)
		c.expect("r", "False NoEffect 3 published devices selected. 4 allocated devices selected. 3 pods would be evicted in 2 different namespaces"+preview)
		r, err := c.rules.Get(c.Context(), "r")
		c.must(r, err)
		for _, m := range r.ManagedFields {
			if m.Subresource == "status" && (m.Manager != "device-taint-eviction-controller" || m.Operation != metav1.ManagedFieldsOperationApply) {
				c.Errorf("the status has the manager %s, %s", m.Manager, m.Operation)
			}
		}
		c.user("more", "b")
		time.Sleep(time.Hour)
		c.expect("r", "False NoEffect 3 published devices selected. 4 allocated devices selected. 3 pods would be evicted in 2 different namespaces"+preview)
		c.evicted()

		begun := time.Now()
		c.changeRule("r", map[string]any{"taint": map[string]any{"effect": "NoExecute"}}) // tolerations count from now
		c.expect("r", "True PodsPendingEviction 4 pods need to be evicted in 2 different namespaces.")
		c.evicted("a", "more")
		c.in("other").evicted("lost")
		time.Sleep(time.Until(begun.Add(9 * time.Second)))
		c.expect("r", "True PodsPendingEviction 4 pods need to be evicted in 2 different namespaces.")
		time.Sleep(2 * time.Second)
		c.expect("r", "True PodsPendingEviction 1 pod needs to be evicted in 1 namespace. 3 pods evicted since starting the controller.")
		time.Sleep(time.Until(begun.Add(58 * time.Second)))
		c.in("other").evicted("lost")
		time.Sleep(2 * time.Second)
		c.in("other").evicted("lost", "slow")
		time.Sleep(11 * time.Second)
		c.expect("r", "False Completed 4 pods evicted since starting the controller.")

		c.changeRule("r", map[string]any{"taint": map[string]any{"effect": "NoSchedule"}})
		c.expect("r", "False OtherEffect Eviction only happens for the NoExecute effect. 4 pods evicted since starting the controller.")
		if n := c.told("Marking for deletion"); n != 4 {
			c.Errorf("%d events, want 4", n)
		}
	})
}

// TestPreviews: the condition of rules that select one device or no device.
func TestPreviews(t *testing.T) {
	run(t, func(c cluster) {
		c.publish("s", 1, "a", "b")
		c.user("p", "a")
		c.rule("one", "a", resourcev1.DeviceTaintEffectNone)
		c.expect("one", "False NoEffect 1 published device selected. 1 allocated device selected. 1 pod would be evicted in 1 namespace"+preview)
		none := "False NoEffect 0 published devices selected. 0 allocated devices selected. 0 pods would be evicted in 0 different namespaces" + preview
		c.rule("none", "z", resourcev1.DeviceTaintEffectNone)
		c.expect("none", none)
		c.must(c.rules.Create(c.Context(), &resourcev1.DeviceTaintRule{ObjectMeta: metav1.ObjectMeta{Name: "nothing"}, Spec: resourcev1.DeviceTaintRuleSpec{
			Taint: resourcev1.DeviceTaint{Key: "example.com/broken", Effect: resourcev1.DeviceTaintEffectNone}}}))
		c.expect("nothing", none)
		c.must(c.rules.Create(c.Context(), &resourcev1.DeviceTaintRule{ObjectMeta: metav1.ObjectMeta{Name: "all"}, Spec: resourcev1.DeviceTaintRuleSpec{
			DeviceSelector: &resourcev1.DeviceTaintSelector{}, Taint: resourcev1.DeviceTaint{Key: "example.com/broken", Effect: resourcev1.DeviceTaintEffectNone}}}))
		c.expect("all", "False NoEffect 2 published devices selected. 1 allocated device selected. 1 pod would be evicted in 1 namespace"+preview)
		c.rule("idle", "b", resourcev1.DeviceTaintEffectNoExecute)
		c.expect("idle", "False NotStarted")
		c.evicted()
		c.user("q", "b")
		c.evicted("q")
		time.Sleep(11 * time.Second)
		c.expect("idle", "False Completed 1 pod evicted since starting the controller.")
		c.rule("unknown", "a", resourcev1.DeviceTaintEffectNoSchedule)
		c.expect("unknown", "False OtherEffect Eviction only happens for the NoExecute effect.")
	})
}

// TestStatusFirst: the status of a rule is written before its pods are evicted.
func TestStatusFirst(t *testing.T) {
	run(t, func(c cluster) {
		c.publish("s", 1, "a")
		for i := range 20 {
			c.user("p"+strconv.Itoa(i), "a")
		}
		now, err := c.rules.List(c.Context(), metav1.ListOptions{})
		c.must(now, err)
		pods, err := c.pods.Watch(c.Context(), metav1.ListOptions{ResourceVersion: now.ResourceVersion})
		c.must(pods, err)
		defer pods.Stop()
		c.rule("r", "", resourcev1.DeviceTaintEffectNoExecute)
		c.expect("r", "True PodsPendingEviction 20 pods need to be evicted in 1 namespace.")
		r, err := c.rules.Get(c.Context(), "r")
		c.must(r, err)
		first, err := pods.Next(c.Context())
		c.must(first, err)
		if a, b := number(t, r.ResourceVersion), number(t, first.Object.ResourceVersion); a >= b {
			c.Errorf("the status is written at %d, the first pod at %d", a, b)
		}
	})
}

// TestStatusBeforeLatePods: a pod that comes while the status of a rule is being written waits for it.
func TestStatusBeforeLatePods(t *testing.T) {
	run(t, func(c cluster) {
		c.publish("s", 1, "a")
		if _, err := c.env.AddFault(c.Context(), testenv.Fault{Action: "slow", Client: "device-taint-eviction-controller", Resource: "devicetaintrules.resource.k8s.io", Delay: 30 * time.Second}); err != nil {
			c.Fatal(err)
		}
		c.rule("r", "", resourcev1.DeviceTaintEffectNoExecute)
		c.user("p", "a")
		time.Sleep(20 * time.Second)
		c.evicted()
		time.Sleep(10 * time.Second)
		c.evicted("p")
	})
}

func number(t *testing.T, revision string) uint64 {
	t.Helper()
	n, err := strconv.ParseUint(revision, 10, 64)
	if err != nil {
		t.Error(err)
	}
	return n
}

// TestRuleCancels: evictions by a rule that is changed or deleted in time are cancelled. A new rule of its name starts from
// zero.
func TestRuleCancels(t *testing.T) {
	run(t, func(c cluster) {
		hour := tolerate(resourcev1.DeviceTaintEffectNoExecute, "", ptr.To[int64](3600))
		c.publish("s", 1, "a", "b")
		c.user("a", "a", hour)
		c.user("b", "b", hour)
		c.user("now", "b")
		c.rule("r", "", resourcev1.DeviceTaintEffectNoExecute)
		c.evicted("now")
		cancelled := func(want int) {
			c.Helper()
			if n := c.told("Cancelling deletion"); n != want {
				c.Errorf("%d events, want %d", n, want)
			}
		}
		cancelled(0)
		c.changeRule("r", map[string]any{"deviceSelector": map[string]any{"device": "b"}})
		cancelled(1)
		if err := c.rules.Delete(c.Context(), "r"); err != nil {
			c.Fatal(err)
		}
		cancelled(2)
		time.Sleep(2 * time.Hour)
		c.evicted("now")
		c.rule("r", "a", resourcev1.DeviceTaintEffectNoExecute)
		c.expect("r", "True PodsPendingEviction 1 pod needs to be evicted in 1 namespace.")
		time.Sleep(59 * time.Minute)
		c.evicted("now")
		time.Sleep(time.Minute)
		c.evicted("now", "a")
		time.Sleep(11 * time.Second)
		c.expect("r", "False Completed 1 pod evicted since starting the controller.")
	})
}

// TestTaintFromBoth: a slice and rules taint one device; the first to end decides, and each rule counts the pod.
func TestTaintFromBoth(t *testing.T) {
	run(t, func(c cluster) {
		c.publish("s", 1, "a=NoExecute")
		c.user("p", "a", tolerate(resourcev1.DeviceTaintEffectNoExecute, "", ptr.To[int64](600)))
		time.Sleep(100 * time.Second)
		c.rule("one", "a", resourcev1.DeviceTaintEffectNoExecute)
		c.rule("two", "", resourcev1.DeviceTaintEffectNoExecute)
		time.Sleep(490 * time.Second)
		c.evicted()
		c.must(c.rules.Patch(c.Context(), "one", client.MergePatch(map[string]any{"metadata": map[string]any{"labels": map[string]any{"a": "b"}}})))
		time.Sleep(10 * time.Second)
		c.evicted("p")
		time.Sleep(11 * time.Second)
		for _, r := range []string{"one", "two"} {
			c.expect(r, "False Completed 1 pod evicted since starting the controller.")
		}
		p, err := c.pods.Get(c.Context(), "p")
		c.must(p, err)
		for _, x := range p.Status.Conditions {
			if x.Type == corev1.DisruptionTarget && x.ObservedGeneration != 0 {
				c.Errorf("%+v", x)
			}
		}
	})
}
