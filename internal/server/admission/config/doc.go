// Package config reads the configuration of admission plugins: an AdmissionConfiguration, as
// --admission-control-config-file names it, and in it, or in files that it names, the configuration of each plugin.
//
// # Contract
//
// [Load] reads the files once, and decodes the configuration of the plugins that are asked; that of others is not
// looked at. A configuration that kube-apiserver refuses is an error in its words. The result is data: the plugins
// themselves are elsewhere, and may share it.
package config
