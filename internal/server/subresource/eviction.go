package subresource

import (
	"fmt"
	"reflect"

	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"fairlead.dev/internal/resource"
	"fairlead.dev/internal/server/call"
	"fairlead.dev/internal/server/request"
	"fairlead.dev/internal/server/serializer"
	"fairlead.dev/internal/server/write"
	"fairlead.dev/watchcache"
)

var evictionKind = schema.GroupVersionKind{Group: "policy", Version: "v1", Kind: "Eviction"}

// Evict deletes a pod if its disruption budget allows it.
func (p *Pods) Evict(in *call.Call) error {
	c := p.Writer.Operation(in)
	defer c.Within(call.UpdateTimeout)()
	ev := &policyv1.Eviction{}
	create, err := c.ReadCreate(ev, kindOfEviction(c))
	if err != nil {
		return err
	}
	if ev.Name != c.Info.Name {
		return apierrors.NewBadRequest("name in URL does not match name in Eviction object")
	}
	if err := request.SettleNamespace(ev, c.Namespace()); err != nil {
		return err
	}
	if ev, err = admitBody(c, ev, create); err != nil {
		return err
	}
	opts, err := evictionOptions(ev, create)
	if err != nil {
		return err
	}
	c.DryRun = len(opts.DryRun) > 0

	watchcache.Recheck(c.Context) // a budget that is new must count
	now, err := c.Read(ev.Name, watchcache.ReadAt{Match: watchcache.Request})
	if err != nil {
		return err
	}
	obj, err := c.Decode(now)
	if err != nil {
		return err
	}
	pod := obj.(*corev1.Pod)
	if err := p.askBudget(c, pod, opts); err != nil {
		return err
	}
	if err := evict(c, opts); err != nil {
		return err
	}
	return answerCreated(c)
}

// kindOfEviction returns the kind that the body names. Old clients send the beta version, whose
// fields are the same.
func kindOfEviction(c *write.Operation) schema.GroupVersionKind {
	kind := evictionKind
	if body, err := c.Body(); err == nil {
		if said, err := serializer.KindOf(body); err == nil && said.Group == kind.Group && said.Version == "v1beta1" {
			kind.Version = said.Version
		}
	}
	return kind
}

// evictionOptions returns the options of the pod's deletion.
func evictionOptions(ev *policyv1.Eviction, create *metav1.CreateOptions) (*metav1.DeleteOptions, error) {
	opts := ev.DeleteOptions
	if opts != nil && write.IgnoresReadErrors(opts) {
		return nil, apierrors.NewInvalid(evictionKind.GroupKind(), ev.Name, field.ErrorList{field.Invalid(
			field.NewPath("deleteOptions", write.IgnoreReadErrors), true, "can not be set for pod eviction, try after removing the option")})
	}
	switch {
	case opts == nil:
		return &metav1.DeleteOptions{DryRun: create.DryRun}, nil
	case len(opts.DryRun) == 0:
		opts.DryRun = create.DryRun
	case len(create.DryRun) > 0 && !reflect.DeepEqual(opts.DryRun, create.DryRun):
		return nil, fmt.Errorf("Non-matching dry-run options in request and content: %v and %v", create.DryRun, opts.DryRun)
	}
	return opts, nil
}

// evict records the eviction in the pod's conditions and deletes the pod.
func evict(c *write.Operation, opts *metav1.DeleteOptions) error {
	if !c.DryRun {
		w, _, err := c.Modify(c.Info.Name, write.Change{Trusted: true, Next: func(_ *watchcache.Object, old resource.Object) (resource.Object, error) {
			if err := c.CheckPreconditions(old, opts); err != nil {
				return nil, err
			}
			pod := old.DeepCopyObject().(*corev1.Pod)
			setCondition(pod, corev1.PodCondition{
				Type: corev1.DisruptionTarget, Status: corev1.ConditionTrue,
				Reason: "EvictionByEvictionAPI", Message: "Eviction API: evicting",
			})
			return pod, nil
		}})
		if err != nil {
			return err
		}
		if p := opts.Preconditions; p != nil && p.ResourceVersion != nil {
			rv := w.Revision().String()
			p.ResourceVersion = &rv
		}
	}
	_, _, err := c.Remove(c.Info.Name, opts, false)
	return err
}
