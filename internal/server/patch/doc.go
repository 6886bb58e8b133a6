// Package patch applies the patches of the Kubernetes API to JSON text: JSON patches (RFC 6902), merge patches (RFC
// 7386) and strategic merge patches, which take the merge keys of lists from the Go type.
//
// The functions are pure and may be called from any goroutine. Errors are *apierrors.StatusError, worded as by
// kube-apiserver.
package patch
