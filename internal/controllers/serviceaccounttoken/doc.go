// Package serviceaccounttoken fills Secrets of the type
// kubernetes.io/service-account-token: with a token of the ServiceAccount that their
// annotation kubernetes.io/service-account.name names, which is good as long as both are
// there, their namespace, and the authority of the API server.
//
// A Secret whose account is not there, or is another one of the same name, is deleted. An
// account that lists a Secret which was deleted lists it no more. What is in a Secret is
// not touched, but for an authority that is not ours.
package serviceaccounttoken
