package config

import (
	"path/filepath"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/apiserver/pkg/admission/plugin/policy/config/apis/policyconfig"
	policyconfigv1 "k8s.io/apiserver/pkg/admission/plugin/policy/config/apis/policyconfig/v1"
	"k8s.io/apiserver/pkg/admission/plugin/webhook/config/apis/webhookadmission"
	webhookadmissionv1 "k8s.io/apiserver/pkg/admission/plugin/webhook/config/apis/webhookadmission/v1"
)

var dynamicCodecs = codecsOf(true, webhookadmission.AddToScheme, webhookadmissionv1.AddToScheme, policyconfig.AddToScheme, policyconfigv1.AddToScheme)

func (c *Config) readMutatingWebhooks(data []byte) (err error) {
	c.MutatingWebhooks, err = kubeconfig(data)
	return err
}

func (c *Config) readValidatingWebhooks(data []byte) (err error) {
	c.ValidatingWebhooks, err = kubeconfig(data)
	return err
}

func kubeconfig(data []byte) (string, error) {
	if data == nil {
		return "", nil
	}
	var w webhookadmission.WebhookAdmission
	if err := runtime.DecodeInto(dynamicCodecs.UniversalDecoder(), data, &w); err != nil {
		return "", err
	}
	if w.KubeConfigFile != "" && !filepath.IsAbs(w.KubeConfigFile) {
		return "", field.Invalid(field.NewPath("kubeConfigFile"), w.KubeConfigFile, "must be an absolute file path")
	}
	return w.KubeConfigFile, noManifests(w.StaticManifestsDir)
}

// readPolicies reads the configuration of policies, whose only member is the directory of manifests.
func (*Config) readPolicies(data []byte) error {
	if data == nil {
		return nil
	}
	obj, err := runtime.Decode(dynamicCodecs.UniversalDecoder(), data)
	if err != nil {
		return err
	}
	c, ok := obj.(interface{ GetStaticManifestsDir() string })
	if !ok {
		return unexpected(obj)
	}
	return noManifests(c.GetStaticManifestsDir())
}

// noManifests refuses a directory of manifests, as kube-apiserver does by default.
func noManifests(dir string) error {
	if dir == "" {
		return nil
	}
	return field.Forbidden(field.NewPath("staticManifestsDir"), "staticManifestsDir requires the ManifestBasedAdmissionControlConfig feature gate to be enabled")
}
