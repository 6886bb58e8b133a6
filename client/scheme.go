package client

import (
	"fairlead.dev/internal/kinds"
	"k8s.io/apimachinery/pkg/runtime"
)

// Scheme knows every generally available kind of k8s.io/api. It must not be changed;
// for types of your own, call AddToScheme and theirs on a new scheme.
var Scheme = func() *runtime.Scheme {
	s := runtime.NewScheme()
	if err := AddToScheme(s); err != nil {
		panic(err)
	}
	return s
}()

// AddToScheme registers Scheme's types in s.
func AddToScheme(s *runtime.Scheme) error { return kinds.AddToScheme(s) }
