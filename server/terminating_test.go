package server_test

import (
	"fmt"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/client-go/tools/cache"
)

// TestMarkBeforeDelete checks that a client-go controller learns of a pod's deletion by an
// update, and that its DeleteFunc gets a terminating pod, by whichever request it was deleted.
func TestMarkBeforeDelete(t *testing.T) {
	c := start(t)
	core := c.typed().CoreV1()
	informer := cache.NewSharedInformer(cache.NewListWatchFromClient(core.RESTClient(), "pods", "default", fields.Everything()), &corev1.Pod{}, 0)
	told := make(chan string, 100)
	mark := func(obj any) string {
		p := obj.(*corev1.Pod)
		if p.DeletionTimestamp == nil {
			return p.Name + " stays"
		}
		return fmt.Sprint(p.Name, " goes in ", *p.DeletionGracePeriodSeconds)
	}
	if _, err := informer.AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc:    func(obj any) { told <- "added: " + mark(obj) },
		UpdateFunc: func(_, obj any) { told <- "updated: " + mark(obj) },
		DeleteFunc: func(obj any) { told <- "deleted: " + mark(obj) },
	}); err != nil {
		t.Fatal(err)
	}
	go informer.RunWithContext(t.Context())
	cache.WaitForCacheSync(t.Context().Done(), informer.HasSynced)

	pods := core.Pods("default")
	grace := func(seconds int64) metav1.DeleteOptions { return metav1.DeleteOptions{GracePeriodSeconds: &seconds} }
	for _, q := range []struct {
		name, node string
		deletes    []metav1.DeleteOptions
		want       []string
	}{
		{"unscheduled", "", []metav1.DeleteOptions{{}}, []string{"updated: unscheduled goes in 0"}},
		{"forced", "n", []metav1.DeleteOptions{grace(0)}, []string{"updated: forced goes in 0"}},
		{"ended", "n", []metav1.DeleteOptions{{}, grace(0)}, []string{"updated: ended goes in 30", "updated: ended goes in 0"}},
	} {
		pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: q.name}, Spec: corev1.PodSpec{NodeName: q.node, Containers: []corev1.Container{{Name: "c", Image: "i"}}}}
		if _, err := pods.Create(t.Context(), pod, metav1.CreateOptions{}); err != nil {
			t.Fatal(err)
		}
		for _, o := range q.deletes {
			if err := pods.Delete(t.Context(), q.name, o); err != nil {
				t.Fatal(err)
			}
		}
		want := append([]string{"added: " + q.name + " stays"}, q.want...)
		for _, want := range append(want, "deleted: "+q.name+" goes in 0") {
			if got := <-told; got != want {
				t.Fatalf("told %q, want %q", got, want)
			}
		}
	}
}
