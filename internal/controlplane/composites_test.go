package controlplane_test

import (
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	eventsv1 "k8s.io/api/events/v1"
	schedulingv1alpha3 "k8s.io/api/scheduling/v1alpha3"
	schedulingv1beta1 "k8s.io/api/scheduling/v1beta1"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// TestCompositeScenarios plays situations of groups of groups.
func TestCompositeScenarios(t *testing.T) { playAll(t, compositeScenarios, "CompositePodGroup") }

var compositeScenarios = []string{`
all groups of a composite gang run together
	node n 4
	composite root 2
	group a 1 parent=root
	group b 2 parent=root
	pod a1 group=a
	pod b1 group=b
	waits a1 b1
	pod b2 group=b
	scheduled a1 b1 b2
	condition a True
	condition b True
`, `
a composite gang waits for its composite
	node n 4
	group a 1 parent=root
	group b 1 parent=root
	pod a1 group=a
	pod b1 group=b
	waits a1 b1
	composite root 2
	scheduled a1 b1
`, `
a composite gang waits for the group in its middle
	node n 4
	composite root 1
	group a 1 parent=middle
	pod a1 group=a
	waits a1
	composite middle basic parent=root
	scheduled a1
`, `
a composite gang that does not fit takes no room
	node n 4
	composite root 2
	group a 2 parent=root
	group b 3 parent=root
	pod a1 group=a
	pod a2 group=a
	pod b1 group=b
	pod b2 group=b
	pod b3 group=b
	unschedulable a1 a2 b1 b2 b3
	condition a False minCount (2) cannot be satisfied: 1 scheduled, 0 remaining
	condition b False minCount (3) cannot be satisfied: 2 scheduled, 0 remaining
	pod plain cpu=4
	scheduled plain
`, `
a composite gang needs only some of its groups
	node n 4
	composite root 1
	group a 2 parent=root
	group b 3 parent=root
	pod a1 group=a
	pod a2 group=a
	pod b1 group=b
	pod b2 group=b
	pod b3 group=b
	scheduled a1 a2
	unschedulable b1 b2 b3
	condition a True
	condition b False minCount (3) cannot be satisfied: 2 scheduled, 0 remaining
	delete a1
	scheduled b1 b2 b3
`, `
groups of a basic composite run apart from each other
	node n 4
	composite root basic
	group a 1 parent=root
	group b 5 parent=root
	pod a1 group=a
	scheduled a1
	pod b1 group=b
	unschedulable b1
	condition b False pod group is unschedulable, minCount (5) cannot be satisfied: 0 scheduled, 1 remaining
`, `
a composite and a group of one name
	node n 4
	composite a 2
	group a 1
	group b 1 parent=a
	group c 1 parent=a
	pod a1 group=a
	pod b1 group=b
	scheduled a1
	waits b1
	pod c1 group=c
	scheduled b1 c1
`, `
levels
	node n 3
	composite root 2
	composite left 2 parent=root
	composite right 1 parent=root
	group a 1 parent=left
	group b 1 parent=left
	group c 1 parent=right
	group d 1 parent=right
	pod a1 group=a
	pod c1 group=c
	pod d1 group=d cpu=2
	waits a1 c1 d1
	pod b1 group=b
	scheduled a1 b1 c1
	unschedulable d1
`, `
a gap in the hierarchy holds nobody else up
	node n 4
	composite one basic parent=two
	composite two basic parent=one
	group a 1 parent=one
	group b 1 parent=nowhere
	pod a1 group=a
	pod b1 group=b
	pod plain
	scheduled plain
	waits a1 b1
	event a1 cycle detected in composite pod group hierarchy: "one" is a parent of itself
	event b1 waiting for composite pod group "nowhere" to appear in scheduling queue
`, `
a composite gang runs in one rack
	node n1 2 rack=r1
	node n2 2 rack=r1
	node n3 2 rack=r2
	node n4 1 rack=r2
	composite root 2 topology=rack
	group a 2 parent=root topology=kubernetes.io/hostname
	group b 2 parent=root topology=kubernetes.io/hostname
	pod a1 group=a
	pod a2 group=a
	pod b1 group=b
	pod b2 group=b
	scheduled a1 a2 b1 b2
	together kubernetes.io/hostname a1 a2
	together kubernetes.io/hostname b1 b2
	together rack a1 a2 b1 b2
`, `
no rack has room for a composite gang
	node n1 1 rack=r1
	node n2 1 rack=r2
	composite root 2 topology=rack
	group a 1 parent=root
	group b 1 parent=root
	pod a1 group=a
	pod b1 group=b
	unschedulable a1 b1
	condition a False pod group is unschedulable, 0/2 placements are available, first placement status: minCount (2) cannot be satisfied: 1 scheduled, 0 remaining
	node n3 1 rack=r2
	scheduled a1 b1
	on n2,n3 a1 b1
`, `
a composite gang preempts
	node n 4
	pod low prio=1 cpu=3
	scheduled low
	composite root 2 prio=100
	group a 1 parent=root prio=100
	group b 1 parent=root prio=100
	pod a1 group=a prio=100 cpu=2
	pod b1 group=b prio=100 cpu=2
	removed low
	scheduled a1 b1
`, `
a composite group is preempted as a whole
	node n1 2
	node n2 2
	composite root 2 prio=1 all
	group a 1 parent=root prio=1
	group b 1 parent=root prio=1
	pod a1 group=a prio=1 cpu=2
	pod b1 group=b prio=1 cpu=2
	scheduled a1 b1
	group high 1 prio=100
	pod high1 group=high prio=100
	removed a1
	removed b1
	scheduled high1
`, `
a group of another priority than its root is an error
	node n 4
	composite root 1 prio=100
	group a 1 parent=root prio=1
	pod a1 group=a prio=1
	condition a False all pods in a single pod group should have the same priority as the pod group's priority, got 1 and 100
`}

func (p *player) composite(name, kind string, o map[string]string) {
	p.Helper()
	c := &schedulingv1alpha3.CompositePodGroup{ObjectMeta: metav1.ObjectMeta{Name: name}}
	c.Spec.WorkloadRef = &schedulingv1alpha3.WorkloadReference{WorkloadName: "w", TemplateName: "t"}
	c.Spec.PriorityClassName = p.priority(o["prio"], corev1.PreemptLowerPriority)
	if kind == "basic" {
		c.Spec.SchedulingPolicy.Basic = &schedulingv1alpha3.CompositeBasicSchedulingPolicy{}
	} else {
		c.Spec.SchedulingPolicy.Gang = &schedulingv1alpha3.CompositeGangSchedulingPolicy{MinGroupCount: int32(p.number(kind))}
	}
	if parent := o["parent"]; parent != "" {
		c.Spec.ParentCompositePodGroupName = &parent
	}
	if key := o["topology"]; key != "" {
		c.Spec.SchedulingConstraints = &schedulingv1alpha3.CompositePodGroupSchedulingConstraints{Topology: []schedulingv1alpha3.TopologyConstraint{{Key: key}}}
	}
	if _, all := o["all"]; all {
		c.Spec.DisruptionMode = &schedulingv1alpha3.CompositeDisruptionMode{All: &schedulingv1alpha3.AllCompositeDisruptionMode{}}
	}
	_, err := p.SchedulingV1alpha3().CompositePodGroups("default").Create(p.ctx, c, metav1.CreateOptions{})
	p.must(err)
}

// condition waits for a condition of a group whose message begins with a text.
func (p *player) condition(name string, status metav1.ConditionStatus, text string) {
	p.Helper()
	w, err := p.SchedulingV1beta1().PodGroups("default").Watch(p.ctx, metav1.ListOptions{FieldSelector: "metadata.name=" + name})
	p.must(err)
	defer w.Stop()
	var last *metav1.Condition
	for e := range w.ResultChan() {
		if g, ok := e.Object.(*schedulingv1beta1.PodGroup); ok {
			last = apimeta.FindStatusCondition(g.Status.Conditions, schedulingv1beta1.PodGroupInitiallyScheduled)
			if last != nil && last.Status == status && strings.HasPrefix(last.Message, text) {
				return
			}
		}
	}
	p.Fatalf("the group %s never has the condition %s %q: %+v", name, status, text, last)
}

// event waits for an event of a pod that has a text.
func (p *player) event(pod, text string) {
	p.Helper()
	w, err := p.EventsV1().Events("default").Watch(p.ctx, metav1.ListOptions{FieldSelector: "regarding.name=" + pod})
	p.must(err)
	defer w.Stop()
	for e := range w.ResultChan() {
		if note := noteOf(e.Object); strings.Contains(note, text) {
			return
		}
	}
	p.Fatalf("the pod %s has no event %q", pod, text)
}

func noteOf(o any) string {
	if e, ok := o.(*eventsv1.Event); ok {
		return e.Note
	}
	return ""
}
