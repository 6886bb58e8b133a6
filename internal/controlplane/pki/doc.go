// Package pki makes and keeps the keys of one control plane: a certificate
// authority that signs the server's certificate and its clients', another one for
// front proxies, and the key that signs service account tokens. All keys are ECDSA P-256: they take less
// than a millisecond to make, so a new control plane costs no wait.
//
// # Leaf certificates
//
// Certificates of servers and clients are kept nowhere. They are issued when they are asked for, for a year, and anew in the
// last third of their life, so that a process which runs for years always has a good one.
//
// # Rotation
//
// A rotation replaces a CA or the token key in two steps. After the first one the new key signs, and both are trusted:
//
//   - The bundle of CAs has the new one first, then the retired one. Clients and servers with old certificates go on.
//   - A certificate of the new CA's key, signed by the retired CA, follows each new leaf certificate, so that peers which trust
//     the retired CA alone accept it.
//   - The retired token key's public half verifies old tokens.
//
// The second one, Finish, drops the retired CA or key.
//
// # Files
//
// Private keys have the mode 0600; a directory of an earlier release, with one block in each file, is one without a rotation.
//
//	ca.crt, front-proxy-ca.crt   the CA, then the cross-signed certificate and the retired CA
//	ca.key, front-proxy-ca.key   its key; during a change the former and the new one
//	sa.key                       the token key, then the public halves of retired ones
//
// Each file is replaced as a whole and synced. The certificate file decides which of two keys signs, so that a process that
// is killed between two files leaves the former state or the new one.
//
// # Concurrency
//
// All methods may be called from any goroutine.
package pki
