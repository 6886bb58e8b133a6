package server

import (
	"errors"
	"fmt"
	"maps"
	"net/http"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"fairlead.dev/internal/resource"
	"fairlead.dev/internal/server/apistatus"
	"fairlead.dev/internal/server/request"
	"fairlead.dev/watchcache"
)

// builtinCreates are the subresources whose creates the server itself answers.
var builtinCreates = map[string]verb{
	"binding":  bind,
	"eviction": evict,
}

var (
	podResource = schema.GroupResource{Resource: "pods"}
	bindingKind = schema.GroupVersionKind{Version: "v1", Kind: "Binding"}
)

// bind puts a pod onto a node.
func bind(c *call) error {
	defer c.within(updateTimeout)()
	b := &corev1.Binding{}
	create, err := c.readCreate(b, bindingKind)
	if err != nil {
		return err
	}
	if b.Name != c.info.Name {
		return apierrors.NewBadRequest("name in URL does not match name in Binding object")
	}
	return c.bind(b, create)
}

// bindLegacy is the old way: a create of a Binding in the namespace.
func bindLegacy(c *call) error {
	defer c.within(updateTimeout)()
	b := &corev1.Binding{}
	create, err := c.readCreate(b, bindingKind)
	if err != nil {
		return err
	}
	c.ep = c.s.table.Load().Stored[podResource]
	c.info.Name = b.Name
	return c.bind(b, create)
}

func (c *call) bind(b *corev1.Binding, create *metav1.CreateOptions) error {
	if c.ep == nil {
		return apistatus.ResourceNotFound()
	}
	if err := request.SettleNamespace(b, c.namespace()); err != nil {
		return err
	}
	if err := checkBinding(b); err != nil {
		return err
	}
	c.info.Subresource = "binding"
	b, err := admitBody(c, b, create)
	if err != nil {
		return err
	}
	w, _, err := c.modify(c.info.Name, change{trusted: true, next: func(_ *watchcache.Object, old resource.Object) (resource.Object, error) {
		pod := *old.(*corev1.Pod) // of which assign changes nothing that old has as well
		if err := assign(&pod, b); err != nil {
			return nil, apierrors.NewConflict(schema.GroupResource{Resource: "pods/binding"}, pod.Name, err)
		}
		return &pod, nil
	}})
	if err != nil {
		return err
	}
	c.s.writeCache.give(c, w)
	s := apistatus.Success(nil)
	s.Code = http.StatusCreated
	return c.write(http.StatusCreated, request.ResponseFormat{Media: c.accept.Media, Pretty: c.accept.Pretty}, s)
}

func checkBinding(b *corev1.Binding) error {
	var errs field.ErrorList
	target := field.NewPath("target")
	if k := b.Target.Kind; k != "" && k != "Node" {
		errs = append(errs, field.NotSupported(target.Child("kind"), k, []string{"Node", "<empty>"}))
	}
	if b.Target.Name == "" {
		errs = append(errs, field.Required(target.Child("name"), ""))
	}
	if len(errs) > 0 {
		return errs.ToAggregate()
	}
	return nil
}

// assign applies the binding to a shallow copy of the pod. It replaces slices and maps, and
// does not change them.
func assign(pod *corev1.Pod, b *corev1.Binding) error {
	switch {
	case b.UID != "" && b.UID != pod.UID:
		return fmt.Errorf("Precondition failed: UID in precondition: %v, UID in object meta: %v", b.UID, pod.UID)
	case b.ResourceVersion != "" && b.ResourceVersion != pod.ResourceVersion:
		return fmt.Errorf("Precondition failed: ResourceVersion in precondition: %v, ResourceVersion in object meta: %v", b.ResourceVersion, pod.ResourceVersion)
	case pod.DeletionTimestamp != nil:
		return fmt.Errorf("pod %s is being deleted, cannot be assigned to a host", pod.Name)
	case pod.Spec.NodeName != "":
		return fmt.Errorf("pod %v is already assigned to node %q", pod.Name, pod.Spec.NodeName)
	case len(pod.Spec.SchedulingGates) > 0:
		return errors.New("pod " + pod.Name + " has non-empty .spec.schedulingGates")
	}
	pod.Spec.NodeName = b.Target.Name
	pod.Status.NominatedNodeName = ""
	pod.Annotations = merged(pod.Annotations, b.Annotations)
	pod.Labels = merged(pod.Labels, b.Labels)
	// setCondition sets a condition of the pod, with a transition time if its status changes.
	setCondition(pod, corev1.PodCondition{Type: corev1.PodScheduled, Status: corev1.ConditionTrue})
	return nil
}

// merged returns the union of both maps; the second one wins.
func merged(into, from map[string]string) map[string]string {
	if len(from) == 0 {
		return into
	}
	all := make(map[string]string, len(into)+len(from))
	maps.Copy(all, into)
	maps.Copy(all, from)
	return all
}

// setCondition sets one condition of the pod, as of now if it is news.
func setCondition(pod *corev1.Pod, cond corev1.PodCondition) {
	cond.LastTransitionTime = metav1.Now().Rfc3339Copy()
	pod.Status.Conditions = append(make([]corev1.PodCondition, 0, len(pod.Status.Conditions)+1), pod.Status.Conditions...)
	for i := range pod.Status.Conditions {
		was := &pod.Status.Conditions[i]
		if was.Type != cond.Type {
			continue
		}
		if was.Status == cond.Status {
			cond.LastTransitionTime = was.LastTransitionTime
		}
		*was = cond
		return
	}
	pod.Status.Conditions = append(pod.Status.Conditions, cond)
}
