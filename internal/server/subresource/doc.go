// Package subresource serves creates whose objects are not stored: the subresources of pods that
// change or delete the pod ([Pods]), reviews, and subresources that the server is configured
// with.
package subresource
