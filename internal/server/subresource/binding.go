package subresource

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
	"fairlead.dev/internal/server/auth"
	"fairlead.dev/internal/server/call"
	"fairlead.dev/internal/server/request"
	"fairlead.dev/internal/server/write"
	"fairlead.dev/watchcache"
)

var (
	podResource = schema.GroupResource{Resource: "pods"}
	bindingKind = schema.GroupVersionKind{Version: "v1", Kind: "Binding"}
)

// Pods serves the subresources of pods that the server itself acts upon.
type Pods struct {
	Writer *write.Writer
	// Objects finds disruption budgets.
	Objects auth.Lookup
}

// Bind puts the pod in the path onto a node.
func (p *Pods) Bind(in *call.Call) error {
	c := p.Writer.Operation(in)
	defer c.Within(call.UpdateTimeout)()
	b := &corev1.Binding{}
	create, err := c.ReadCreate(b, bindingKind)
	if err != nil {
		return err
	}
	if b.Name != c.Info.Name {
		return apierrors.NewBadRequest("name in URL does not match name in Binding object")
	}
	return bind(c, b, create)
}

// CreateBinding puts a pod onto a node by a create of a Binding in the namespace, as clients did
// before pods had the subresource.
func (p *Pods) CreateBinding(in *call.Call) error {
	c := p.Writer.Operation(in)
	defer c.Within(call.UpdateTimeout)()
	b := &corev1.Binding{}
	create, err := c.ReadCreate(b, bindingKind)
	if err != nil {
		return err
	}
	c.Endpoint = c.Registry.Stored(podResource)
	c.Info.Name = b.Name
	return bind(c, b, create)
}

func bind(c *write.Operation, b *corev1.Binding, create *metav1.CreateOptions) error {
	if c.Endpoint == nil {
		return apistatus.ResourceNotFound()
	}
	if err := request.SettleNamespace(b, c.Namespace()); err != nil {
		return err
	}
	if err := checkBinding(b); err != nil {
		return err
	}
	c.Info.Subresource = "binding"
	b, err := admitBody(c, b, create)
	if err != nil {
		return err
	}
	w, _, err := c.Modify(c.Info.Name, write.Change{Trusted: true, Next: func(_ *watchcache.Object, old resource.Object) (resource.Object, error) {
		pod := *old.(*corev1.Pod) // a shallow copy: assign does not change the shared parts
		if err := assign(&pod, b); err != nil {
			return nil, apierrors.NewConflict(schema.GroupResource{Resource: "pods/binding"}, pod.Name, err)
		}
		return &pod, nil
	}})
	if err != nil {
		return err
	}
	c.Cache(w)
	return answerCreated(c)
}

// answerCreated answers with a Status of code 201.
func answerCreated(c *write.Operation) error {
	s := apistatus.Success(nil)
	s.Code = http.StatusCreated
	return c.Write(http.StatusCreated, request.ResponseFormat{Media: c.Accept.Media, Pretty: c.Accept.Pretty}, s)
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

// setCondition sets a condition of the pod, with a transition time of now if its status changes.
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
