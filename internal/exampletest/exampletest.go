// Package exampletest gives an Example the testing.TB that a test has as its parameter.
package exampletest

import (
	"context"
	"fmt"
	"os"
	"slices"
	"testing"
)

// tb has the methods of testing.TB that helpers such as testenv.New use; the others panic.
type tb struct {
	testing.TB
	ctx      context.Context
	cleanups []func()
}

// New returns a TB and the function that ends it: it ends the context, and then runs the cleanups, last first. A
// failure panics.
func New() (t testing.TB, end func()) {
	ctx, cancel := context.WithCancel(context.Background())
	x := &tb{ctx: ctx}
	return x, func() {
		cancel()
		for _, f := range slices.Backward(x.cleanups) {
			f()
		}
	}
}

func (t *tb) Helper()                  {}
func (t *tb) Context() context.Context { return t.ctx }
func (t *tb) Cleanup(f func())         { t.cleanups = append(t.cleanups, f) }
func (t *tb) Failed() bool             { return false }
func (t *tb) Error(args ...any)        { panic(fmt.Sprint(args...)) }
func (t *tb) Fatal(args ...any)        { panic(fmt.Sprint(args...)) }

func (t *tb) Errorf(format string, args ...any) { panic(fmt.Sprintf(format, args...)) }
func (t *tb) Fatalf(format string, args ...any) { panic(fmt.Sprintf(format, args...)) }

func (t *tb) TempDir() string {
	dir, err := os.MkdirTemp("", "example")
	if err != nil {
		panic(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	return dir
}
