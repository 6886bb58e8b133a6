// Package suites runs the own test suites of projects that use envtest, from their Go modules and unchanged, on the
// programs of `fairlead assets`; and on those of the folder $ENVTEST_ASSETS, a kube-apiserver and an etcd, if it is set.
// It is built on demand:
//
//	make suites                                       # compiles, then three rounds
//	make suites SUITES="-dir ~/suites -rounds 0"      # compiles alone, which takes most of an hour on two cores
//	make suites SUITES="-dir ~/suites -only karpenter -rounds 3 -table table.md -logs logs"
//
// All programs are compiled first. Then each runs in rounds, on Fairlead first in the even ones and last in the odd, and
// the test prints a table of the medians: wall time, time in the cases, and CPU time of the program and its servers, which
// together tell where a suite waits for itself. It compares the pairs case by case: tests and subtests by the output of package
// testing, specs by the report of Ginkgo. A case that passes on kube-apiserver and not on Fairlead fails the test. One
// that fails on both pairs, or on kube-apiserver alone, is listed below the table.
//
// # Projects that are not in the list
//
// These use envtest, but their tests don't come with their Go modules, or need what cannot be had here:
//
//   - gateway-api: v1.4.1 has the tests in pkg/test/cel and pkg/test/crd, but they let envtest download its programs and so
//     ignore $KUBEBUILDER_ASSETS; bench/results/suites.md tells how pkg/test/cel runs on a server that runs already. v1.5.1 and
//     v1.6.3 lack the tests, and v1.7.0 needs Go 1.27.
//   - cert-manager v1.21.2: the module that holds test/integration is not published.
//   - external-secrets v1.3.2: go.mod replaces 56 modules by folders, which are not published.
//   - cluster-api-operator v0.29.0: the tests read CRDs from test/testdata, which the module lacks.
//   - metallb v0.16.2: needs a version of github.com/metallb/frr-k8s that the proxy refuses.
//   - kustomize-controller v1.10.1: needs a container runtime.
//   - crossplane-runtime, capsule, node-feature-discovery: the proxy refuses them, or the modules lack the CRDs that the
//     tests read.
package suites
