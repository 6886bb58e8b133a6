package controlplane

import (
	"context"
	"fmt"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/utils/ptr"

	"fairlead.dev/internal/server/auth"
)

// components answers reads of ComponentStatuses: whether controllers and a scheduler run,
// in this process or another one, and whether each store can be written.
type components struct {
	objects auth.Lookup
	options Options
	// stores return why each store cannot be written.
	stores []func() error
}

func (s components) read(ctx context.Context, _, name string) ([]runtime.Object, error) {
	var list []runtime.Object
	type component struct {
		name string
		is   func(context.Context) error
	}
	all := []component{
		{"controller-manager", func(ctx context.Context) error {
			return s.part(ctx, "controllers run", len(selected(s.options.Controllers, s.options.Ranges, s.options.API)) > 0, controllersLease)
		}},
		{"scheduler", func(ctx context.Context) error {
			return s.part(ctx, "scheduler runs", s.options.Scheduler, schedulerLease)
		}},
	}
	for i, err := range s.stores {
		all = append(all, component{fmt.Sprintf("etcd-%d", i), func(context.Context) error { return err() }})
	}
	for _, c := range all {
		if name != "" && name != c.name {
			continue
		}
		healthy := corev1.ComponentCondition{Type: corev1.ComponentHealthy, Status: corev1.ConditionTrue, Message: "ok"}
		if err := c.is(ctx); err != nil {
			healthy.Status, healthy.Message = corev1.ConditionFalse, err.Error()
		}
		list = append(list, &corev1.ComponentStatus{ObjectMeta: metav1.ObjectMeta{Name: c.name}, Conditions: []corev1.ComponentCondition{healthy}})
	}
	if name != "" && len(list) == 0 { // kube-apiserver calls the resource so in this error
		return nil, apierrors.NewNotFound(corev1.Resource("componentstatus"), name)
	}
	return list, nil
}

// part returns an error if a part of the control plane is not healthy. A part of this process
// runs as long as the process, unless it waits for its lease. A part of another process is
// healthy while it renews its lease.
func (s components) part(ctx context.Context, does string, here bool, lease string) error {
	if here && s.options.Elect == nil {
		return nil
	}
	obj, err := s.objects.Get(ctx, coordinationv1.Resource("leases"), metav1.NamespaceSystem, lease)
	if apierrors.IsNotFound(err) {
		return fmt.Errorf("no %s in this process, and there is no Lease %s/%s of another", does, metav1.NamespaceSystem, lease)
	}
	if err != nil {
		return err
	}
	l := obj.(*coordinationv1.Lease).Spec
	if ptr.Deref(l.HolderIdentity, "") == "" || l.RenewTime == nil {
		return fmt.Errorf("the Lease %s/%s has no holder", metav1.NamespaceSystem, lease)
	}
	until := l.RenewTime.Add(time.Duration(ptr.Deref(l.LeaseDurationSeconds, 0)) * time.Second)
	if time.Now().After(until) {
		return fmt.Errorf("%s has not renewed the Lease %s/%s since %s", *l.HolderIdentity, metav1.NamespaceSystem, lease, l.RenewTime.UTC().Format(time.RFC3339))
	}
	return nil
}
