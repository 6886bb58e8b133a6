// Package serviceaccount keeps a ServiceAccount named default in every active
// namespace: pods that name no account run as it, so it must come back when it
// is deleted. What it holds is not touched.
package serviceaccount
