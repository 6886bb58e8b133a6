package controller

import (
	"context"
	"log/slog"

	"fairlead.dev/client"
	"fairlead.dev/informer"
	"fairlead.dev/trace"
)

// Env holds the dependencies of a process's controllers. A Manager has one.
type Env struct {
	Client    *client.Client
	Informers *informer.Set
	Recorder  *client.Recorder
	Log       *slog.Logger
}

// Objects are the objects of a type as a controller uses them: it reads the informer's Store and writes through API.
type Objects[T client.Object] struct {
	*informer.Informer[T]
	API client.Resource[T]
}

// ObjectsOf returns the objects of a type, with the informer that all controllers of the Env share.
func ObjectsOf[T client.Object](e Env) Objects[T] {
	return Objects[T]{informer.For[T](e.Informers), client.For[T](e.Client)}
}

// Informed is an informer, or a type that embeds one, such as Objects.
type Informed[T client.Object] interface {
	Store() *informer.Store[T]
	Handle(informer.Handler[T]) *informer.Registration
	HasWrite(client.Written) bool
	Trace() *trace.Log
}

// ByObject returns a Reconcile that gets the key's object from the store and calls r with it; the object is shared
// and must not be changed. If it does not exist, the call succeeds after calling gone, if given, with the key.
func ByObject[T client.Object](from Informed[T], r func(context.Context, T) (Result, error), gone ...func(Key)) Reconcile {
	return func(ctx context.Context, k Key) (Result, error) {
		if obj, ok := from.Store().Get(k.Namespace, k.Name); ok {
			return r(ctx, obj)
		}
		for _, forget := range gone {
			forget(k)
		}
		return Result{}, nil
	}
}
