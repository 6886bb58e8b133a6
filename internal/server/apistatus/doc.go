// Package apistatus makes the errors that clients see: metav1.Status objects with the code,
// the reason and the words of kube-apiserver.
//
// [Of] turns any error of a request, those of storage and of the watch cache among them,
// into a Status.
package apistatus
