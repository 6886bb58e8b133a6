// Package client talks to any Kubernetes API server.
//
// A Client holds one server's address and transport. Resources are reached by Go type,
// without generated code:
//
//	c, err := client.New(cfg, client.Options{})
//	pods := client.For[*corev1.Pod](c).Namespace("default")
//	pod, err := pods.Get(ctx, "web")
//	for page, err := range pods.Pages(ctx, metav1.ListOptions{Limit: 500}) { ... }
//
// A Resource narrowed by WithoutManagedFields, MetadataOnly or Interned decodes less. Your
// own types work the same way once they are in Options.Scheme. Dynamic gives any resource
// as unstructured objects, Metadata only the metadata of any resource, and Client.REST
// sends plain requests.
//
// # Objects
//
// Returned objects always have apiVersion and kind set, in lists and watches too. In
// objects that are sent they may be empty; arguments are never changed.
//
// # Errors
//
// A server's error is a *apierrors.StatusError for errors.As, so that apierrors.IsNotFound
// and the like work, and a Reason for errors.Is (ErrNotFound). If no response arrived, the
// error is net/http's, or ErrSilent if no data arrived in time.
// After 429, or 5xx with Retry-After, the request is repeated a few times at the time that
// the server asks for. A GET whose connection broke is repeated too. No other request is
// ever sent twice.
//
// # Concurrency
//
//  1. Client, Resource and REST are safe for use by any number of goroutines.
//  2. A Watch has one reader; Stop may be called from anywhere.
//  3. The package starts no goroutine, except one for each Recorder.
//  4. There is no rate limit, unless the rest.Config has a RateLimiter.
package client
