// Package clients shows that programs which people use against Kubernetes work against
// a Fairlead server unchanged: Helm, so far, through its SDK. It is a module of its own,
// since such programs bring hundreds of packages with them.
package clients
