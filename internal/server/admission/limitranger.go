package admission

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/runtime"
	utilerrors "k8s.io/apimachinery/pkg/util/errors"

	"fairlead.dev/internal/quota"
)

// LimitRanger sets default requests and limits in the containers of new pods, and rejects pods and claims outside
// of the namespace's LimitRanges.
type LimitRanger struct{ Lookup Lookup }

// Name implements Plugin.
func (LimitRanger) Name() string { return "LimitRanger" }

// Admit implements Mutator.
func (p LimitRanger) Admit(ctx context.Context, r *Request) error {
	pod, ok := r.Object.(*corev1.Pod)
	if !ok {
		return nil
	}
	list, err := p.ranges(ctx, r)
	for _, l := range list {
		fillPod(pod, l.(*corev1.LimitRange))
	}
	return err
}

// ranges returns the LimitRanges that apply to the request.
func (p LimitRanger) ranges(ctx context.Context, r *Request) ([]runtime.Object, error) {
	pods := r.GroupResource() == core("pods")
	switch {
	case pods && r.Verb == Create && r.Subresource == "":
	case pods && r.Verb == Update && r.Subresource == "resize":
	case r.on(Create, core("persistentvolumeclaims")), r.on(Update, core("persistentvolumeclaims")):
	default:
		return nil, nil
	}
	if r.Old != nil {
		if m, err := meta.Accessor(r.Old); err != nil || m.GetDeletionTimestamp() != nil {
			return nil, nil
		}
	}
	list, err := p.Lookup.List(ctx, core("limitranges"), r.Namespace)
	if err != nil {
		return nil, status(err)
	}
	return list, nil
}

// Validate implements Validator.
func (p LimitRanger) Validate(ctx context.Context, r *Request) error {
	list, err := p.ranges(ctx, r)
	if err != nil {
		return err
	}
	pod, _ := r.Object.(*corev1.Pod)
	for _, l := range list {
		var faults limitFaults
		for _, item := range l.(*corev1.LimitRange).Spec.Limits {
			if pod != nil {
				faults.checkPod(pod, item)
			} else if claim, ok := r.Object.(*corev1.PersistentVolumeClaim); ok && item.Type == corev1.LimitTypePersistentVolumeClaim {
				faults.atLeast(item, claim.Spec.Resources.Requests, nil)
				faults.claimAtMost(item, claim.Spec.Resources.Requests)
			}
		}
		if err := utilerrors.NewAggregate(faults); err != nil {
			return forbid(r, err)
		}
	}
	return nil
}

// fillPod sets the defaults of the range in containers, and records that in an annotation.
func fillPod(pod *corev1.Pod, l *corev1.LimitRange) {
	limits, requests := corev1.ResourceList{}, corev1.ResourceList{}
	for _, item := range l.Spec.Limits {
		if item.Type == corev1.LimitTypeContainer {
			maps.Copy(limits, item.Default)
			maps.Copy(requests, item.DefaultRequest)
		}
	}
	var told []string
	fill := func(to *corev1.ResourceList, from corev1.ResourceList, what, kind, name string) {
		var set []string
		for k, v := range from {
			if _, has := (*to)[k]; !has {
				if *to == nil {
					*to = corev1.ResourceList{}
				}
				(*to)[k] = v.DeepCopy()
				set = append(set, string(k))
			}
		}
		if set != nil {
			slices.Sort(set)
			told = append(told, fmt.Sprintf("%s %s for %s %s", strings.Join(set, ", "), what, kind, name))
		}
	}
	for i := range pod.Spec.Containers {
		c := &pod.Spec.Containers[i]
		fill(&c.Resources.Requests, requests, "request", "container", c.Name)
		fill(&c.Resources.Limits, limits, "limit", "container", c.Name)
	}
	for i := range pod.Spec.InitContainers {
		c := &pod.Spec.InitContainers[i]
		fill(&c.Resources.Requests, requests, "request", "init container", c.Name)
		fill(&c.Resources.Limits, limits, "limit", "init container", c.Name)
	}
	if told != nil {
		if pod.Annotations == nil {
			pod.Annotations = map[string]string{}
		}
		pod.Annotations["kubernetes.io/limit-ranger"] = "LimitRanger plugin set: " + strings.Join(told, "; ")
	}
}

