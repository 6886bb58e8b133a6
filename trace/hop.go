package trace

// Hop is a place on an event's way through the server.
type Hop uint8

const (
	// Received: the request's head has been read.
	Received Hop = iota
	// Authorized: the user is authenticated and authorized.
	Authorized
	// Admitted: the object is decoded, admitted, valid and encoded.
	Admitted
	// Queued: the transaction is with the store.
	Queued
	// Synced: the transaction is durable.
	Synced
	// Published: readers of the store see it.
	Published
	// Cached: readers of the watch cache see it, and it has been matched to topics.
	Cached
	// Hops is how many there are.
	Hops
)

var hopNames = [Hops]string{"received", "authorized", "admitted", "queued", "synced", "published", "cached"}

func (h Hop) String() string { return hopNames[h] }

// Type is an event's effect on its object.
type Type uint8

const (
	// Unknown: the event has not reached the watch cache.
	Unknown Type = iota
	// Added, Modified and Deleted are as in a watch of all objects.
	Added
	Modified
	Deleted
)

var typeNames = [...]string{"", "ADDED", "MODIFIED", "DELETED"}

func (t Type) String() string { return typeNames[t] }
