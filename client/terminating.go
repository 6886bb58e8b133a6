package client

import (
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
)

// terminatingNamespaces are the namespaces in which an event was refused because they are
// being deleted. In a terminating namespace with thousands of pods each has events, which
// would otherwise be sent and refused one by one.
type terminatingNamespaces map[string]departure

// departure has the latest creation time of an object whose event was refused. Objects
// created before it belong to the terminating namespace, not to a later one of the same
// name. created is the server's time; noted is this process's.
type departure struct {
	created time.Time
	noted   time.Time
}

// departureKept is for how long one is remembered.
const departureKept = 10 * time.Minute

// note remembers an answer if it is such a refusal.
func (l terminatingNamespaces) note(namespace string, created time.Time, err error, now time.Time) {
	if apierrors.HasStatusCause(err, corev1.NamespaceTerminatingCause) && created.After(l[namespace].created) {
		l[namespace] = departure{created, now}
	}
}

// expects reports whether an event about an object created then would be refused.
func (l terminatingNamespaces) expects(namespace string, created time.Time) bool {
	return !created.IsZero() && created.Before(l[namespace].created)
}

// forget drops old entries.
func (l terminatingNamespaces) forget(now time.Time) {
	for namespace, one := range l {
		if now.Sub(one.noted) > departureKept {
			delete(l, namespace)
		}
	}
}
