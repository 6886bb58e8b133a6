package devicetainteviction_test

import (
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"fairlead.dev/client"
)

// TestSliceTaints: pods leave devices that a slice taints NoExecute, whether the taint, the claim or the pod comes last.
func TestSliceTaints(t *testing.T) {
	run(t, func(c cluster) {
		c.publish("s", 1, "a", "b=NoSchedule", "c")
		c.user("pa", "a")
		c.user("pb", "b")
		c.user("pc", "c")
		c.evicted()
		c.publish("s", 1, "a=NoExecute", "b=NoSchedule", "c")
		c.evicted("pa")
		c.user("late", "a")
		c.evicted("pa", "late")
		c.publish("s", 1, "a=NoExecute", "b=NoExecute", "c=None")
		c.evicted("pa", "late", "pb")
		if n := c.told("Marking for deletion"); n != 3 {
			c.Errorf("%d events about evictions, want 3", n)
		}
		if n := c.told("Cancelling deletion"); n != 0 {
			c.Errorf("%d events about cancelled evictions", n)
		}
	})
}

// TestGenerations: only the slices of a pool's highest generation count.
func TestGenerations(t *testing.T) {
	run(t, func(c cluster) {
		c.publish("new", 2, "a", "b")
		c.publish("old", 1, "a=NoExecute", "b")
		c.user("p", "a")
		c.evicted()
		if err := c.slices.Delete(c.Context(), "new"); err != nil {
			c.Fatal(err)
		}
		c.evicted("p")
		c.publish("newest", 3, "a", "b")
		c.user("q", "a")
		c.evicted("p")
	})
}

// TestUsers: a pod leaves if it is on a node, and a claim that is reserved for it has the device. A claim made from a
// template, or for extended resources, has to be the pod's own.
func TestUsers(t *testing.T) {
	run(t, func(c cluster) {
		c.publish("s", 1, "a=NoExecute", "b")
		here := c.pod("here", "node", "shared")
		waits := c.pod("waits", "", "shared")
		c.pod("unreserved", "node", "shared")
		c.claim("shared", []device{{"b", nil}, {"a", nil}}, here, waits)
		gone := here.DeepCopy()
		gone.UID = "former"
		c.pod("replaced", "node", "former")
		c.claim("former", []device{{"a", nil}}, gone)

		owned := func(name string, owner *corev1.Pod, p *corev1.Pod) {
			claim, err := c.claims.Create(c.Context(), &resourcev1.ResourceClaim{
				ObjectMeta: metav1.ObjectMeta{Name: name, OwnerReferences: []metav1.OwnerReference{{APIVersion: "v1", Kind: "Pod", Name: owner.Name, UID: owner.UID, Controller: ptr.To(true)}}},
				Spec:       resourcev1.ResourceClaimSpec{Devices: resourcev1.DeviceClaim{Requests: []resourcev1.DeviceRequest{{Name: "r", Exactly: &resourcev1.ExactDeviceRequest{DeviceClassName: "gpu"}}}}},
			})
			c.must(claim, err)
			c.allocate(claim, []device{{"a", nil}}, p)
		}
		template := func(name string) *corev1.Pod {
			p, err := c.pods.Create(c.Context(), &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: corev1.PodSpec{
				NodeName: "node", Containers: []corev1.Container{{Name: "c", Image: "c"}},
				ResourceClaims: []corev1.PodResourceClaim{{Name: "gpu", ResourceClaimTemplateName: ptr.To("template")}},
			}})
			c.must(p, err)
			return p
		}
		status := func(p *corev1.Pod, status map[string]any) {
			c.must(c.pods.Patch(c.Context(), p.Name, client.MergePatch(map[string]any{"status": status}).On("status")))
		}
		own, foreign, extended := template("own"), template("foreign"), c.pod("extended", "node")
		owned("own-gpu", own, own)
		owned("foreign-gpu", own, foreign)
		owned("extended-gpu", extended, extended)
		c.evicted("here")
		for _, p := range []*corev1.Pod{own, foreign} {
			status(p, map[string]any{"resourceClaimStatuses": []any{map[string]any{"name": "gpu", "resourceClaimName": p.Name + "-gpu"}}})
		}
		status(extended, map[string]any{"extendedResourceClaimStatus": map[string]any{"resourceClaimName": "extended-gpu",
			"requestMappings": []any{map[string]any{"containerName": "c", "resourceName": "example.com/gpu", "requestName": "r"}}}})
		c.evicted("here", "own", "extended")
		c.must(c.pods.CreateSubresource(c.Context(), "waits", "binding", &corev1.Binding{ObjectMeta: metav1.ObjectMeta{Name: "waits"}, Target: corev1.ObjectReference{Name: "node"}}, nil), nil)
		c.evicted("here", "own", "extended", "waits")
	})
}

