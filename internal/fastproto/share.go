package fastproto

import "fairlead.dev/internal/alike"

// Sharer decodes objects that nobody will change: what is encoded alike in several of
// them is one thing in memory.
type Sharer struct{ d decoder }

// NewSharer returns a Sharer that has seen nothing.
func NewSharer() *Sharer { return &Sharer{decoder{values: &alike.Values{}}} }

// Unmarshal is like the function Unmarshal.
func (s *Sharer) Unmarshal(b []byte, into unmarshaler) bool {
	p, v, ok := target(into)
	return ok && s.d.message(p, v, b, 0)
}

// find looks for a field's value that was decoded from the same bytes.
func (d *decoder) find(f *field, b []byte) (alike.Value, alike.Place, bool) {
	if !d.values.Try(f.id) {
		return alike.Value{}, alike.Place{}, false
	}
	return d.values.Find(f.id, b)
}
