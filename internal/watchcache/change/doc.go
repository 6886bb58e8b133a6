// Package change has the changes of a resource's objects, and the events by which selections see
// them.
//
// A [Change] belongs to the resource: one write of one object. An [Event] belongs to a selection: the
// same change is an addition to one selection, a modification or deletion to another, and invisible
// to the rest. Both are immutable once the change is in the history.
package change
