// Package controller is the run loop of controllers.
//
// A controller has a queue of keys, sources that enqueue keys when objects change, and workers that call one function
// per key until it succeeds. Its declaration names all of them: what it reconciles, owns, watches and only reads, and
// by which mapping an object's event becomes the keys of others:
//
//	sets := controller.ObjectsOf[*appsv1.ReplicaSet](env)
//	pods := controller.ObjectsOf[*corev1.Pod](env)
//	nodes := controller.ObjectsOf[*corev1.Node](env)
//	quotas := controller.ObjectsOf[*corev1.ResourceQuota](env)
//	c := controller.New("replicaset", controller.ByObject(sets, reconcile), controller.Options{}).Watch(
//		controller.For(sets),
//		controller.Owns(pods, "ReplicaSet"),
//		controller.Watches(nodes, setsOnNode).On(controller.Deleted),
//		controller.Reads(quotas),
//	)
//	err := c.Run(ctx)
//
// A controller whose events need more than a mapping, such as Expectations, has Handles as a source: handlers of its
// own, which enqueue by the methods of the Controller. One with several queues is several Controllers in Runners.
//
// A Manager adds the rest of an operator's process: client, informers, events, leader election, health and metrics;
// examples/controller is a complete one on a page. The built-in controllers are in internal/controllers, a package
// each. They share this package, the informers of an Env and the wire; they never import one another.
//
// # Concurrency
//
//  1. Reconcile is called for different keys at once by Options.Workers goroutines, for
//     one key by one at a time.
//  2. No worker starts before the handlers have received every watched informer's first list.
//  3. An event that arrives while its key is being reconciled causes another call.
//  4. When ctx ends, no new call begins; Run returns when the calls in progress have returned.
//     It starts no goroutine but the workers.
//  5. A panic in Reconcile is an error of that key: logged with its stack, counted, and
//     retried.
package controller
