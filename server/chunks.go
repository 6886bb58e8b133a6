package server

import "sync"

// chunkSize is the size of a piece of a long answer.
const chunkSize = 16 << 10

// chunkBuffers are pieces of answers being put together.
var chunkBuffers = sync.Pool{New: func() any {
	b := make([]byte, 0, chunkSize+4<<10)
	return &b
}}

// giveChunk gives a buffer back that has been taken from chunkBuffers as box.
func giveChunk(box *[]byte, b []byte) {
	if cap(b) <= 4*chunkSize {
		*box = b[:0]
		chunkBuffers.Put(box)
	}
}
