package config

import (
	"fmt"
	"os"
	"path/filepath"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/apiserver/pkg/apis/apiserver"
	apiserverv1 "k8s.io/apiserver/pkg/apis/apiserver/v1"
	apiserverv1alpha1 "k8s.io/apiserver/pkg/apis/apiserver/v1alpha1"
	"sigs.k8s.io/yaml"
)

// file is an AdmissionConfiguration. The paths in it are relative to dir.
type file struct {
	dir     string
	plugins []apiserver.AdmissionPluginConfiguration
}

// unversioned are the plugins whose configuration could be the whole file, before there was AdmissionConfiguration, and
// the member by which such a file is known.
var unversioned = map[string]string{"ImagePolicyWebhook": "imagePolicy", "PodNodeSelector": "podNodeSelectorPluginConfig"}

var fileCodecs = codecsOf(true, apiserver.AddToScheme, apiserverv1.AddToScheme, apiserverv1alpha1.AddToScheme)

func codecsOf(strict bool, add ...func(*runtime.Scheme) error) serializer.CodecFactory {
	scheme := runtime.NewScheme()
	for _, f := range add {
		utilruntime.Must(f(scheme))
	}
	if strict {
		return serializer.NewCodecFactory(scheme, serializer.EnableStrict)
	}
	return serializer.NewCodecFactory(scheme)
}

// unexpected is the error for a file with another kind.
func unexpected(obj runtime.Object) error { return fmt.Errorf("unexpected type: %T", obj) }

func readFile(path string) (file, error) {
	if path == "" {
		return file{}, nil
	}
	data, err := os.ReadFile(path)
	if err != nil {
		return file{}, fmt.Errorf("failed to read plugin config: unable to read admission control configuration from %q [%w]", path, err)
	}
	obj, err := runtime.Decode(fileCodecs.UniversalDecoder(), data)
	if err == nil {
		c, ok := obj.(*apiserver.AdmissionConfiguration)
		if !ok {
			return file{}, fmt.Errorf("failed to read plugin config: %w", unexpected(obj))
		}
		return file{filepath.Dir(path), c.Plugins}, nil
	}
	if !runtime.IsMissingVersion(err) && !runtime.IsMissingKind(err) && !runtime.IsNotRegisteredError(err) {
		return file{}, fmt.Errorf("failed to read plugin config: %w", err)
	}
	whole := file{dir: filepath.Dir(path)}
	members := map[string]any{}
	if yaml.Unmarshal(data, &members) == nil {
		for plugin, member := range unversioned {
			if _, ok := members[member]; ok {
				whole.plugins = append(whole.plugins, apiserver.AdmissionPluginConfiguration{Name: plugin, Path: filepath.Base(path)})
			}
		}
	}
	if whole.plugins == nil {
		return file{}, fmt.Errorf("failed to read plugin config: %w", err)
	}
	return whole, nil
}

// of returns the configuration of a plugin: the first one with its name, in place or in a file of its own. It is nil for
// a plugin without a configuration.
func (f file) of(plugin string) ([]byte, error) {
	for _, p := range f.plugins {
		switch {
		case p.Name != plugin:
			continue
		case p.Configuration != nil:
			return append([]byte{}, p.Configuration.Raw...), nil
		case p.Path == "":
			return nil, nil
		}
		path := p.Path
		if !filepath.IsAbs(path) {
			path = filepath.Join(f.dir, path)
		}
		data, err := os.ReadFile(path)
		if err != nil {
			return nil, fmt.Errorf("couldn't open admission plugin configuration %s: %w", path, err)
		}
		return append([]byte{}, data...), nil
	}
	return nil, nil
}
