package controller

import (
	"errors"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
)

// Terminal wraps an error that trying again will not cure, such as an object that makes
// no sense: it is logged and counted, and the key comes back with its next change only.
// Terminal(nil) is nil.
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

// isConflict reports whether an error is a conflict of resource versions that the next try
// cures: somebody else wrote first.
func isConflict(err error) bool { return apierrors.IsConflict(err) && !isTerminal(err) }

// namespaceGoes reports whether an error says that the namespace is being deleted. Nothing
// can be created in it any more, and what is in it is deleted too.
func namespaceGoes(err error) bool {
	return apierrors.HasStatusCause(err, corev1.NamespaceTerminatingCause)
}
