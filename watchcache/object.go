package watchcache

import (
	"fairlead.dev/internal/watchcache/change"
	"fairlead.dev/internal/watchcache/object"
	"fairlead.dev/internal/watchcache/selection"
)

type (
	// An Object is one object as of one revision. It is immutable and shared by all readers. Its
	// bytes are those of the store; its labels and fields are read from them once and kept.
	Object = object.Object
	// A Field is a field that field selectors may use besides metadata.name and
	// metadata.namespace.
	Field = object.Field
	// An Encoding names an encoding of an object other than its stored bytes: protobuf, a table's
	// row, another API version, a watch frame. Two builders that use the same Encoding must build
	// the same bytes.
	Encoding = object.Encoding
	// A Selection is the part of a resource that a list or a watch reads. The zero value selects
	// everything; all conditions must hold. A field that the resource does not have is empty on
	// every object.
	Selection = selection.Selection
	// An Opener decrypts the value of a stored key. It is called with locks held, and should not wait
	// for others that have failed lately, unless again is set: a read tries an unreadable value again.
	Opener = object.Opener
	// An OpenError is the error of an object whose value HubOptions.Open fails to decrypt.
	OpenError = object.OpenError
	// An Event is one change as a selection sees it: its type, the object, and the revision of the
	// change. It is immutable and shared by all watchers of the selection.
	Event = change.Event
)
