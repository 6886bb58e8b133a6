// Package controller is the loop that everything which reconciles runs in.
//
// A controller has a queue of keys, handlers that put keys there when something
// changes, and workers that call one function per key until it succeeds:
//
//	pods := informer.For[*corev1.Pod](env.Informers)
//	sets := informer.For[*appsv1.ReplicaSet](env.Informers)
//	c := controller.New("replicaset", reconcile, controller.Options{})
//	controller.Watch(c, sets, controller.Self)
//	controller.Watch(c, pods, controller.ControllerOf[*corev1.Pod]("ReplicaSet"))
//	err := c.Run(ctx)
//
// A Manager is what a process of one's own has around its controllers: client, informers,
// events, leader election, health and metrics; examples/controller is a whole one on a page.
// The built-in controllers live in the folders below, one each. They share this package,
// the informers of an Env and the wire; they never import one another.
//
// # Concurrency
//
//  1. Reconcile is called for different keys at once by Options.Workers goroutines, for
//     one key by one at a time.
//  2. No worker starts before every watched informer has told its first list.
//  3. A change told while a key is being reconciled leads to another call of it.
//  4. When ctx ends no new call begins; Run returns when those under way have returned.
//     It starts no goroutine but the workers.
//  5. A panic in Reconcile is an error of that key: logged with its stack, counted, and
//     retried.
package controller
