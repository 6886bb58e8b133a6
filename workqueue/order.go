package workqueue

import (
	"cmp"
	"slices"
)

// order is the keys that are ready: priorities, highest first; in each the groups, in
// turn; in each group the keys, oldest first.
type order struct {
	levels []*level // by falling priority; some may be empty
	last   *level   // the one asked for last
	n      int
}

// level is the keys of one priority. The lanes that have keys stand in a ring.
type level struct {
	priority int32
	n        int
	turn     *lane            // whose turn it is; nil without keys
	lanes    map[string]*lane // those in the ring, by group
	plain    lane             // the lane of the group "", which is all there is without groups
}

// lane is the keys of one group at one priority, a list through their entries.
type lane struct {
	level       *level
	group       string
	first, last int32
	prev, next  *lane // in the ring
}

// spare is how many empty levels are kept for the next key of their priority.
const spare = 8

// lane returns where a ready key stands, or belongs; q.mu is held.
func (q *Queue[K]) lane(x *entry[K]) *lane {
	group := ""
	if q.o.Group != nil {
		group = q.o.Group(x.key)
	}
	return q.mu.order.level(x.priority).lane(group)
}

// append puts the key at i at the end of its lane; q.mu is held.
func (q *Queue[K]) append(i int32) {
	x := q.mu.keys.at(i)
	l := q.lane(x)
	x.before, x.after = l.last, 0
	if l.last == 0 {
		l.first = i
		l.level.addLane(l)
	} else {
		q.mu.keys.at(l.last).after = i
	}
	l.last = i
	l.level.n++
	q.mu.order.n++
}

// remove takes the ready key at i out of its lane; q.mu is held.
func (q *Queue[K]) remove(l *lane, i int32) {
	x := q.mu.keys.at(i)
	if x.before == 0 {
		l.first = x.after
	} else {
		q.mu.keys.at(x.before).after = x.after
	}
	if x.after == 0 {
		l.last = x.before
	} else {
		q.mu.keys.at(x.after).before = x.before
	}
	l.level.n--
	q.mu.order.n--
	if l.first == 0 {
		l.level.removeLane(l)
	}
}

// pop takes the key whose turn it is; there is one, and q.mu is held.
func (q *Queue[K]) pop() int32 {
	for _, v := range q.mu.order.levels {
		if v.n == 0 {
			continue
		}
		l := v.turn
		i := l.first
		v.turn = l.next // itself if it is alone
		q.remove(l, i)
		return i
	}
	panic("workqueue: a count of ready keys without keys")
}

// level returns the keys of a priority.
func (o *order) level(priority int32) *level {
	if o.last == nil || o.last.priority != priority {
		o.last = o.search(priority)
	}
	return o.last
}

func (o *order) search(priority int32) *level {
	byFalling := func(v *level, p int32) int { return cmp.Compare(p, v.priority) }
	at, found := slices.BinarySearchFunc(o.levels, priority, byFalling)
	if found {
		return o.levels[at]
	}
	if len(o.levels) >= spare {
		o.levels = slices.DeleteFunc(o.levels, func(v *level) bool { return v.n == 0 })
		at, _ = slices.BinarySearchFunc(o.levels, priority, byFalling)
	}
	v := &level{priority: priority}
	v.plain.level = v
	o.levels = slices.Insert(o.levels, at, v)
	return v
}

// lane returns the lane of a group, which is in the ring if it has keys.
func (v *level) lane(group string) *lane {
	if group == "" {
		return &v.plain
	}
	l := v.lanes[group]
	if l == nil {
		if v.lanes == nil {
			v.lanes = map[string]*lane{}
		}
		l = &lane{level: v, group: group}
		v.lanes[group] = l
	}
	return l
}

// addLane puts a lane into the last place of the ring.
func (v *level) addLane(l *lane) {
	if v.turn == nil {
		v.turn, l.prev, l.next = l, l, l
		return
	}
	l.prev, l.next = v.turn.prev, v.turn
	l.prev.next, l.next.prev = l, l
}

// removeLane takes an empty lane out of the ring.
func (v *level) removeLane(l *lane) {
	if l.next == l {
		v.turn = nil
	} else {
		l.prev.next, l.next.prev = l.next, l.prev
		if v.turn == l {
			v.turn = l.next
		}
	}
	l.prev, l.next = nil, nil
	if l != &v.plain {
		delete(v.lanes, l.group)
	}
}
