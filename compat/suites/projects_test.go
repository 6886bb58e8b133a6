//go:build suites

package suites

import "testing"

// suite is a project with the packages whose tests start envtest's control plane.
type suite struct {
	module   string
	packages []string
	// skip are patterns of tests that cannot pass here with any API server, with the reason.
	skip map[string]string
	// prepare makes the files that the tests read and the module lacks; nil if there are none. It gets the module's folder.
	prepare func(t *testing.T, dir string)
}

var suites = []suite{
	{"sigs.k8s.io/controller-runtime@v0.25.2", []string{
		"./pkg/builder", "./pkg/cache", "./pkg/client", "./pkg/client/apiutil", "./pkg/cluster", "./pkg/controller",
		"./pkg/controller/controllerutil", "./pkg/envtest", "./pkg/envtest/komega", "./pkg/handler", "./pkg/internal/controller",
		"./pkg/internal/recorder", "./pkg/internal/testing/controlplane", "./pkg/manager", "./pkg/manager/internal/integration",
		"./pkg/metrics/filters", "./pkg/reconcile", "./pkg/source", "./pkg/webhook",
	}, map[string]string{"TestApiMachinery|TestLazyRestMapperProvider": "downloads kube-apiserver 1.24 to 1.28"}, nil},
	{"github.com/kubernetes-sigs/kro@v0.9.4", []string{"./test/integration/suites/core"}, nil, nil},
	{"github.com/fluxcd/pkg/runtime@v0.117.0", []string{
		"./acl", "./cel", "./client", "./controller", "./events", "./patch", "./secrets",
	}, nil, nil},
	{"sigs.k8s.io/karpenter@v1.14.0", []string{
		"./pkg/apis/autoscaling/v1beta1", "./pkg/apis/v1", "./pkg/apis/v1alpha1", "./pkg/controllers/capacitybuffer",
		"./pkg/controllers/node/termination", "./pkg/controllers/nodeclaim/garbagecollection",
		"./pkg/controllers/nodeclaim/lifecycle", "./pkg/controllers/nodeoverlay", "./pkg/controllers/nodepool/counter",
		"./pkg/controllers/static/provisioning", "./pkg/utils/pdb",
	}, nil, nil},
	{"sigs.k8s.io/jobset@v0.11.1", []string{"./test/integration/controller", "./test/integration/webhook"}, nil, nil},
	{"sigs.k8s.io/kueue@v0.17.0", []string{
		"./test/integration/singlecluster/webhook/core", "./test/integration/singlecluster/scheduler",
		"./test/integration/singlecluster/scheduler/podsready", "./test/integration/singlecluster/controller/jobs/job",
		"./test/integration/singlecluster/controller/core", "./test/integration/singlecluster/tas",
	}, nil, kueueCRDs},
	{"sigs.k8s.io/lws@v0.8.0", []string{"./test/integration/controllers", "./test/integration/webhooks"}, nil, nil},
	{"github.com/open-policy-agent/gatekeeper/v3@v3.23.1", []string{
		"./pkg/controller/config", "./pkg/controller/connectionstatus", "./pkg/controller/export", "./pkg/controller/mutators/core",
		"./pkg/readiness", "./pkg/watch",
	}, nil, nil},
	{"github.com/open-policy-agent/frameworks/constraint@v0.0.0-20260616163050-e1eaa1bf6d62", []string{
		"./pkg/apis/externaldata/v1alpha1", "./pkg/apis/externaldata/v1beta1", "./pkg/apis/templates/v1",
		"./pkg/apis/templates/v1alpha1", "./pkg/apis/templates/v1beta1",
	}, nil, nil},
	{"github.com/open-policy-agent/cert-controller@v0.16.1-0.20260608222807-1c492bc2d223", []string{"./pkg/rotator"}, nil, nil},
	{"sigs.k8s.io/cluster-api@v1.14.2", []string{
		"./util/patch/test", "./internal/util/ssa/test", "./controllers/crdmigrator", "./controllers/clustercache",
		"./core/webhooks/admission/test", "./core/reconcilers/clusterresourceset", "./core/reconcilers/extensionconfig",
		"./core/reconcilers/machineset", "./core/reconcilers/machinedeployment", "./core/reconcilers/machinehealthcheck",
		"./core/reconcilers/machinepool", "./core/reconcilers/clusterclass", "./core/reconcilers/cluster",
		"./core/reconcilers/machine", "./core/reconcilers/topology/cluster",
		"./core/reconcilers/topology/cluster/structuredmerge", "./bootstrap/kubeadm/reconcilers/kubeadmconfig",
		"./controlplane/kubeadm/pkg", "./controlplane/kubeadm/reconcilers/kubeadmcontrolplane", "./util/controller",
	}, nil, nil},
}
