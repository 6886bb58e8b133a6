// Package serviceaccount maintains a ServiceAccount named default in every active namespace. Pods without an
// account use it, so it is created again when it is deleted. Its content is not modified.
package serviceaccount
