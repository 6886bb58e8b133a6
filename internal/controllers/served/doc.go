// Package served picks, out of everything that discovery finds, the resources
// that a controller over all kinds has to look at: each once, in one version.
package served
