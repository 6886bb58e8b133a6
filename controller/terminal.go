package controller

import "errors"

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
