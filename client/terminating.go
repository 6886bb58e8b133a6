package client

import (
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
)

// terminatingNamespaces are the namespaces that took no event because they are being deleted. When one
// with thousands of pods goes, each of them has something to tell, which would be asked
// and refused one by one.
type terminatingNamespaces map[string]departure

// departure is of the latest creation of an object that an event was refused about. What was
// created before it is of the namespace that goes, and not of a later one of the same
// name. Both times are the server's; only noted is ours.
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

// expects says whether an event about an object created then would be refused.
func (l terminatingNamespaces) expects(namespace string, created time.Time) bool {
	return !created.IsZero() && created.Before(l[namespace].created)
}

// forget drops what is old.
func (l terminatingNamespaces) forget(now time.Time) {
	for namespace, one := range l {
		if now.Sub(one.noted) > departureKept {
			delete(l, namespace)
		}
	}
}
