package client

import (
	"context"

	"k8s.io/apimachinery/pkg/runtime/schema"
)

// Written is an object as a server stored it.
type Written struct {
	Host     string // of the server, with its port
	Resource schema.GroupResource
	Object   Object
}

type wroteKey struct{}

// WithWriteObserver returns a context whose creates, updates and patches of objects, and of
// subresources whose answer is the object, call wrote before they return. wrote is called
// from any goroutine that writes, and must not keep or change the object. Package
// controller learns from it which revisions a reconcile has made. Of two in one context
// the inner one is called.
func WithWriteObserver(ctx context.Context, wrote func(Written)) context.Context {
	return context.WithValue(ctx, wroteKey{}, wrote)
}
