// Package resource defines the resources of the API: their names, storage, defaulting, validation and tables. All
// of it is in one table of [Resource] values; the API server has no other knowledge of a kind.
//
// The package itself has the types of the table, the [Scheme] and the rules common to all kinds (metadata). Each
// API group has a folder below, one short file per kind, and internal/resource/builtin combines them:
//
//	builtin.Resources()   // every built-in kind, in the order of discovery
//	resource.Scheme()     // every Go type of the groups, one shared instance
//
// A row's functions see objects as the storage version's Go type. The functions are pure: they depend on their
// arguments only, and modify only the first one, where that is their purpose. They may be called from many
// goroutines at once, on different objects.
//
// # The order of a write
//
// A create runs Default, then mutating admission, then PrepareForCreate, then [ValidateObjectMeta] and Validate,
// then validating admission. An update runs Default on the new object, then mutating admission, PrepareForUpdate
// with the old object, [ValidateObjectMetaUpdate] and ValidateUpdate. A write of the status subresource runs the
// two functions for status instead, and other subresources run their own two.
//
// Default also runs on an object that results from a patch, and on stored objects only if an older release wrote
// them.
package resource
