// Package serviceaccounttoken fills Secrets of the type kubernetes.io/service-account-token: with a token of the
// ServiceAccount in their annotation kubernetes.io/service-account.name, which is valid while both exist, their
// namespace, and the CA of the API server.
//
// A Secret whose account is missing, or is another one of the same name, is deleted. A deleted Secret is removed
// from its account's list. Other data in a Secret is not modified, except for a CA that differs.
package serviceaccounttoken
