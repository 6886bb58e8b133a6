// Package testcluster gives a Go test, or another program, a Kubernetes control plane of its own: it starts the program
// fairlead as a child process, in memory and at a free port, and stops it with the test. It depends on client-go's
// rest.Config alone, so a project keeps the versions of Kubernetes' libraries that it has. Package
// fairlead.dev/testenv has the same API without a program, for projects on the versions of that module.
//
//	func TestOperator(t *testing.T) {
//		env := testcluster.New(t, testcluster.Options{
//			CRDs: testcluster.Objects{Paths: []string{"config/crd/bases"}},
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
// Reset brings a fork back to it. All are in one process.
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
// a link to its page are on stderr.
//
// # Concurrency
//
// The methods of Env may be called from any goroutine, except that those with a T may end the test, and so belong in
// the test's goroutine. The child process ends with this one, even if this one is killed.
package testcluster
