package controller

import (
	"errors"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
)

// Terminal wraps an error that a retry cannot cure, such as an invalid object: it is logged and counted, and the
// key returns only with its next event. Terminal(nil) is nil.
func Terminal(err error) error {
	if err == nil {
		return nil
	}
	return terminal{err}
}

type terminal struct{ error }

func (t terminal) Unwrap() error { return t.error }

func isTerminal(err error) bool {
	var t terminal
	return errors.As(err, &t)
}

// isConflict reports whether an error is a conflict of resource versions, which a retry cures.
func isConflict(err error) bool { return apierrors.IsConflict(err) && !isTerminal(err) }

// namespaceGoes reports whether an error is caused by a terminating namespace. Objects can no longer be created in
// it, and its objects are deleted too.
func namespaceGoes(err error) bool {
	return apierrors.HasStatusCause(err, corev1.NamespaceTerminatingCause)
}
