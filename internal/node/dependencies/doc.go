// Package dependencies finds the objects of the API that a pod needs before its containers can run: config maps and
// secrets for their environment and volumes, bound claims, CSI drivers and their attachments, trust bundles. Its
// errors are a kubelet's. Callers pass the objects; the package has no client.
//
//	for _, key := range dependencies.Of(pod, find) { ... }   // the objects to watch
//	failures := dependencies.Volumes(pod, find)              // why volumes cannot be mounted
//	env, err := dependencies.Env(pod, &container, find)      // the environment of a container, or its configuration error
//
// The volume with its token that a server gives every pod counts as there: with it each
// node would watch the root certificates of each namespace. Secrets by which images are pulled
// are ignored, since nodes do not pull images.
package dependencies
