// Package podspec holds what pods and pod templates have in common: how they
// are defaulted and what makes them valid. The kinds of other groups that make
// pods (deployments, jobs) use it for their templates.
//
// All functions are pure. Defaulting changes its argument in place and is
// idempotent; validation reports every fault it finds, in the order of the
// fields, with the field paths and wordings that clients of Kubernetes know.
package podspec