func tolerate(effect resourcev1.DeviceTaintEffect, key string, seconds *int64) resourcev1.DeviceToleration {
	d := resourcev1.DeviceToleration{Key: key, Operator: resourcev1.DeviceTolerationOpExists, Effect: effect, TolerationSeconds: seconds}
	return d
}

// TestTolerations: tolerations of an allocated device for NoExecute keep the pod there, for ever or for the shortest of their
// seconds since the taint was added.
func TestTolerations(t *testing.T) {
	const noExecute = resourcev1.DeviceTaintEffectNoExecute
	run(t, func(c cluster) {
		c.publish("s", 1, "a", "b")
		c.user("forever", "a", tolerate(noExecute, "", nil), tolerate(noExecute, "", ptr.To[int64](0)))
		c.user("minute", "a", tolerate(noExecute, "example.com/broken", ptr.To[int64](3600)), tolerate(noExecute, "", ptr.To[int64](60)))
		c.user("equal", "a", resourcev1.DeviceToleration{Key: "example.com/broken", Value: "yes", Effect: noExecute, TolerationSeconds: ptr.To[int64](600)})
		c.user("unequal", "a", resourcev1.DeviceToleration{Key: "example.com/broken", Operator: resourcev1.DeviceTolerationOpEqual, Value: "no", Effect: noExecute})
		c.user("key", "a", tolerate(noExecute, "example.com/other", nil))
		c.user("effect", "a", tolerate(resourcev1.DeviceTaintEffectNoSchedule, "", nil))
		c.user("effects", "a", tolerate("", "", nil))
		c.user("negative", "a", tolerate(noExecute, "", ptr.To[int64](-5)))
		c.user("huge", "a", tolerate(noExecute, "", ptr.To[int64](1<<62)))
		both := c.pod("both", "node", "both")
		c.claim("both", []device{{"a", []resourcev1.DeviceToleration{tolerate(noExecute, "", ptr.To[int64](300))}}, {"b", []resourcev1.DeviceToleration{tolerate(noExecute, "", ptr.To[int64](120))}}}, both)
		begun := time.Now()
		c.publish("s", 1, "a=NoExecute", "b=NoExecute")
		now := []string{"unequal", "key", "effect", "effects", "negative"}
		c.evicted(now...)
		until := func(seconds int) { time.Sleep(time.Until(begun.Add(time.Duration(seconds) * time.Second))) }
		until(58)
		c.evicted(now...)
		until(60)
		c.evicted(append(now, "minute")...)
		until(118)
		c.evicted(append(now, "minute")...)
		until(120)
		c.evicted(append(now, "minute", "both")...)
		until(600)
		c.evicted(append(now, "minute", "both", "equal")...)
		// A pod that comes later has the rest of the time.
		c.user("later", "a", tolerate(noExecute, "", ptr.To[int64](700)))
		until(698)
		c.evicted(append(now, "minute", "both", "equal")...)
		until(700)
		c.evicted(append(now, "minute", "both", "equal", "later")...)
		time.Sleep(48 * time.Hour)
		c.evicted(append(now, "minute", "both", "equal", "later")...)
	})
}

// TestCancel: an eviction is cancelled if the taint, the allocation or the reservation goes in time, and not if it changes
// only when. That of a deleted pod is not.
func TestCancel(t *testing.T) {
	run(t, func(c cluster) {
		hour := tolerate(resourcev1.DeviceTaintEffectNoExecute, "", ptr.To[int64](3600))
		c.publish("s", 1, "a=NoExecute", "b=NoExecute", "c=NoExecute", "d=NoExecute")
		for _, name := range []string{"a", "b", "c", "d"} {
			c.user(name, name, hour)
		}
		c.evicted()
		steps := 0
		step := func() {
			c.Helper()
			if n := c.told("Cancelling deletion"); n != steps {
				c.Errorf("%d events, want %d", n, steps)
			}
			steps++
		}
		step()
		c.publish("s", 1, "b=NoExecute", "c=NoExecute", "d=NoExecute", "a")
		step()
		c.must(c.claims.Patch(c.Context(), "b", client.MergePatch(map[string]any{"status": map[string]any{"reservedFor": nil}}).On("status")))
		step()
		if err := c.claims.Delete(c.Context(), "c"); err != nil {
			c.Fatal(err)
		}
		step()
		if err := c.pods.Delete(c.Context(), "d", metav1.DeleteOptions{GracePeriodSeconds: ptr.To[int64](0)}); err != nil {
			c.Fatal(err)
		}
		steps--
		step()
		time.Sleep(2 * time.Hour)
		c.evicted()
		if n := c.told("Marking for deletion"); n != 0 {
			c.Errorf("%d events about evictions", n)
		}
	})
}
