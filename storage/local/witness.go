package local

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"io/fs"

	"github.com/cockroachdb/pebble/v2/vfs"

	"fairlead.dev/storage"
)

// A witness is a small file beside the log that knows a revision which the log must
// reach. Pebble does not miss a log file that is gone, if it is the last: so each time
// the first commit to a new log file is durable, and before it is acknowledged, the
// witness notes its revision, with one more sync.
type witness struct {
	file vfs.File
	slot int64
	// log is the number of the log file that was noted.
	log uint64
}

// The witness is written in turns in two places, so that one is always whole. Each has
// a revision and a checksum of it.
const (
	witnessName = "FAIRLEAD.rev"
	witnessSlot = 512
	witnessSize = 12
)

// errShort: the log ends before what the witness knows.
var errShort = errors.New("the end of the log is lost")

// openWitness opens the witness of dir, or makes one. Its directory is not synced.
func openWitness(f vfs.FS, dir string) (*witness, error) {
	file, err := f.OpenReadWrite(f.PathJoin(dir, witnessName), vfs.WriteCategoryUnspecified)
	if err != nil {
		return nil, err
	}
	return &witness{file: file}, nil
}

// readWitness is the revision that the witness of dir knows, 0 if there is none.
func readWitness(f vfs.FS, dir string) (storage.Revision, error) {
	file, err := f.Open(f.PathJoin(dir, witnessName))
	if errors.Is(err, fs.ErrNotExist) {
		return 0, nil
	}
	if err != nil {
		return 0, err
	}
	defer file.Close()
	var r storage.Revision
	for slot := range int64(2) {
		var b [witnessSize]byte
		if _, err := file.ReadAt(b[:], slot*witnessSlot); err != nil && !errors.Is(err, io.EOF) {
			return 0, err
		}
		if crc32.Checksum(b[:8], castagnoli) == binary.BigEndian.Uint32(b[8:]) {
			r = max(r, storage.Revision(binary.BigEndian.Uint64(b[:])))
		}
	}
	return r, nil
}

// testify refuses a log that ends at r although the witness of dir knows better.
func testify(f vfs.FS, dir string, r storage.Revision) error {
	known, err := readWitness(f, dir)
	if err == nil && r < known {
		err = fmt.Errorf("%w: it ends at revision %d, and %d was written", errShort, r, known)
	}
	return err
}

// note notes that r is on disk, in a log file that may be new.
func (w *witness) note(log uint64, r storage.Revision) error {
	if log == w.log {
		return nil
	}
	w.log = log
	b := make([]byte, 8, witnessSize)
	binary.BigEndian.PutUint64(b, uint64(r))
	b = binary.BigEndian.AppendUint32(b, crc32.Checksum(b, castagnoli))
	if _, err := w.file.WriteAt(b, w.slot*witnessSlot); err != nil {
		return err
	}
	w.slot ^= 1
	return w.file.SyncData()
}
