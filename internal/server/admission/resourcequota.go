package admission

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"fairlead.dev/internal/quota"
	"fairlead.dev/internal/server/admission/config"
)

// QuotaWriter writes a quota's status, and fails with a conflict if the quota has
// changed meanwhile.
type QuotaWriter interface {
	UpdateStatus(ctx context.Context, q *corev1.ResourceQuota) error
}

// ResourceQuota rejects writes that would exceed a quota of the namespace, and charges the quotas for others before
// they are written. The charge of a write that fails is undone; for deleted objects the resourcequota controller
// lowers the usage.
//
// A charge is a conditional write of the quota's status, which fails if the quota has changed since the charge was
// computed, so several servers can share a quota. Within this server, charges of a namespace are serialized, to
// avoid conflicts.
type ResourceQuota struct {
	lookup    Lookup
	writer    QuotaWriter
	limited   []config.LimitedResource
	nameLocks *nameLocks
}

// NewResourceQuota returns the plugin. The limited resources are only admitted if a quota covers them. Without a writer it
// admits everything.
func NewResourceQuota(l Lookup, w QuotaWriter, limited []config.LimitedResource) ResourceQuota {
	return ResourceQuota{l, w, limited, newTurns()}
}

// Name implements Plugin.
func (ResourceQuota) Name() string { return "ResourceQuota" }

// quotaAttempts limits the attempts to charge a quota that others change.
const quotaAttempts = 10

// Validate implements Validator.
func (p ResourceQuota) Validate(ctx context.Context, r *Request) error {
	gr := r.GroupResource()
	if p.writer == nil || r.Namespace == "" || gr == core("namespaces") {
		return nil
	}
	m, ok := quota.For(gr, p.others(ctx))
	if !ok || !chargeable(r) {
		return nil
	}
	if list, err := p.quotas(ctx, r.Namespace); err != nil || len(list) == 0 && len(p.limited) == 0 {
		return err
	}
	done, err := p.nameLocks.take(ctx, r.Namespace)
	if err != nil {
		return status(err)
	}
	defer done()
	return p.charge(ctx, r, m)
}

// others returns the objects by which device claims are measured. Unreadable objects count as missing, as upstream:
// the claim is then charged only for its devices.
func (p ResourceQuota) others(ctx context.Context) quota.Lookups {
	return quota.Lookups{
		DeviceClasses: func() []*resourcev1.DeviceClass {
			return typed[*resourcev1.DeviceClass](p.lookup.List(ctx, schema.GroupResource{Group: resourcev1.GroupName, Resource: "deviceclasses"}, ""))
		},
		DeviceClaims: func(namespace string) []*resourcev1.ResourceClaim {
			return typed[*resourcev1.ResourceClaim](p.lookup.List(ctx, deviceClaims, namespace))
		},
		Pod: func(namespace, name string) *corev1.Pod {
			obj, err := p.lookup.Get(ctx, core("pods"), namespace, name)
			if err != nil {
				return nil
			}
			return obj.(*corev1.Pod)
		},
	}
}

// typed converts a list to one type. It returns an empty list if the original could not be read.
func typed[T runtime.Object](list []runtime.Object, err error) []T {
	var all []T
	if err == nil {
		for _, obj := range list {
			all = append(all, obj.(T))
		}
	}
	return all
}

func (p ResourceQuota) charge(ctx context.Context, r *Request, m quota.Measure) error {
	var again []string // nil stands for all quotas
	for attempt := 1; ; attempt++ {
		list, err := p.quotas(ctx, r.Namespace)
		if err != nil {
			return err
		}
		if again != nil {
			// Only the changed quotas are evaluated again; deleted ones no longer count.
			list = slices.DeleteFunc(list, func(q *corev1.ResourceQuota) bool { return !slices.Contains(again, q.Name) })
		}
		taken, err := takes(r, m, list)
		if err == nil && again == nil {
			err = p.covered(r, m, list)
		}
		if err != nil || r.DryRun {
			return err
		}
		again = []string{}
		for _, t := range taken {
			switch err = p.writer.UpdateStatus(ctx, t.charged); {
			case err == nil:
				r.OnDone(func(written bool) {
					if !written {
						p.giveBack(ctx, t)
					}
				})
			case attempt < quotaAttempts && (apierrors.IsConflict(err) || apierrors.IsNotFound(err)):
				again = append(again, t.charged.Name)
			default:
				return status(err)
			}
		}
		if len(again) == 0 {
			return nil
		}
	}
}

func (p ResourceQuota) quotas(ctx context.Context, namespace string) ([]*corev1.ResourceQuota, error) {
	list, err := p.lookup.List(ctx, core("resourcequotas"), namespace)
	if err != nil {
		return nil, status(err)
	}
	quotas := make([]*corev1.ResourceQuota, len(list))
	for i, q := range list {
		quotas[i] = q.(*corev1.ResourceQuota)
	}
	return quotas, nil
}

