// Package topic hands the changes of one resource to its watchers.
//
// Watchers of equal selections share a [Topic]: a log of the events of that selection. A topic is
// found by one look-up of its base, so a change meets only the topics that it may concern. A [Reader]
// is a position in the log of its topic and a bell. A [Set] holds the topics of one resource, and a
// [Queue] those whose bells are to be rung, of all resources.
//
// # Concurrency
//
// A set, its topics and the positions of its readers are guarded by the lock of the set's owner; the
// queue by a lock that all owners of its sets hold when they change topics. Only [Topic.Ring] is
// called without either: it takes the lock of the topic's bells, which is the last in order.
package topic
