package serverflags

import (
	"fmt"
	"slices"

	"fairlead.dev/internal/controlplane"
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

// ByRequest are the plugins that the server has and kube-apiserver does not ask by default.
var ByRequest = []string{"NodeRestriction"}

// otherPlugins are those of kube-apiserver that the server does not have. All are off by default.
var otherPlugins = []string{
	"AlwaysAdmit", "AlwaysDeny", "AlwaysPullImages", "DenyServiceExternalIPs", "EventRateLimit", "ExtendedResourceToleration",
	"ImagePolicyWebhook", "LimitPodHardAntiAffinityTopology", "NamespaceAutoProvision", "NamespaceExists",
	"OwnerReferencesPermissionEnforcement", "PodNodeSelector", "PodTolerationRestriction",
}

// certificatePlugins are one plugin of this server, which can be disabled as a whole.
var certificatePlugins = []string{"CertificateApproval", "CertificateSigning", "ClusterTrustBundleAttest", "CertificateSubjectRestriction"}

// plugins are the flags of admission. off are the plugins that are not asked by default.
type plugins struct {
	enabled, disabled, off []string
	privileged             bool
}

func (p *plugins) register(set *pflag.FlagSet, a *controlplane.Access) {
	p.off = a.DisabledPlugins
	set.StringSliceVar(&p.enabled, "enable-admission-plugins", nil, "admission plugins to ask besides the default ones")
	set.StringSliceVar(&p.disabled, "disable-admission-plugins", nil, "default admission plugins not to ask")
	set.BoolVar(&p.privileged, "allow-privileged", !a.NoPrivileged, "allow privileged containers")
}

func (p *plugins) complete(a *controlplane.Access) (err error) {
	a.NoPrivileged = !p.privileged
	a.DisabledPlugins, err = p.disabledPlugins()
	return err
}

// disabledPlugins returns the names, as the server has them, of the plugins not to ask.
func (p *plugins) disabledPlugins() (names []string, err error) {
	all := slices.Concat(defaultPlugins, ByRequest, otherPlugins)
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
	for _, name := range p.off {
		if !slices.Contains(p.enabled, name) {
			names = append(names, name)
		}
	}
	certificates := 0
	for _, name := range p.disabled {
		switch {
		case slices.Contains(certificatePlugins, name):
			certificates++
		case slices.Contains(names, name):
		case slices.Contains(defaultPlugins, name), slices.Contains(ByRequest, name):
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
