// Package write serves the verbs that change stored objects: create, update, patch, apply,
// delete and deletecollection, the subresource scale, and the server's own writes.
//
// Each verb begins an [Operation], which is the call with the state of its write. Update, patch,
// apply and scale are a [Change]: a read-modify-write that is done again on the object's new
// state if that has changed by the time of the commit. From the new object the way is the same
// for all:
//
//	default, record field managers     fields.go
//	admit (mutating plugins)           change.go, create.go
//	prepare and validate               prepare.go
//	admit (validating plugins)
//	encode, once                       operation.go
//	commit with companions             commit.go, companions.go
//
// A [Committer] and the [Admission] chain may be decorated, by which traces and injected faults
// join in.
package write
