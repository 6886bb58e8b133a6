// Package needs says what a pod needs of the API before its containers can run: config maps and
// secrets for their environment and their volumes, claims that are bound, CSI drivers and what they attach, trust bundles. It says so in the words
// of a kubelet, and of what it is told of these objects; it reads nothing itself.
//
//	for _, key := range needs.Of(pod, find) { ... }   // what to watch
//	failures := needs.Volumes(pod, find)              // what keeps the pod from being set up
//	env, err := needs.Env(pod, &container, find)      // what a container runs with, or why not
//
// The volume with its token that a server gives every pod counts as there: with it each
// node would watch the root certificates of each namespace. Secrets by which images are pulled
// are not looked at, for nothing is pulled.
package needs
