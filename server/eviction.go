package server

import (
	"fmt"
	"net/http"
	"reflect"

	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"fairlead.dev/internal/resource"
	"fairlead.dev/internal/server/apistatus"
	"fairlead.dev/internal/server/request"
	"fairlead.dev/internal/server/serializer"
	"fairlead.dev/watchcache"
)

var (
	evictionKind = schema.GroupVersionKind{Group: "policy", Version: "v1", Kind: "Eviction"}
	pdbResource  = schema.GroupResource{Group: "policy", Resource: "poddisruptionbudgets"}
)

// evict deletes a pod if its disruption budget allows it.
func evict(c *call) error {
	defer c.within(updateTimeout)()
	ev := &policyv1.Eviction{}
	create, err := c.readCreate(ev, c.evictionKind())
	if err != nil {
		return err
	}
	if ev.Name != c.info.Name {
		return apierrors.NewBadRequest("name in URL does not match name in Eviction object")
	}
	if err := request.SettleNamespace(ev, c.namespace()); err != nil {
		return err
	}
	if ev, err = admitBody(c, ev, create); err != nil {
		return err
	}
	opts, err := evictionOptions(ev, create)
	if err != nil {
		return err
	}
	c.dryRun = len(opts.DryRun) > 0

	now, err := c.read(ev.Name, watchcache.ReadAt{})
	if err != nil {
		return err
	}
	obj, err := c.decodeCurrent(now)
	if err != nil {
		return err
	}
	pod := obj.(*corev1.Pod)
	if err := c.askBudget(pod, opts); err != nil {
		return err
	}
	if err := c.evictNow(opts); err != nil {
		return err
	}
	s := apistatus.Success(nil)
	s.Code = http.StatusCreated
	return c.write(http.StatusCreated, request.ResponseFormat{Media: c.accept.Media, Pretty: c.accept.Pretty}, s)
}

// evictionKind returns the kind that the body names. Old clients send the beta version, whose
// fields are the same.
func (c *call) evictionKind() schema.GroupVersionKind {
	kind := evictionKind
	if body, err := c.body(); err == nil {
		if said, err := serializer.KindOf(body); err == nil && said.Group == kind.Group && said.Version == "v1beta1" {
			kind.Version = said.Version
		}
	}
	return kind
}

// evictionOptions returns the options of the pod's deletion.
func evictionOptions(ev *policyv1.Eviction, create *metav1.CreateOptions) (*metav1.DeleteOptions, error) {
	opts := ev.DeleteOptions
	if opts != nil && ignoresReadErrors(opts) {
		return nil, apierrors.NewInvalid(evictionKind.GroupKind(), ev.Name, field.ErrorList{field.Invalid(
			field.NewPath("deleteOptions", ignoreReadErrors), true, "can not be set for pod eviction, try after removing the option")})
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

// evictNow records the eviction in the pod's conditions and deletes the pod.
func (c *call) evictNow(opts *metav1.DeleteOptions) error {
	if !c.dryRun {
		w, _, err := c.modify(c.info.Name, change{trusted: true, next: func(_ *watchcache.Object, old resource.Object) (resource.Object, error) {
			if err := c.checkPreconditions(old, opts); err != nil {
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
			rv := w.rev.String()
			p.ResourceVersion = &rv
		}
	}
	_, _, err := c.remove(c.info.Name, opts, false)
	return err
}
