// Package client talks to a Kubernetes API server: any of them, over the wire.
//
// A Client holds one server's address and transport. Resources are reached by Go type,
// with nothing generated:
//
//	c, err := client.New(cfg, client.Options{})
//	pods := client.For[*corev1.Pod](c).Namespace("default")
//	pod, err := pods.Get(ctx, "web")
//	for page, err := range pods.Pages(ctx, metav1.ListOptions{Limit: 500}) { ... }
//
// A Resource narrowed by WithoutManagedFields, Heads or Shared decodes less, for who needs
// less. A type of your own works the same way once it is in Options.Scheme. Dynamic gives
// any resource as unstructured objects, Metadata gives only the metadata of any, and
// Client.REST is the layer of plain requests below.
//
// # Objects
//
// Objects that come back always have apiVersion and kind set, in lists and watches
// too. Objects that go out may leave them empty; the argument is never changed.
//
// # Errors
//
// What the server refuses is a *apierrors.StatusError to errors.As, so that
// apierrors.IsNotFound and the like work, and a Reason to errors.Is (ErrNotFound). What
// never reached a server comes back as net/http says it, or as ErrSilent when the server
// or the network has gone without a word. A server that asks to be asked again (429, or 5xx, with
// Retry-After) is asked again a few times after the time it named. A GET whose
// connection broke is repeated too. Nothing else is ever sent twice.
//
// # Concurrency
//
//  1. Client, Resource and REST are safe for use by any number of goroutines.
//  2. A Watch has one reader; Stop may be called from anywhere.
//  3. The package starts no goroutine, but the one of each Recorder.
//  4. There is no rate limit, unless the rest.Config brings a RateLimiter.
package client
