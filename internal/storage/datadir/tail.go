package datadir

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"path"
	"strconv"
	"strings"

	"github.com/cockroachdb/pebble/v2/vfs"
)

// A crash leaves a last log file that ends anywhere: a write in progress may be there in part,
// later bytes without earlier ones. So a damaged place in it is either the end of the log or damage
// compactTo acknowledged commits, and only the bytes after it can decide: every batch begins with a note
// of how much of the file was on disk before the batch was written. If an intact batch notes this
// of damaged bytes, they were damaged since.
//
// Pebble has such notes of its own, but they leave out bytes that were synced in whole blocks of 32
// KB, and it does not look for them in the rest of the damaged block.

// A syncNote records that so many bytes of a log file are on disk.
type SyncNote struct {
	Log  uint64
	Size int64
}

// ErrTail: the last log file is damaged in acknowledged commits.
var ErrTail = errors.New("damaged log")

const (
	noteSize = 17
	noteMark = 'n'

	batchHead   = 12 // sequence number and count
	kindLogData = 3
)

// Encode returns the note as a batch holds it.
func (n *SyncNote) Encode() (b [noteSize]byte) {
	b[0] = noteMark
	binary.BigEndian.PutUint64(b[1:], n.Log)
	binary.BigEndian.PutUint64(b[9:], uint64(n.Size))
	return b
}

// readNote finds the note of a batch, or of its beginning.
func readNote(batch []byte) (n SyncNote, ok bool) {
	if len(batch) < batchHead+2+noteSize {
		return n, false
	}
	b := batch[batchHead:]
	if b[0] != kindLogData || b[1] != noteSize || b[2] != noteMark {
		return n, false
	}
	return SyncNote{binary.BigEndian.Uint64(b[3:]), int64(binary.BigEndian.Uint64(b[11:]))}, true
}

// Pebble's log consists of blocks of 32 KB, and a block of chunks: a checksum of the bytes after
// the length (4 bytes, little-endian like all numbers), the length of the payload (2), a type (1),
// the low bytes of the file's number (4), Pebble's own note (8), and the payload, which is a batch
// or a part of one. The end of a block that is too small for a chunk is zero.
const (
	blockSize = 32 << 10
	chunkHead = 19
	chunkFull = 9 // a whole batch; then the first, a middle and the last part
	chunkLast = 12
)

// CheckTail rejects a last log file with damage in acknowledged commits.
func CheckTail(f vfs.FS, dir string) error {
	names, err := f.List(dir)
	if err != nil {
		return err
	}
	var last uint64
	var name string
	for _, s := range names {
		if n, ok := LogNumber(s); ok && n >= last {
			last, name = n, s
		}
	}
	if name == "" {
		return nil
	}
	file, err := f.Open(f.PathJoin(dir, name))
	if err != nil {
		return err
	}
	defer file.Close()
	b, err := io.ReadAll(file)
	if err != nil {
		return err
	}
	return scanTail(name, b, last)
}

// LogNumber returns the number of a log file.
func LogNumber(name string) (uint64, bool) {
	digits, ok := strings.CutSuffix(path.Base(name), ".log")
	n, err := strconv.ParseUint(digits, 10, 64)
	return n, ok && err == nil
}

func scanTail(name string, b []byte, log uint64) error {
	bad := int64(-1) // the first damaged place
	for at := 0; at < len(b); {
		rest := b[at:min(len(b), (at/blockSize+1)*blockSize)]
		size, note := readChunk(rest, log)
		switch {
		case size == 0 && len(rest) < chunkHead && zero(rest):
			at += len(rest)
		case size == 0:
			if bad < 0 {
				bad = int64(at)
			}
			at++
		case bad >= 0 && note > bad:
			return fmt.Errorf("%w: %s is damaged at byte %d, and byte %d says that it was written up to byte %d", ErrTail, name, bad, at, note)
		default:
			at += size
		}
	}
	return nil
}

// readChunk reads the chunk at the beginning of b. It returns the chunk's size, 0 if there is no
// intact one, and how much of the file is on disk according to it.
func readChunk(b []byte, log uint64) (size int, note int64) {
	if len(b) < chunkHead || b[6] < chunkFull || b[6] > chunkLast || binary.LittleEndian.Uint32(b[7:]) != uint32(log) {
		return 0, 0
	}
	size = chunkHead + int(binary.LittleEndian.Uint16(b[4:]))
	if size > len(b) || checksum(b[6:size]) != binary.LittleEndian.Uint32(b) {
		return 0, 0
	}
	note = int64(binary.LittleEndian.Uint64(b[11:]))
	if n, ok := readNote(b[chunkHead:size]); ok && b[6] <= chunkFull+1 && n.Log == log {
		note = max(note, n.Size)
	}
	return size, note
}

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// checksum is Pebble's: CRC-32C, rotated and shifted.
func checksum(b []byte) uint32 {
	c := crc32.Checksum(b, castagnoli)
	return (c>>15 | c<<17) + 0xa282ead8
}

func zero(b []byte) bool {
	for _, c := range b {
		if c != 0 {
			return false
		}
	}
	return true
}
