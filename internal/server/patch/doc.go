// Package patch applies the patches of the Kubernetes API to JSON text: JSON
// patches (RFC 6902), merge patches (RFC 7386) and strategic merge patches,
// which know from the Go type which lists are merged by which key.
//
// The functions are pure and may be called from any goroutine. Errors are
// those a client of kube-apiserver sees: *apierrors.StatusError.
package patch