// limitFaults collects an object's violations of a LimitRange.
type limitFaults []error

func (f *limitFaults) add(format string, args ...any) { *f = append(*f, fmt.Errorf(format, args...)) }

func (f *limitFaults) checkPod(pod *corev1.Pod, item corev1.LimitRangeItem) {
	check := func(requests, limits corev1.ResourceList) {
		f.atLeast(item, requests, limits)
		f.atMost(item, requests, limits)
		f.ratio(item, requests, limits)
	}
	switch item.Type {
	case corev1.LimitTypeContainer:
		for i := range pod.Spec.Containers {
			check(pod.Spec.Containers[i].Resources.Requests, pod.Spec.Containers[i].Resources.Limits)
		}
		for i := range pod.Spec.InitContainers {
			check(pod.Spec.InitContainers[i].Resources.Requests, pod.Spec.InitContainers[i].Resources.Limits)
		}
	case corev1.LimitTypePod:
		check(quota.Sum{}.Requests(pod), quota.Sum{}.Limits(pod))
	}
}

func (f *limitFaults) atLeast(item corev1.LimitRangeItem, requests, limits corev1.ResourceList) {
	for name, bound := range byName(item.Min) {
		request, asked := requests[name]
		limit, held := limits[name]
		switch {
		case !asked:
			f.add("minimum %s usage per %s is %s.  No request is specified", name, item.Type, bound.String())
		case request.Cmp(bound) < 0:
			f.add("minimum %s usage per %s is %s, but request is %s", name, item.Type, bound.String(), request.String())
		case held && limit.Cmp(bound) < 0:
			f.add("minimum %s usage per %s is %s, but limit is %s", name, item.Type, bound.String(), limit.String())
		}
	}
}

func (f *limitFaults) atMost(item corev1.LimitRangeItem, requests, limits corev1.ResourceList) {
	for name, bound := range byName(item.Max) {
		request, asked := requests[name]
		limit, held := limits[name]
		switch {
		case !held:
			f.add("maximum %s usage per %s is %s.  No limit is specified", name, item.Type, bound.String())
		case limit.Cmp(bound) > 0:
			f.add("maximum %s usage per %s is %s, but limit is %s", name, item.Type, bound.String(), limit.String())
		case asked && request.Cmp(bound) > 0:
			f.add("maximum %s usage per %s is %s, but request is %s", name, item.Type, bound.String(), request.String())
		}
	}
}

// claimAtMost is atMost for claims, which have no limits.
func (f *limitFaults) claimAtMost(item corev1.LimitRangeItem, requests corev1.ResourceList) {
	for name, bound := range byName(item.Max) {
		request, asked := requests[name]
		switch {
		case !asked:
			f.add("maximum %s usage per %s is %s.  No request is specified", name, item.Type, bound.String())
		case request.Cmp(bound) > 0:
			f.add("maximum %s usage per %s is %s, but request is %s", name, item.Type, bound.String(), request.String())
		}
	}
}

func (f *limitFaults) ratio(item corev1.LimitRangeItem, requests, limits corev1.ResourceList) {
	for name, bound := range byName(item.MaxLimitRequestRatio) {
		request, limit := requests[name], limits[name]
		ratio := limit.AsApproximateFloat64() / request.AsApproximateFloat64()
		switch {
		case request.IsZero():
			f.add("%s max limit to request ratio per %s is %s, but no request is specified or request is 0", name, item.Type, bound.String())
		case limit.IsZero():
			f.add("%s max limit to request ratio per %s is %s, but no limit is specified or limit is 0", name, item.Type, bound.String())
		case ratio > bound.AsApproximateFloat64():
			f.add("%s max limit to request ratio per %s is %s, but provided ratio is %f", name, item.Type, bound.String(), ratio)
		}
	}
}

type quantity = resource.Quantity

// byName iterates over a list in the order of its names.
func byName(l corev1.ResourceList) func(func(corev1.ResourceName, quantity) bool) {
	return func(yield func(corev1.ResourceName, quantity) bool) {
		for _, name := range slices.Sorted(maps.Keys(l)) {
			if !yield(name, l[name]) {
				return
			}
		}
	}
}
