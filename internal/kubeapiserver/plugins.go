package kubeapiserver

import (
	"fmt"
	"slices"

	"github.com/spf13/pflag"
)

// defaultPlugins are the admission plugins of kube-apiserver that the server asks by default.
var defaultPlugins = []string{
	"NamespaceLifecycle", "LimitRanger", "ServiceAccount", "TaintNodesByCondition", "PodSecurity", "Priority",
	"DefaultTolerationSeconds", "DefaultStorageClass", "StorageObjectInUseProtection", "PersistentVolumeClaimResize",
	"RuntimeClass", "CertificateApproval", "CertificateSigning", "ClusterTrustBundleAttest", "CertificateSubjectRestriction",
	"DefaultIngressClass", "PodTopologyLabels", "PodResizeValidator", "JobValidation", "NodeDeclaredFeatureValidator",
	"PodGroupProtection", "PodGroupWorkloadExists", "MutatingAdmissionPolicy", "MutatingAdmissionWebhook",
	"ValidatingAdmissionPolicy", "ValidatingAdmissionWebhook", "ResourceQuota",
}

// offPlugins are those of kube-apiserver that the server has and does not ask by default.
var offPlugins = []string{"NodeRestriction"}

// otherPlugins are those of kube-apiserver that the server does not have. All are off by default.
var otherPlugins = []string{
	"AlwaysAdmit", "AlwaysDeny", "AlwaysPullImages", "DenyServiceExternalIPs", "EventRateLimit", "ExtendedResourceToleration",
	"ImagePolicyWebhook", "LimitPodHardAntiAffinityTopology", "NamespaceAutoProvision", "NamespaceExists",
	"OwnerReferencesPermissionEnforcement", "PodNodeSelector", "PodTolerationRestriction",
}

// certificatePlugins are one plugin of this server, which can be disabled as a whole.
var certificatePlugins = []string{"CertificateApproval", "CertificateSigning", "ClusterTrustBundleAttest", "CertificateSubjectRestriction"}

// plugins are the flags that enable and disable admission plugins.
type plugins struct{ enabled, disabled []string }

func (p *plugins) register(set *pflag.FlagSet) {
	set.StringSliceVar(&p.enabled, "enable-admission-plugins", nil, "admission plugins to ask besides the default ones")
	set.StringSliceVar(&p.disabled, "disable-admission-plugins", nil, "default admission plugins not to ask")
}

// disabledPlugins returns the names, as the server has them, of the plugins not to ask.
func (p *plugins) disabledPlugins() (names []string, err error) {
	all := slices.Concat(defaultPlugins, offPlugins, otherPlugins)
	for _, name := range slices.Concat(p.enabled, p.disabled) {
		if !slices.Contains(all, name) {
			return nil, fmt.Errorf("unknown admission plugin %q", name)
		}
	}
	for _, name := range p.enabled {
		switch {
		case slices.Contains(p.disabled, name):
			return nil, fmt.Errorf("admission plugin %s is both enabled and disabled", name)
		case name == "AlwaysAdmit": // it admits all requests
		case slices.Contains(otherPlugins, name):
			return nil, fmt.Errorf("--enable-admission-plugins=%s: Fairlead does not have this plugin", name)
		}
	}
	for _, name := range offPlugins {
		if !slices.Contains(p.enabled, name) {
			names = append(names, name)
		}
	}
	certificates := 0
	for _, name := range p.disabled {
		switch {
		case slices.Contains(certificatePlugins, name):
			certificates++
		case slices.Contains(defaultPlugins, name):
			names = append(names, name)
		}
	}
	switch certificates {
	case 0:
	case len(certificatePlugins):
		names = append(names, "Certificates")
	default:
		return nil, fmt.Errorf("--disable-admission-plugins: %s can only be disabled together", oneOf(certificatePlugins))
	}
	return names, nil
}
