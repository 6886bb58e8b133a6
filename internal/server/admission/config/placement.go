package config

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/yaml"

	"fairlead.dev/internal/resource/check"
	"fairlead.dev/internal/resource/podspec"
)

// tolerations is Configuration of podtolerationrestriction.admission.k8s.io/v1alpha1.
type tolerations struct {
	metav1.TypeMeta `json:",inline"`
	Default         []corev1.Toleration `json:"default,omitempty"`
	Whitelist       []corev1.Toleration `json:"whitelist,omitempty"`
}

// DeepCopyObject implements runtime.Object.
func (t *tolerations) DeepCopyObject() runtime.Object {
	pods := [2]corev1.PodSpec{{Tolerations: t.Default}, {Tolerations: t.Whitelist}}
	return &tolerations{t.TypeMeta, pods[0].DeepCopy().Tolerations, pods[1].DeepCopy().Tolerations}
}

var tolerationCodecs = codecsOf(false, func(s *runtime.Scheme) error {
	s.AddKnownTypeWithName(schema.GroupVersionKind{Group: "podtolerationrestriction.admission.k8s.io", Version: "v1alpha1", Kind: "Configuration"}, &tolerations{})
	return nil
})

func (c *Config) readTolerations(data []byte) error {
	if data == nil {
		return nil
	}
	var t tolerations
	if err := runtime.DecodeInto(tolerationCodecs.UniversalDeserializer(), data, &t); err != nil {
		return err
	}
	var faults check.Errors
	at := check.At("podtolerationrestriction")
	podspec.Tolerations(&faults, at.Child("default"), t.Default)
	podspec.Tolerations(&faults, at.Child("whitelist"), t.Whitelist)
	if faults.Len() > 0 {
		return fmt.Errorf("invalid config: %v", faults.List())
	}
	c.Tolerations = Tolerations{t.Default, t.Whitelist}
	return nil
}

func (c *Config) readNodeSelectors(data []byte) error {
	var f struct {
		Selectors map[string]string `json:"podNodeSelectorPluginConfig"`
	}
	err := yaml.Unmarshal(data, &f)
	c.NodeSelectors = f.Selectors
	return err
}
