// Package integration runs Kubernetes' own integration tests of the scheduler and of devices, 1.37.2's, on a built fairlead:
//
//	go test -tags integration -timeout 90m -v ./integration    # or `make integration`, above
//
// The tests come from the module and are not copied. Upstream they start kube-apiserver and kube-scheduler in their own
// process. Here an overlay of a few files (testdata, and the changes in overlay_test.go) starts `fairlead server` and
// `fairlead scheduler` in place of them, each with the feature gates, the admission plugins and the
// KubeSchedulerConfiguration of the test. The scheduler in the test's process is made as usual but does not run: its cache
// and queue only follow the API server, and the test may read them.
//
// tests.txt names all tests of these packages. Those marked + must pass; the others are marked by a need that a
// scheduler in another process cannot meet: see the head of the file.
//
// $FAIRLEAD_INTEGRATION_SCHEDULER=upstream lets Kubernetes' scheduler run on our API server, and all tests with it.
package integration
