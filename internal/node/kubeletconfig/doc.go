// Package kubeletconfig reads the configuration of a simulated kubelet: the fields of a KubeletConfiguration
// (kubelet.config.k8s.io/v1beta1) that act on simulated nodes, with upstream's names, meaning and defaults.
//
//	config, err := kubeletconfig.Parse([]byte(node.Annotations[kubeletconfig.Annotation]))
//
// Any other field is an error, so that no setting is accepted that has no effect.
//
// A Config is never changed after Parse, and may be shared.
package kubeletconfig
