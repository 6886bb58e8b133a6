package watchcache

import (
	"log/slog"
	"slices"
	"time"

	"fairlead.dev/internal/watchcache/object"
	"fairlead.dev/storage"
	"fairlead.dev/trace"
)

// HubOptions bound the memory of a hub; zero values mean the defaults.
type HubOptions struct {
	// History is how long each cache keeps changes for watchers; 5 minutes.
	History time.Duration
	// HistoryBytes bounds the changes that each cache keeps; 32 MiB.
	HistoryBytes int
	// EncodingBytes bounds the other encodings of all objects of the hub, with the objects of
	// events that they keep alive; 32 MiB.
	EncodingBytes int
	// Begin, if not nil, has the objects with which the store began. Caches begin with them, and the hub shares their
	// encodings and the bound of these. So an Encoding must mean the same in all these hubs.
	Begin *Contents
	// Open, if not nil, decrypts the value of a stored key. An object whose value it fails to decrypt
	// is unreadable until Open succeeds, which each read of the object tries.
	Open Opener
	// Reads, if not nil, returns the store from which the cache of a resource reads, such as one that counts its requests. It
	// must have the same contents.
	Reads func(s storage.Store, group, resource string) storage.Store
	// Trace, if not nil, records each event and when it can be read.
	Trace *trace.Log
	// Log, if not nil, logs stored values that are unreadable.
	Log *slog.Logger
}

// withDefaults returns the options with the defaults in place of zero values.
func (o HubOptions) withDefaults() HubOptions {
	if o.History == 0 {
		o.History = 5 * time.Minute
	}
	if o.HistoryBytes == 0 {
		o.HistoryBytes = 32 << 20
	}
	if o.EncodingBytes == 0 {
		o.EncodingBytes = 32 << 20
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	return o
}

// Options configure one Cache.
type Options struct {
	// Prefix is the common prefix of the resource's keys, ending in a slash: "/registry/pods/".
	// Prefixes of two caches must not contain one another.
	Prefix string
	// Namespaced: the rest of a key is namespace/name; otherwise it is the name.
	Namespaced bool
	Fields     []Field
	// IndexFields are the labels of Fields by which lists look up objects instead of scanning.
	IndexFields []string
	// Group and Resource name the cache in metrics and errors.
	Group, Resource string
	// Read, if not nil, converts a stored value to the JSON of the cache's kind and version, or
	// fails. It is not called for values that begin with TypePrefix, as the server's own values do.
	Read       func(value []byte) ([]byte, error)
	TypePrefix string
}

// readAlike reports whether caches with the two options make the same objects of the same stored keys. Their Read
// functions, if they have one, must do the same.
func (o *Options) readAlike(other *Options) bool {
	return o.Prefix == other.Prefix && o.Namespaced == other.Namespaced && o.TypePrefix == other.TypePrefix &&
		(o.Read == nil) == (other.Read == nil) && SameFields(o.Fields, other.Fields)
}

// SameFields reports whether objects have the same selectable fields.
func SameFields(a, b []Field) bool {
	return slices.EqualFunc(a, b, func(a, b Field) bool {
		return a.Label == b.Label && a.Zero == b.Zero && slices.EqualFunc(a.Paths, b.Paths, slices.Equal)
	})
}

// kind returns the kind of the objects.
func (o *Options) kind(encodings *object.Encodings, open Opener) *object.Kind {
	return object.NewKind(object.Kind{
		Prefix: o.Prefix, Namespaced: o.Namespaced, Fields: o.Fields,
		Open: open, Read: o.Read, TypePrefix: []byte(o.TypePrefix), Encodings: encodings,
	})
}

// Check returns the error with which a cache with these options, of a hub with the option Open, would
// fail to read a stored key; nil if it could read it.
func Check(kv *storage.KeyValue, o Options, open Opener) error {
	_, err := object.New(kv, o.kind(nil, open))
	return err
}
