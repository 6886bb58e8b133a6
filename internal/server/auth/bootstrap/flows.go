package bootstrap

import (
	"slices"
	"strconv"

	flowcontrolv1 "k8s.io/api/flowcontrol/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	flows "k8s.io/apiserver/pkg/apis/flowcontrol/bootstrap"
)

var (
	schemas = slices.Concat(flows.MandatoryFlowSchemas, flows.SuggestedFlowSchemas)
	levels  = slices.Concat(flows.MandatoryPriorityLevelConfigurations, flows.SuggestedPriorityLevelConfigurations)
)

// Flows returns the priority levels that a cluster has, followed by the FlowSchemas that refer to them. With classify, the
// FlowSchemas' status says that their levels exist. Each call returns new objects.
func Flows(classify bool) (list []runtime.Object) {
	for _, l := range levels {
		l = l.DeepCopy()
		l.TypeMeta = metav1.TypeMeta{APIVersion: flowcontrolv1.SchemeGroupVersion.String(), Kind: "PriorityLevelConfiguration"}
		list = append(list, l)
	}
	for _, s := range schemas {
		s = s.DeepCopy()
		s.TypeMeta = metav1.TypeMeta{APIVersion: flowcontrolv1.SchemeGroupVersion.String(), Kind: "FlowSchema"}
		if classify {
			s.Status.Conditions = []flowcontrolv1.FlowSchemaCondition{Dangling(s, true)}
			s.Status.Conditions[0].LastTransitionTime = metav1.Now()
		}
		list = append(list, s)
	}
	return list
}

// Dangling returns the condition of a FlowSchema whose priority level exists or not, without a time.
func Dangling(s *flowcontrolv1.FlowSchema, exists bool) flowcontrolv1.FlowSchemaCondition {
	named := "This FlowSchema references the PriorityLevelConfiguration object named " + strconv.Quote(s.Spec.PriorityLevelConfiguration.Name)
	c := flowcontrolv1.FlowSchemaCondition{Type: flowcontrolv1.FlowSchemaConditionDangling}
	if exists {
		c.Status, c.Reason, c.Message = flowcontrolv1.ConditionFalse, "Found", named+" and it exists"
	} else {
		c.Status, c.Reason, c.Message = flowcontrolv1.ConditionTrue, "NotFound", named+" but there is no such object"
	}
	return c
}

// Obsolete reports whether an object is one that an earlier version of the server has created and maintained.
func Obsolete(obj metav1.Object) bool {
	if on, err := strconv.ParseBool(obj.GetAnnotations()[flowcontrolv1.AutoUpdateAnnotationKey]); err != nil || !on {
		return false
	}
	name := obj.GetName()
	if _, ok := obj.(*flowcontrolv1.FlowSchema); ok {
		return !slices.ContainsFunc(schemas, func(s *flowcontrolv1.FlowSchema) bool { return s.Name == name })
	}
	return !slices.ContainsFunc(levels, func(l *flowcontrolv1.PriorityLevelConfiguration) bool { return l.Name == name })
}

// maintained reports whether the server restores an object's spec, and says so in its annotation: always that of a mandatory
// object, and that of another one if the annotation wants it or, without one, if the spec was never changed.
func maintained(obj metav1.Object) bool {
	name := obj.GetName()
	mandatory := name == flowcontrolv1.FlowSchemaNameExempt || name == flowcontrolv1.FlowSchemaNameCatchAll // the levels' names, too
	on, err := strconv.ParseBool(obj.GetAnnotations()[flowcontrolv1.AutoUpdateAnnotationKey])
	want := mandatory || err == nil && on || err != nil && obj.GetGeneration() == 1
	if err != nil || on != want {
		all := obj.GetAnnotations()
		if all == nil {
			all = map[string]string{}
		}
		all[flowcontrolv1.AutoUpdateAnnotationKey] = strconv.FormatBool(want)
		obj.SetAnnotations(all)
	}
	return want
}

func reconcileSchema(have, want *flowcontrolv1.FlowSchema) {
	if maintained(have) {
		have.Spec = want.Spec
	}
}

// reconcileLevel leaves the shares of the exempt level as they are, since users may set them.
func reconcileLevel(have, want *flowcontrolv1.PriorityLevelConfiguration) {
	if !maintained(have) {
		return
	}
	users := have.Spec.Exempt
	if have.Spec = want.Spec; users != nil && want.Spec.Exempt != nil {
		have.Spec.Exempt = users
	}
}
