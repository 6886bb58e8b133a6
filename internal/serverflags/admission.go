package serverflags

import (
	"errors"
	"fmt"
	"slices"

	"fairlead.dev/internal/controlplane"
	"fairlead.dev/internal/server/admission"
	"fairlead.dev/internal/server/admission/config"
	"github.com/spf13/pflag"
)

// defaultPlugins are the admission plugins of kube-apiserver that the server asks by default.
var defaultPlugins = []string{
	"NamespaceLifecycle", "LimitRanger", "ServiceAccount", "TaintNodesByCondition", "PodSecurity", "Priority",
	"DefaultTolerationSeconds", "DefaultStorageClass", "StorageObjectInUseProtection", "PersistentVolumeClaimResize",
	"RuntimeClass", "CertificateApproval", "CertificateSigning", "ClusterTrustBundleAttest", "CertificateSubjectRestriction",
	"DefaultIngressClass", "PodTopologyLabels", "PodResizeValidator", "JobValidation", "NodeDeclaredFeatureValidator",
	"PodGroupProtection", "MutatingAdmissionPolicy", "MutatingAdmissionWebhook",
	"ValidatingAdmissionPolicy", "ValidatingAdmissionWebhook", "ResourceQuota",
}

// ByRequest are the plugins that a cluster made by kubeadm has and kube-apiserver does not ask by default.
var ByRequest = []string{"NodeRestriction"}

// certificatePlugins are one plugin of this server, which can be disabled as a whole.
var certificatePlugins = []string{"CertificateApproval", "CertificateSigning", "ClusterTrustBundleAttest", "CertificateSubjectRestriction"}

// plugins are the flags of admission. off are those of the server's plugins that are not asked by default.
type plugins struct {
	enabled, disabled, only, off []string
	configFile                   string
	privileged                   bool
}

func (p *plugins) register(set *pflag.FlagSet, a *controlplane.Admission) {
	p.off = a.Disabled
	set.StringSliceVar(&p.enabled, "enable-admission-plugins", nil, "admission plugins to ask besides the default ones")
	set.StringSliceVar(&p.disabled, "disable-admission-plugins", nil, "default admission plugins not to ask")
	set.StringSliceVar(&p.only, "admission-control", nil, "the admission plugins to ask, and no others (deprecated: use --enable-admission-plugins or --disable-admission-plugins)")
	set.StringVar(&p.configFile, "admission-control-config-file", "", "file with an AdmissionConfiguration: the configuration of admission plugins")
	a.Tolerations.NotReady = set.Int64("default-not-ready-toleration-seconds", 300, "how many seconds pods without such a toleration stay on a node that is not ready")
	a.Tolerations.Unreachable = set.Int64("default-unreachable-toleration-seconds", 300, "how many seconds pods without such a toleration stay on a node that is not reachable")
	set.BoolVar(&p.privileged, "allow-privileged", !a.NoPrivileged, "allow privileged containers")
}

func (p *plugins) complete(a *controlplane.Admission) (err error) {
	a.NoPrivileged = !p.privileged
	if a.Disabled, a.Enabled, err = p.names(); err != nil {
		return err
	}
	asked := slices.DeleteFunc(slices.Concat(defaultPlugins, p.enabled), func(name string) bool { return slices.Contains(p.disabled, name) })
	if a.Config, err = config.Load(p.configFile, asked); err != nil && p.configFile != "" {
		return fmt.Errorf("--admission-control-config-file=%s: %w", p.configFile, err)
	}
	return err
}

// names returns the names, as the server has them, of the plugins not to ask, and of the optional ones to ask.
func (p *plugins) names() (disabled, enabled []string, err error) {
	all := slices.Concat(defaultPlugins, ByRequest, admission.Optional)
	if p.only != nil {
		if p.enabled != nil || p.disabled != nil {
			return nil, nil, errors.New("admission-control and enable-admission-plugins/disable-admission-plugins flags are mutually exclusive")
		}
		if err := known("admission-control", p.only, all); err != nil {
			return nil, nil, err
		}
		p.enabled = p.only
		p.disabled = slices.DeleteFunc(slices.Clone(all), func(name string) bool { return slices.Contains(p.only, name) })
	}
	if err := errors.Join(known("enable-admission-plugins", p.enabled, all), known("disable-admission-plugins", p.disabled, all)); err != nil {
		return nil, nil, err
	}
	if both := slices.DeleteFunc(slices.Sorted(slices.Values(p.enabled)), func(name string) bool { return !slices.Contains(p.disabled, name) }); len(both) > 0 {
		return nil, nil, fmt.Errorf("%v in enable-admission-plugins and disable-admission-plugins overlapped", both)
	}
	for _, name := range p.off {
		if !slices.Contains(p.enabled, name) {
			disabled = append(disabled, name)
		}
	}
	certificates := 0
	for _, name := range p.disabled {
		switch {
		case slices.Contains(certificatePlugins, name):
			certificates++
		case slices.Contains(disabled, name), slices.Contains(admission.Optional, name):
		default:
			disabled = append(disabled, name)
		}
	}
	switch certificates {
	case 0:
	case len(certificatePlugins):
		disabled = append(disabled, "Certificates")
	default:
		return nil, nil, fmt.Errorf("--disable-admission-plugins: %s can only be disabled together", oneOf(certificatePlugins))
	}
	for _, name := range p.enabled {
		if slices.Contains(admission.Optional, name) {
			enabled = append(enabled, name)
		}
	}
	return disabled, enabled, nil
}

// known returns an error if there is a name that is not in all.
func known(flag string, names, all []string) error {
	for _, name := range names {
		if !slices.Contains(all, name) {
			return fmt.Errorf("%s plugin %q is unknown", flag, name)
		}
	}
	return nil
}
