// Package objectcache follows the API objects that the pods of a node use, as a kubelet's managers of config maps
// and secrets do: one watch for each object, by its name, from the first pod that uses the object to the last.
// Claims and the objects behind them are followed until their pod has started.
//
//	errors, known := cache.Check(ctx, &use, pod)   // Options.Changed is called when an object has been read or has changed
//	env := cache.Env(&use, pod, &container)
//	cache.Release(&use, pod)                       // the pod has ended, or is gone
//
// # Concurrency
//
//  1. A Cache is safe for concurrent use, and so is a Use together with its Cache.
//  2. Options.Changed is called under the lock of the cache: it must not call the cache.
//  3. One goroutine for each object; it ends with the object's last user or with the context of the Check that
//     began it. Options.Watches counts them.
package objectcache
