package core

import (
	"encoding/json"
	"maps"
	"reflect"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"fairlead.dev/internal/resource"
	"fairlead.dev/internal/resource/check"
)

var secretTable = resource.TableOf(func(s *corev1.Secret) []any {
	return []any{s.Name, string(s.Type), int64(len(s.Data)), resource.AgeOf(s)}
},
	resource.NameColumn,
	resource.Text("Type", "What the secret is for."),
	resource.Text("Data", "How many keys the secret has."),
	resource.AgeColumn,
)

var secretStrategy = resource.Rules[*corev1.Secret]{
	Default: func(s *corev1.Secret) {
		if s.Type == "" {
			s.Type = corev1.SecretTypeOpaque
		}
		mergeStringData(s)
	},
	PrepareForUpdate: func(s, old *corev1.Secret) {
		if s.Type == "" {
			s.Type = old.Type
		}
	},
	Validate:       validateSecret,
	ValidateUpdate: validateSecretUpdate,
}.Strategy()

// mergeStringData moves stringData into data. stringData is write-only.
func mergeStringData(s *corev1.Secret) {
	if len(s.StringData) == 0 {
		s.StringData = nil
		return
	}
	if s.Data == nil {
		s.Data = map[string][]byte{}
	}
	for key, value := range s.StringData {
		s.Data[key] = []byte(value)
	}
	s.StringData = nil
}

func validateSecret(s *corev1.Secret) field.ErrorList {
	var f check.Errors
	data, size := check.At("data"), 0
	for _, key := range slices.Sorted(maps.Keys(s.Data)) {
		f.Each(data.Key(key), key, validation.IsConfigMapKey(key))
		size += len(s.Data[key])
	}
	if size > corev1.MaxSecretSize {
		f.Add(field.TooLong(data.Field(), "", corev1.MaxSecretSize))
	}
	need := func(keys ...string) {
		for _, key := range keys {
			if _, ok := s.Data[key]; !ok {
				f.Required(data.Key(key), "")
			}
		}
	}
	needJSON := func(key string) {
		need(key)
		if value, ok := s.Data[key]; ok {
			if err := json.Unmarshal(value, &map[string]any{}); err != nil {
				f.Invalid(data.Key(key), "<secret contents redacted>", err.Error())
			}
		}
	}
	switch s.Type {
	case corev1.SecretTypeServiceAccountToken:
		if s.Annotations[corev1.ServiceAccountNameKey] == "" {
			f.Required(check.At("metadata", "annotations").Key(corev1.ServiceAccountNameKey), "")
		}
	case corev1.SecretTypeDockercfg:
		needJSON(corev1.DockerConfigKey)
	case corev1.SecretTypeDockerConfigJson:
		needJSON(corev1.DockerConfigJsonKey)
	case corev1.SecretTypeBasicAuth:
		_, user := s.Data[corev1.BasicAuthUsernameKey]
		_, password := s.Data[corev1.BasicAuthPasswordKey]
		if !user && !password {
			need(corev1.BasicAuthUsernameKey, corev1.BasicAuthPasswordKey)
		}
	case corev1.SecretTypeSSHAuth:
		if len(s.Data[corev1.SSHAuthPrivateKey]) == 0 {
			f.Required(data.Key(corev1.SSHAuthPrivateKey), "")
		}
	case corev1.SecretTypeTLS:
		need(corev1.TLSCertKey, corev1.TLSPrivateKeyKey)
	}
	return f.List()
}

func validateSecretUpdate(s, old *corev1.Secret) field.ErrorList {
	var f check.Errors
	f.Same(check.At("type"), s.Type, old.Type)
	if old.Immutable != nil && *old.Immutable {
		requireUnchanged(&f, "immutable", s.Immutable == nil || !*s.Immutable)
		requireUnchanged(&f, "data", !reflect.DeepEqual(s.Data, old.Data))
	}
	f.Add(validateSecret(s)...)
	return f.List()
}

func requireUnchanged(f *check.Errors, name string, changed bool) {
	if changed {
		f.Forbidden(check.At(name), "field is immutable when `immutable` is set")
	}
}
