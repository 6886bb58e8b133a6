package controller_test

import (
	"context"
	"strconv"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"fairlead.dev/client"
	"fairlead.dev/controller"
	"fairlead.dev/informer"
	"fairlead.dev/testenv"
)

// TestReconcileSeesItsOwnWrites checks that a controller with a slow informer increments a counter in its object in
// every pass without a conflict with itself.
func TestReconcileSeesItsOwnWrites(t *testing.T) {
	const passes = 20
	env := testenv.New(t, testenv.Options{NoControllers: true, NoScheduler: true, NoNodes: true})
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	c := env.Client(t)
	maps := client.For[*corev1.ConfigMap](c).Namespace("default")
	if _, err := maps.Create(ctx, &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "web"}}); err != nil {
		t.Fatal(err)
	}
	late := informer.New(client.For[*corev1.ConfigMap](c), informer.Options[*corev1.ConfigMap]{
		Namespace: "default",
		Transform: func(m *corev1.ConfigMap) *corev1.ConfigMap {
			time.Sleep(20 * time.Millisecond)
			return m
		},
	})
	conflicts := 0
	counted := make(chan struct{})
	loop := controller.New("counter", func(ctx context.Context, k controller.Key) (controller.Result, error) {
		m, ok := late.Store().Get(k.Namespace, k.Name)
		if !ok || k != web {
			return controller.Result{}, nil
		}
		n, _ := strconv.Atoi(m.Data["n"])
		if n == passes {
			select {
			case <-counted:
			default:
				close(counted)
			}
			return controller.Result{}, nil
		}
		m = m.DeepCopy()
		m.Data = map[string]string{"n": strconv.Itoa(n + 1)}
		_, err := maps.Update(ctx, m)
		if apierrors.IsConflict(err) {
			conflicts++
		}
		return controller.Result{RequeueAfter: time.Nanosecond}, err
	}, controller.Options{Workers: 1})
	loop.Watch(controller.For(late))
	go late.Run(ctx)
	ended := make(chan error)
	go func() { ended <- loop.Run(ctx) }()
	select {
	case <-counted:
	case <-ctx.Done():
		t.Error("did not count to the end within a minute")
	}
	cancel()
	<-ended
	if conflicts > passes/2 { // a machine that is suspended for seconds may cause one
		t.Errorf("%d conflicts in %d passes", conflicts, passes)
	}
}
