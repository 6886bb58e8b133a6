// Package apiserverconfig decodes kube-apiserver's configuration files, of the group apiserver.config.k8s.io in all its versions.
//
// # Contract
//
// An unknown or a repeated field is an error.
package apiserverconfig

import (
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/apiserver/pkg/apis/apiserver/install"
)

var codecs = func() serializer.CodecFactory {
	scheme := runtime.NewScheme()
	install.Install(scheme)
	return serializer.NewCodecFactory(scheme, serializer.EnableStrict)
}()

// Decode returns the object of a file in its internal version, completed by the defaults.
func Decode(text []byte) (runtime.Object, error) {
	return runtime.Decode(codecs.UniversalDecoder(), text)
}
