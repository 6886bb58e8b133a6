package controlplane_test

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"fairlead.dev/client"
	"fairlead.dev/internal/controllers/podcontrol/waittest"
	"fairlead.dev/internal/controlplane"
	"fairlead.dev/internal/controlplane/controlplanetest"
	"fairlead.dev/trace"
)

// TestControllersInAnotherProcess: the server's lives of events have the reconciles of
// controllers in another process, and the causes of their writes, also where the key of a
// reconcile is another object than the one that changed.
func TestControllersInAnotherProcess(t *testing.T) {
	lives := trace.New(trace.Options{})
	cp := controlplanetest.Start(t, controlplane.Options{Controllers: []string{"serviceaccount"}, Trace: lives})
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() {
		ended <- controlplane.RunControllers(ctx, cp.Config(), controlplane.ControllerOptions{List: []string{"pvcprotection", "vacprotection"}}, controlplane.Apart{})
	}()
	defer func() {
		stop()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	}()

	c := controlplanetest.Client(t, cp)
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	accounts := client.For[*corev1.ServiceAccount](c).Namespace("default")
	waittest.One(t, accounts, "default", "the service account", func(*corev1.ServiceAccount) bool { return true })
	classes := client.For[*storagev1.VolumeAttributesClass](c)
	claims, pods := client.For[*corev1.PersistentVolumeClaim](c).Namespace("default"), client.For[*corev1.Pod](c).Namespace("default")
	_, err := classes.Create(ctx, &storagev1.VolumeAttributesClass{ObjectMeta: metav1.ObjectMeta{Name: "fast"}, DriverName: "example.com", Parameters: map[string]string{"a": "b"}})
	must(err)
	_, err = claims.Create(ctx, &corev1.PersistentVolumeClaim{ObjectMeta: metav1.ObjectMeta{Name: "c"}, Spec: corev1.PersistentVolumeClaimSpec{
		AccessModes: []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce}, VolumeAttributesClassName: ptr.To("fast"),
		Resources: corev1.VolumeResourceRequirements{Requests: corev1.ResourceList{corev1.ResourceStorage: resource.MustParse("1Gi")}},
	}})
	must(err)
	_, err = pods.Create(ctx, &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "p"}, Spec: corev1.PodSpec{
		NodeName:   "nowhere", // a pod without a node does not use its claims
		Containers: []corev1.Container{{Name: "main", Image: "web"}},
		Volumes: []corev1.Volume{{Name: "data", VolumeSource: corev1.VolumeSource{
			PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: "c"}}}},
	}})
	must(err)
	// Each is deleted only after the object that uses it: the pod, then the claim, then the class.
	protected := func(finalizers []string) bool { return len(finalizers) == 1 }
	waittest.One(t, classes, "fast", "its finalizer", func(o *storagev1.VolumeAttributesClass) bool { return protected(o.Finalizers) })
	waittest.One(t, claims, "c", "its finalizer", func(o *corev1.PersistentVolumeClaim) bool { return protected(o.Finalizers) })
	// Each deletion is reconciled before the next object is deleted. Otherwise its finalizer
	// could come off without the next object's deletion as the cause.
	must(classes.Delete(ctx, "fast"))
	class, err := classes.Get(ctx, "fast")
	must(err)
	until(t, lives, func() string { return unreconciled(lives, class.ResourceVersion, "vacprotection") })
	must(claims.Delete(ctx, "c"))
	claim, err := claims.Get(ctx, "c")
	must(err)
	until(t, lives, func() string { return unreconciled(lives, claim.ResourceVersion, "pvcprotection") })
	must(pods.Delete(ctx, "p", metav1.DeleteOptions{GracePeriodSeconds: ptr.To[int64](0)}))
	waittest.Gone(t, classes, "fast")
	until(t, lives, func() string { return missing(lives) })
}

// until waits until missing returns "": reports arrive with a delay.
func until(t *testing.T, l *trace.Log, missing func() string) {
	t.Helper()
	patience := time.After(60 * time.Second)
	for {
		changed := l.Changed()
		lack := missing()
		if lack == "" {
			return
		}
		select {
		case <-changed:
		case <-patience:
			t.Fatal(lack)
		}
	}
}

// unreconciled returns "" if a controller has reconciled the event of a revision, or else an
// error message.
func unreconciled(l *trace.Log, resourceVersion, controller string) string {
	rev := trace.Revision(resourceVersion)
	for _, e := range l.Lives(trace.Filter{From: rev, To: rev}) {
		if slices.ContainsFunc(e.Reconciles, func(w trace.LifeReconcile) bool { return w.Controller == controller && w.Err == "" }) {
			return ""
		}
	}
	return controller + " has not reconciled the event of revision " + resourceVersion
}

// missing returns "" if the lives of the deletions are complete, or else an error message.
func missing(l *trace.Log) string {
	last := func(resource, name string) trace.Life {
		all := l.Lives(trace.Filter{Resource: resource, Name: name, Limit: 1})
		if len(all) == 0 {
			return trace.Life{}
		}
		return all[0]
	}
	apart := func(process string) bool { return strings.HasPrefix(process, "controllers@") }
	pod, claim, class := last("pods", "p"), last("persistentvolumeclaims", "c"), last("volumeattributesclasses.storage.k8s.io", "fast")
	for _, step := range []struct {
		cause, effect trace.Life
		by            string
	}{{pod, claim, "pvcprotection"}, {claim, class, "vacprotection"}} {
		cause, effect := step.cause, step.effect
		n := slices.IndexFunc(cause.Reconciles, func(w trace.LifeReconcile) bool {
			return w.Controller == step.by && slices.Contains(w.Writes, effect.Revision)
		})
		switch {
		case !slices.Contains(effect.Causes, cause.Revision):
			return step.by + ": its write does not have the cause's revision"
		case n < 0:
			return step.by + ": the reconcile is not in its cause's life"
		case effect.Reconcile != cause.Reconciles[n].Number:
			return step.by + ": the write has the number of another reconcile"
		case !apart(cause.Reconciles[n].Process) || cause.Reconciles[n].Within <= 0 || cause.Reconciles[n].Queued <= 0:
			return step.by + ": the reconcile lacks its process or its durations"
		case !slices.ContainsFunc(cause.Arrivals, func(a trace.Arrival) bool {
			return apart(a.Process) && a.Read > 0 && a.Decoded >= a.Read && a.Stored >= a.Decoded
		}):
			return step.by + ": its informer is not in its cause's life"
		}
	}
	return ""
}
