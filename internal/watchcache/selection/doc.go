// Package selection compiles the selectors of lists and watches.
//
// A [Selection] is what a reader asks for; Compile splits it into a [Base], by which objects and
// topics are looked up, and a [Filter], which is evaluated on each object that the base yields. Two
// selections with equal bases and equal filters select the same objects. All types but [Matcher],
// which belongs to one goroutine when it is walked with Ends, are immutable.
package selection
