// Package jwt authenticates users by the JSON web tokens of OpenID Connect issuers, as kube-apiserver does for the issuers
// of --authentication-config (KEP-3331) and for the one of the --oidc flags.
//
// # Contract
//
//   - The verification of tokens is upstream's, in k8s.io/apiserver/plugin/pkg/authenticator/token/oidc.
//   - Issuers are asked for their keys in the background, every ten seconds until they have answered. Until then, and when
//     their keys have expired, their tokens are refused with an error.
//   - A valid token is remembered for ten seconds, as in kube-apiserver.
//   - After Reload of a changed file, tokens are verified by it. A file that cannot be used, or with an issuer that does not
//     answer, leaves the former one in force.
//
// # Concurrency
//
// All methods may be called from any goroutine.
package jwt
