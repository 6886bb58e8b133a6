// Package index finds the objects with one value of a field or label without a scan.
//
// An [Index] is ordered by value and key, and is made by the misses of lists, which a [Set] counts:
// small resources and labels that are rarely selected are not indexed. A copy costs no more than the
// changes after it, and may be read by any goroutine.
package index
