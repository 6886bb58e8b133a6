// Package podspec has the common part of pods and pod templates: their defaulting and validation. Kinds of other
// groups that create pods (deployments, jobs) use it for their templates.
//
// All functions are pure. Defaulting modifies its argument in place and is idempotent; validation returns all
// errors, in the order of the fields, with Kubernetes' field paths and wordings.
package podspec
