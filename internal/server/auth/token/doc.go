// Package token authenticates by bearer tokens and issues the tokens of service
// accounts.
//
// A Verifier reads one kind of token. Static knows a fixed list; an Issuer
// signs the JWTs of service accounts and, through Accounts, verifies them. A
// service account's token is good for as long as what it is bound to lives: the
// account and, if it names one, the pod, secret or node, each with the same UID
// as when it was issued. That is looked up at every use; the signature is
// verified once in ten minutes. A token that a Secret keeps (a SecretSigner's) has no end:
// it is good as long as the Secret holds it.
//
// # Concurrency
//
// Every Verifier, and the Issuer, may be used from any goroutine.
package token
