// Package alike finds parts of objects that came lately, by the bytes that they were
// decoded from, so that a decoder makes them once.
//
// [Texts] are strings: a pod's labels, images and conditions are mostly those of the pod
// before it. [Values] are what pointers, slices and maps of a struct's fields lead to,
// for objects that nobody will change: bytes that are equal are decoded once, and all
// objects that had them point to the one result.
//
// Most fields of most objects have values that come again (tolerations, resources, owner
// references), and a few never (the list of volumes, one of which is named after the
// pod). To ask for those costs more than it gives, so a field whose values hardly come
// again is passed by for a while and then tried again.
//
// A value is kept when it comes the second time: the first object has it to itself, and
// what comes once, as much of every object does, is not kept at all. The texts that come once
// stand in memory one after the other, for objects that were made together.
//
// What is kept is bounded: of texts by their number and length, of values by their number,
// which grows with the number of objects, and by the length of the bytes.
//
// # Concurrency
//
// Nothing here is safe for concurrent use. Nothing of the bytes given is kept.
package alike
