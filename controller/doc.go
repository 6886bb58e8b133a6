// Package controller is the run loop of controllers.
//
// A controller has a queue of keys, handlers that enqueue keys when objects change, and workers that call one
// function per key until it succeeds:
//
//	pods := informer.For[*corev1.Pod](env.Informers)
//	sets := informer.For[*appsv1.ReplicaSet](env.Informers)
//	c := controller.New("replicaset", reconcile, controller.Options{})
//	controller.Watch(c, sets, controller.Self)
//	controller.Watch(c, pods, controller.ControllerOf[*corev1.Pod]("ReplicaSet"))
//	err := c.Run(ctx)
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
