package testenv

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// T is the part of testing.TB that an environment uses. Ginkgo's GinkgoT() and GinkgoTB() have it too.
type T interface {
	Helper()
	Failed() bool
	Cleanup(func())
	Logf(format string, args ...any)
	Errorf(format string, args ...any)
	Fatalf(format string, args ...any)
}

// Eventually waits until cond returns nil. It calls cond at once, and then after each change in the server. A condition
// may read a cache that lags behind the server, or state elsewhere; so cond is also called after a pause without a
// change, from 5 ms on and at least once a second. If the time of Options.Timeout is up, or the control plane has ended,
// the test fails with cond's last error, after the report that the package's documentation describes. The argument
// completes the sentence "waiting for ...". The context of cond ends with the wait.
func (e *Env) Eventually(t T, what string, cond func(ctx context.Context) error) {
	t.Helper()
	e.attach(t)
	ctx, cancel := context.WithTimeout(context.Background(), e.timeout)
	defer cancel()
	changed, err := e.changes(ctx)
	if err != nil {
		e.fatal(t, what, err)
	}
	var last error
	for pause := firstPause; ; {
		if err := cond(ctx); err == nil {
			return
		} else if last == nil || ctx.Err() == nil {
			last = err
		}
		quiet, stop := context.WithTimeout(ctx, pause)
		select {
		case <-changed:
			pause = firstPause
		case <-quiet.Done():
			pause = min(2*pause, maxPause)
		case <-e.ended:
		}
		stop()
		if ctx.Err() != nil || e.hasEnded() {
			e.fatal(t, what, last)
		}
	}
}

// WaitFor waits until condition reports true. It fills obj, a pointer to a typed or unstructured object that has a name
// and, if its kind is namespaced, a namespace, with each state of the object in the server, and then calls condition;
// it does not call it while the object does not exist. The test fails as in Eventually.
func (e *Env) WaitFor(t T, obj metav1.Object, condition func() bool) {
	t.Helper()
	e.waitFor(t, obj, func(data []byte) (bool, error) {
		if data == nil {
			return false, nil
		}
		v := reflect.ValueOf(obj).Elem()
		v.Set(reflect.Zero(v.Type())) // fields that the object no longer has must not stay
		if err := json.Unmarshal(data, obj); err != nil {
			return false, err
		}
		return condition(), nil
	})
}

// WaitGone waits until the object, of which obj has the type, the namespace and the name, does not exist. The test fails
// as in Eventually.
func (e *Env) WaitGone(t T, obj metav1.Object) {
	t.Helper()
	e.waitFor(t, obj, func(data []byte) (bool, error) { return data == nil, nil })
}

func (e *Env) waitFor(t T, obj metav1.Object, done func(data []byte) (bool, error)) {
	t.Helper()
	e.attach(t)
	ctx, cancel := context.WithTimeout(context.Background(), e.timeout)
	defer cancel()
	go func() { // no request is answered after the end
		select {
		case <-e.ended:
			cancel()
		case <-ctx.Done():
		}
	}()
	s, err := e.subjectOf(ctx, obj)
	if err != nil {
		e.fatal(t, fmt.Sprintf("%T %q", obj, obj.GetName()), err)
	}
	e.remember(s)
	var failed error
	err = e.follow(ctx, s.collection, s.name, func(data []byte) bool {
		ok, err := done(data)
		failed = err
		return ok || err != nil
	})
	if failed != nil {
		err = failed
	}
	if errors.Is(err, context.DeadlineExceeded) || errors.Is(err, context.Canceled) {
		err = errors.New("the condition does not hold")
	}
	if err != nil {
		e.fatal(t, s.String(), err)
	}
}

// fatal ends a test that waited in vain.
func (e *Env) fatal(t T, what string, err error) {
	t.Helper()
	e.report(t)
	if e.hasEnded() {
		t.Fatalf("%s: waiting for %s: the control plane has ended: %v\n%s", agent, what, err, e.log)
	}
	t.Fatalf("%s: waiting for %s, for %v at most: %v", agent, what, e.timeout, err)
}
