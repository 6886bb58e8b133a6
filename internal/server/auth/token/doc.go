// Package token authenticates by bearer tokens and issues the tokens of service accounts.
//
// A Verifier verifies one kind of token. FromFile has those of a file, Bootstrap those by which nodes join; an Issuer signs the JWTs of service accounts and,
// through Accounts, verifies them. A service account's token is valid while the objects it is bound to exist with
// the UIDs they had when it was issued: the account and, if it names one, the pod, secret or node. They are looked
// up at every use; the signature is verified once in ten minutes. A token stored in a Secret (signed by a
// SecretSigner) does not expire: it is valid while the Secret holds it.
//
// # Concurrency
//
// Every Verifier, and the Issuer, may be used from any goroutine.
package token
