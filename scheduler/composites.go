package scheduler

import (
	"fmt"
	"slices"
	"time"

	schedulingv1alpha3 "k8s.io/api/scheduling/v1alpha3"
	"k8s.io/apimachinery/pkg/types"

	"fairlead.dev/internal/scheduler/queue"
)

// composite is a group of groups that exists, or that groups name as their parent.
type composite struct {
	object   *schedulingv1alpha3.CompositePodGroup // nil: it does not exist
	children map[queue.GroupKey]struct{}           // the groups that exist and name it
}

// change changes the model, with mu held.
func (g *podGroups) change(do func()) {
	g.mu.Lock()
	defer g.mu.Unlock()
	do()
}

// link makes a group a child of its parent, if it has one.
func (g *podGroups) link(child queue.GroupKey, parent *string) {
	if g.composites == nil || parent == nil {
		return
	}
	key := types.NamespacedName{Namespace: child.Namespace, Name: *parent}
	if g.composites[key] == nil {
		g.composites[key] = &composite{children: map[queue.GroupKey]struct{}{}}
	}
	g.composites[key].children[child] = struct{}{}
}

// unlink reverts link.
func (g *podGroups) unlink(child queue.GroupKey, parent *string) {
	if g.composites == nil || parent == nil {
		return
	}
	key := types.NamespacedName{Namespace: child.Namespace, Name: *parent}
	if c := g.composites[key]; c != nil {
		delete(c.children, child)
		g.releaseComposite(key, c)
	}
}

// releaseComposite drops a group of groups that does not exist and that no group names.
func (g *podGroups) releaseComposite(key types.NamespacedName, c *composite) {
	if c.object == nil && len(c.children) == 0 {
		delete(g.composites, key)
	}
}

// ancestors returns the groups that a pod group is in, the root last. If one is missing, or is in itself, gap names it.
func (g *podGroups) ancestors(group types.NamespacedName) (up []*composite, gap string) {
	one := g.byKey[group]
	if g.composites == nil || one == nil || one.object == nil {
		return nil, ""
	}
	for parent := one.object.Spec.ParentCompositePodGroupName; parent != nil; {
		c := g.composites[types.NamespacedName{Namespace: group.Namespace, Name: *parent}]
		switch {
		case c == nil || c.object == nil:
			return up, fmt.Sprintf("waiting for composite pod group %q to appear in scheduling queue", *parent)
		case slices.Contains(up, c):
			return up, fmt.Sprintf("cycle detected in composite pod group hierarchy: %q is a parent of itself", *parent)
		}
		up, parent = append(up, c), c.object.Spec.ParentCompositePodGroupName
	}
	return up, ""
}

// rootOf returns the root of a pod group's hierarchy, or the group itself. A group whose hierarchy has a gap is held by itself.
func (g *podGroups) rootOf(group types.NamespacedName) queue.GroupKey {
	up, gap := g.ancestors(group)
	if gap != "" || len(up) == 0 {
		return queue.GroupKey{NamespacedName: group}
	}
	root := up[len(up)-1].object
	return queue.GroupKey{NamespacedName: types.NamespacedName{Namespace: root.Namespace, Name: root.Name}, Composite: true}
}

// complete reports whether enough pods and groups of a hierarchy are there for it to be tried.
func (g *podGroups) complete(key queue.GroupKey) bool {
	if !key.Composite {
		one := g.byKey[key.NamespacedName]
		return one != nil && one.object != nil && len(one.pods) >= one.minCount()
	}
	c := g.composites[key.NamespacedName]
	if c == nil || c.object == nil {
		return false
	}
	n := 0
	for child := range c.children {
		if g.complete(child) {
			n++
		}
	}
	return n >= c.minCount()
}

// minCount returns how many of the groups have to be placed together.
func (c *composite) minCount() int {
	if gang := c.object.Spec.SchedulingPolicy.Gang; gang != nil {
		return int(gang.MinGroupCount)
	}
	return 1
}

// priority returns the priority of the group.
func (c *composite) priority() int32 {
	if p := c.object.Spec.Priority; p != nil {
		return *p
	}
	return 0
}

// below calls do for the pod groups that exist in a group of groups.
func (g *podGroups) below(c *composite, seen map[*composite]bool, do func(types.NamespacedName)) {
	if seen[c] {
		return // a cycle
	}
	seen[c] = true
	for child := range c.children {
		if !child.Composite {
			do(child.NamespacedName)
		} else if in := g.composites[child.NamespacedName]; in != nil {
			g.below(in, seen, do)
		}
	}
}

// setComposite stores a version of a group of groups, whose spec cannot change.
func (s *loop) setComposite(o *schedulingv1alpha3.CompositePodGroup) {
	key := types.NamespacedName{Namespace: o.Namespace, Name: o.Name}
	c := s.groups.composites[key]
	if c != nil && c.object != nil && c.object.UID == o.UID {
		s.groups.change(func() { c.object = o })
		return
	}
	if c != nil && c.object != nil {
		s.removeComposite(c.object)
	}
	if c = s.groups.composites[key]; c == nil {
		c = &composite{children: map[queue.GroupKey]struct{}{}}
		s.groups.change(func() { s.groups.composites[key] = c })
	}
	s.moveGroups(c, "CompositePodGroupAdd", func() {
		c.object = o
		s.groups.link(queue.GroupKey{NamespacedName: key, Composite: true}, o.Spec.ParentCompositePodGroupName)
	})
}

// removeComposite forgets a group of groups. The pods in it wait for another one of its name.
func (s *loop) removeComposite(o *schedulingv1alpha3.CompositePodGroup) {
	key := types.NamespacedName{Namespace: o.Namespace, Name: o.Name}
	c := s.groups.composites[key]
	if c == nil {
		return
	}
	s.moveGroups(c, "CompositePodGroupDelete", func() {
		s.groups.unlink(queue.GroupKey{NamespacedName: key, Composite: true}, o.Spec.ParentCompositePodGroupName)
		c.object = nil
		s.groups.releaseComposite(key, c)
	})
}

// moveGroups makes a change of the hierarchy, and moves the waiting pods below c to the roots that they have then.
func (s *loop) moveGroups(c *composite, event string, change func()) {
	before, after := map[queue.GroupKey]struct{}{}, map[queue.GroupKey]struct{}{}
	s.groups.below(c, map[*composite]bool{}, func(group types.NamespacedName) { before[s.groups.rootOf(group)] = struct{}{} })
	s.groups.change(change)
	s.groups.below(c, map[*composite]bool{}, func(group types.NamespacedName) { after[s.groups.rootOf(group)] = struct{}{} })
	now := time.Now()
	for key := range before {
		s.queue.Rehome(key, now)
		s.hold(key)
	}
	for key := range after {
		s.queue.WakeGroup(key, event, now)
		s.hold(key)
	}
}