// giveBack undoes a charge. If that fails, the controller's next count corrects the quota.
func (p ResourceQuota) giveBack(ctx context.Context, t taking) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
	defer cancel()
	done, err := p.nameLocks.take(ctx, t.charged.Namespace)
	if err != nil {
		return
	}
	defer done()
	for range quotaAttempts {
		obj, err := p.lookup.Get(ctx, core("resourcequotas"), t.charged.Namespace, t.charged.Name)
		if err != nil {
			return
		}
		q := obj.(*corev1.ResourceQuota).DeepCopy()
		if q.UID != t.charged.UID {
			return
		}
		maps.Copy(q.Status.Used, quota.Less(quota.Filter(q.Status.Used, slices.Collect(maps.Keys(t.delta))), t.delta))
		if err := p.writer.UpdateStatus(ctx, q); !apierrors.IsConflict(err) {
			return
		}
	}
}

// chargeable reports whether the request can change the usage of its object.
func chargeable(r *Request) bool {
	switch r.GroupResource() {
	case core("pods"):
		switch {
		case r.Verb == Update && r.Subresource == "resize":
			return true
		case r.Verb == Update && r.Subresource == "":
			return quota.PodTerminates(r.Old.(*corev1.Pod)) != quota.PodTerminates(r.Object.(*corev1.Pod))
		}
	case core("services"), deviceClaims:
		return r.Subresource == "" && (r.Verb == Create || r.Verb == Update)
	case core("persistentvolumeclaims"):
		if r.Subresource == "status" && r.Verb == Update {
			a, b := r.Old.(*corev1.PersistentVolumeClaim), r.Object.(*corev1.PersistentVolumeClaim)
			return a.Status.AllocatedResources.Storage().Cmp(*b.Status.AllocatedResources.Storage()) != 0 ||
				!slices.Equal(quota.AttributesClasses(a), quota.AttributesClasses(b))
		}
		return r.Subresource == "" && (r.Verb == Create || r.Verb == Update)
	}
	return r.Verb == Create && r.Subresource == ""
}

// taking is a quota with its usage increased by delta.
type taking struct {
	charged *corev1.ResourceQuota
	delta   corev1.ResourceList
}

// takes computes the charge of a request for each quota, and rejects the request if a quota would be exceeded.
func takes(r *Request, m quota.Measure, list []*corev1.ResourceQuota) ([]taking, error) {
	usage := m.Usage(r.Object)
	for name, q := range usage {
		if q.Sign() < 0 {
			return nil, forbid(r, fmt.Errorf("quota usage is negative for resource(s): %s", name))
		}
	}
	var taken []taking
	for _, q := range list {
		covered := m.Covers(q.Status.Hard)
		applies, err := within(m, q, covered, r.Object)
		if err != nil {
			return nil, internal(err)
		}
		if !applies {
			continue
		}
		if pod, ok := r.Object.(*corev1.Pod); ok {
			if err := quota.RequirePodCompute(pod, covered); err != nil {
				return nil, forbid(r, fmt.Errorf("failed quota: %s: %v", q.Name, err))
			}
		}
		if slices.ContainsFunc(covered, func(n corev1.ResourceName) bool { _, known := q.Status.Used[n]; return !known }) {
			return nil, forbid(r, fmt.Errorf("status unknown for quota: %s, resources: %s", q.Name, joined(covered)))
		}
		delta := usage
		if r.Verb == Update {
			if before, err := within(m, q, covered, r.Old); err != nil {
				return nil, internal(err)
			} else if before {
				delta = quota.Less(usage, m.Usage(r.Old))
			}
		}
		delta = quota.Filter(delta, slices.Collect(maps.Keys(q.Status.Hard)))
		maps.DeleteFunc(delta, func(_ corev1.ResourceName, q quantity) bool { return q.IsZero() })
		if len(delta) == 0 {
			continue
		}
		used := quota.Add(q.Status.Used, delta)
		if err := exceeds(r, q, delta, used); err != nil {
			return nil, err
		}
		charged := q.DeepCopy()
		charged.Status.Used = used
		taken = append(taken, taking{charged, delta})
	}
	return taken, nil
}

// within reports whether a quota applies to an object.
func within(m quota.Measure, q *corev1.ResourceQuota, covered []corev1.ResourceName, obj runtime.Object) (bool, error) {
	if len(covered) == 0 {
		return false, nil
	}
	return m.InScope(q, obj)
}

// exceeds rejects a request that exceeds the remaining quota. A status update is never rejected.
func exceeds(r *Request, q *corev1.ResourceQuota, delta, used corev1.ResourceList) error {
	if r.Subresource == "status" {
		return nil
	}
	var over []corev1.ResourceName
	for name := range delta {
		sum := used[name]
		if sum.Cmp(q.Status.Hard[name]) > 0 {
			over = append(over, name)
		}
	}
	if over == nil {
		return nil
	}
	return forbid(r, fmt.Errorf("exceeded quota: %s, requested: %s, used: %s, limited: %s", q.Name,
		listed(quota.Filter(delta, over)), listed(quota.Filter(q.Status.Used, over)), listed(quota.Filter(q.Status.Hard, over))))
}

func listed(l corev1.ResourceList) string {
	var parts []string
	for name, q := range byName(l) {
		parts = append(parts, string(name)+"="+q.String())
	}
	return strings.Join(parts, ",")
}

func joined(names []corev1.ResourceName) string {
	parts := make([]string, len(names))
	for i, n := range names {
		parts[i] = string(n)
	}
	return strings.Join(parts, ",")
}
