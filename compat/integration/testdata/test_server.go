package framework

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"k8s.io/apiserver/pkg/admission"
	client "k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	cliflag "k8s.io/component-base/cli/flag"
	"k8s.io/kubernetes/test/integration/fairlead"
)

// ServerRunOptions has the options of kube-apiserver that the tests set.
type ServerRunOptions struct {
	Admission struct {
		GenericAdmission struct{ DisablePlugins []string }
	}
	APIEnablement           struct{ RuntimeConfig cliflag.ConfigurationMap }
	GenericServerRunOptions struct {
		RuntimeConfigEmulationForwardCompatible bool
	}
}

// Config has the part of kube-apiserver's configuration that the tests set.
type Config struct {
	ControlPlane struct {
		Generic struct{ AdmissionControl admission.Interface }
	}
}

// TestServerSetup has the changes of a test to the options and the configuration of its server.
type TestServerSetup struct {
	ModifyServerRunOptions func(*ServerRunOptions)
	ModifyServerConfig     func(*Config)
	DisableInvariantChecks bool
}

// TearDownFunc stops a server.
type TearDownFunc func()

// plugins are the names of the admission plugins that tests make themselves, by type.
var plugins = map[string]string{
	"*priority.Plugin":                 "Priority",
	"*podtolerationrestriction.Plugin": "PodTolerationRestriction",
	"*defaulttolerationseconds.Plugin": "DefaultTolerationSeconds",
}

// StartTestServer runs an API server until the returned function is called.
func StartTestServer(ctx context.Context, t testing.TB, setup TestServerSetup) (client.Interface, *rest.Config, TearDownFunc) {
	t.Helper()
	var options ServerRunOptions
	if setup.ModifyServerRunOptions != nil {
		setup.ModifyServerRunOptions(&options)
	}
	var of Config
	if setup.ModifyServerConfig != nil {
		setup.ModifyServerConfig(&of)
	}
	var flags []string
	disabled := options.Admission.GenericAdmission.DisablePlugins
	if own := of.ControlPlane.Generic.AdmissionControl; own != nil {
		name := plugins[fmt.Sprintf("%T", own)]
		if name == "" {
			t.Fatalf("the test's own admission plugin %T has no name", own)
		}
		disabled = slices.DeleteFunc(slices.Clone(disabled), func(other string) bool { return other == name })
		flags = append(flags, "--enable-admission-plugins="+name)
	}
	if len(disabled) > 0 {
		flags = append(flags, "--disable-admission-plugins="+strings.Join(disabled, ","))
	}
	var apis []string
	for _, api := range slices.Sorted(maps.Keys(options.APIEnablement.RuntimeConfig)) {
		apis = append(apis, api+"="+options.APIEnablement.RuntimeConfig[api])
	}
	if len(apis) > 0 {
		flags = append(flags, "--runtime-config="+strings.Join(apis, ","))
	}
	if options.GenericServerRunOptions.RuntimeConfigEmulationForwardCompatible {
		flags = append(flags, "--runtime-config-emulation-forward-compatible")
	}
	config, stop := fairlead.Server(t, flags...)
	config.ContentType = "application/vnd.kubernetes.protobuf"
	return client.NewForConfigOrDie(config), config, stop
}
