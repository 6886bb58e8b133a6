package represent

import "sync"

// ChunkSize is the size in bytes of a piece of a long response.
const ChunkSize = 16 << 10

// Buffers holds buffers for pieces of responses.
var Buffers = sync.Pool{New: func() any {
	b := make([]byte, 0, ChunkSize+4<<10)
	return &b
}}

// ReleaseBuffer returns a buffer to Buffers. box is the value that Buffers returned, b the
// buffer in its present state.
func ReleaseBuffer(box *[]byte, b []byte) {
	if cap(b) <= 4*ChunkSize {
		*box = b[:0]
		Buffers.Put(box)
	}
}
