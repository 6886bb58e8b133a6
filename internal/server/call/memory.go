package call

import (
	"fairlead.dev/internal/server/fairness"
	"fairlead.dev/internal/server/pressure"
	"fairlead.dev/internal/server/represent"
)

// pieces is how many times an object, or a piece of a response, is in memory at most while a list is sent: as it is stored, in
// the client's encoding, in the piece that is put together, and in the connection.
const pieces = 4

// ReserveList takes the memory for the objects of a list, or for the state at the start of a watch, until the response ends or
// that state has been sent. They are in memory one by one as they are sent, or all at once if the request needs whole, the list as
// a whole. An object that is replaced meanwhile stays in memory too, and counts in the live heap.
func (c *Call) ReserveList(kind string, whole bool) (err error) {
	if c.Guard == nil {
		return nil
	}
	o := fairness.Listed(&c.Info, c.Query, c.Objects)
	n := o.Bytes()
	if !whole && !c.Audit.KeepsBody() {
		n = min(n, pieces*(o.Size+represent.ChunkSize))
	}
	c.Room.Leave() // of an attempt before, if the kind was defined anew meanwhile
	c.Room, err = c.Guard.Reserve(kind, int64(n))
	return err
}

// Body returns the whole body of the request.
func (c *Call) Body() ([]byte, error) { return c.sent.Read(c.HTTP, &bodyMemory{Call: c}) }

// bodyMemory accounts for the bytes of the call's body.
type bodyMemory struct {
	*Call
	held int64
}

// decodedFactor is how much more memory than a body the objects take that it is decoded to, with the body itself.
const decodedFactor = 4

// Hold implements request.Memory.
func (m *bodyMemory) Hold(n int64) (err error) {
	if err := m.Place.Hold(n); err != nil {
		return err
	}
	if m.held += n; m.held*decodedFactor >= pressure.Small {
		m.Room.Leave()
		m.Room, err = m.Guard.Reserve(pressure.Body, m.held*decodedFactor)
	}
	return err
}
