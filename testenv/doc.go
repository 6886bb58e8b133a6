// Package testenv gives a Go test, or a program, a whole control plane of its own: store, API server, controllers,
// scheduler and simulated nodes, in the test's process, ready in milliseconds and removed with the test. Through its
// Config a test is like any other Kubernetes client. Module fairlead.dev/testcluster has the same API and starts the
// program fairlead instead, for projects on other versions of Kubernetes' libraries.
//
//	func TestOperator(t *testing.T) {
//		env := testenv.New(t, testenv.Options{
//			CRDs: testenv.Objects{Paths: []string{"config/crd/bases"}},
//		})
//		mgr, err := ctrl.NewManager(env.Config(), ctrl.Options{})
//		...
//	}
//
// # Options
//
// The zero value of Options is a whole control plane: all controllers, the scheduler and three simulated nodes. A field
// whose name begins with No leaves a part out. Options that contradict each other are an error, and like every error of
// New and Start it comes before anything is started, or after everything that was started has been stopped.
//
// # Forks
//
// Prepare starts a control plane once and fills it; each Fork of the Base begins with that state, in milliseconds, and
// Reset brings a fork back to it.
//
// # Waiting
//
// Eventually and WaitFor wait for changes in the server. A test that waited in vain, or failed otherwise, logs why the
// objects that it waited for are in their state, the last changes of the test's objects, and the state of watchers and
// queues, as `fairlead why` and `fairlead trace` print them.
//
// # Flags
//
// With the flag -fairlead.hold, a control plane of New stays up at the end of its test until Ctrl-C. Its kubeconfig and
// a link to its page are on stderr. A control plane in a bubble is not held: no program can connect to it.
//
// # Concurrency
//
// The methods of Env may be called from any goroutine, except that those with a T may end the test, and so belong in
// the test's goroutine.
//
// # Shared text
//
// The files that testcluster has as well are the same but for the package's name: TestSharedText in the root of the
// repository copies them. Change them there.
package testenv
