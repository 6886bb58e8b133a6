// Package served selects, from the result of discovery, the resources for controllers that work on all kinds: each
// once, in one version.
package served
