// Package resource says what a resource is: its names, where it is stored, how
// it is defaulted, validated and shown. The whole of it is one table of
// [Resource] values; the API server has no other knowledge of a kind.
//
// The package itself holds the types of the table, the [Scheme] and the rules
// that hold for all kinds (metadata). Each API group has a folder below, one
// short file per kind, and internal/resource/builtin puts them together:
//
//	builtin.Resources()   // every built-in kind, in the order of discovery
//	resource.Scheme()     // every Go type of the groups, one shared instance
//
// All objects that a row's functions see are of the storage version's Go type.
// The functions are pure: they look at their arguments and nothing else, and
// may change only the first one where they are called to change something.
// They may be called from many goroutines at once, on different objects.
//
// # The order of a write
//
// A create runs Default, then mutating admission, then PrepareForCreate, then
// [ValidateObjectMeta] and Validate, then validating admission. An update runs
// Default on the new object, then mutating admission, PrepareForUpdate with the
// old object beside it, [ValidateObjectMetaUpdate] and ValidateUpdate. A write
// of the status subresource runs the two functions named for it in place of
// those, and other subresources the two that they carry themselves.
//
// Default also runs on an object that a patch has made, and on objects read
// from the store only if an older release wrote them.
package resource
