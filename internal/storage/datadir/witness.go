package datadir

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"io/fs"
	"sync"

	"github.com/cockroachdb/pebble/v2/vfs"

	"fairlead.dev/storage"
)

// A witness is a small file beside the log that records a revision which the log must reach: the
// last acknowledged one. It is written after each sync of the log and before the waiting commits
// are answered, so that an end of the log that is cut off later is missed. That write is not
// synced: it is in the system's memory, which outlives the process. It is synced with the first
// group of each log file, since Pebble does not miss a last log file that is gone, and with each
// mark of time. It never records unsynced revisions.
type Witness struct {
	mu   sync.Mutex
	file vfs.File
	slot int64
	rev  storage.Revision
	// log is the number of the log file in which the last synced note was made.
	log uint64
}

// The witness is written alternately in two places, so that one is always intact. Each has a
// revision and its checksum.
const (
	witnessName = "FAIRLEAD.rev"
	witnessSlot = 512
	witnessSize = 12
)

// ErrLogTooShort: the log ends before the revision of the witness.
var ErrLogTooShort = errors.New("the end of the log is lost")

// OpenWitness opens the witness of dir, or makes one. Its directory is not synced.
func OpenWitness(f vfs.FS, dir string) (*Witness, error) {
	file, err := f.OpenReadWrite(f.PathJoin(dir, witnessName), vfs.WriteCategoryUnspecified)
	if err != nil {
		return nil, err
	}
	w := &Witness{file: file}
	notes, err := readNotes(file)
	if notes[0] > notes[1] {
		w.slot = 1 // the newer one stays until the next is intact
	}
	return w, err
}

// readWitness returns the revision of the witness of dir, 0 without a witness.
func readWitness(f vfs.FS, dir string) (storage.Revision, error) {
	file, err := f.Open(f.PathJoin(dir, witnessName))
	if errors.Is(err, fs.ErrNotExist) {
		return 0, nil
	}
	if err != nil {
		return 0, err
	}
	defer file.Close()
	notes, err := readNotes(file)
	return max(notes[0], notes[1]), err
}

// readNotes reads both places; a damaged one is 0.
func readNotes(file vfs.File) (notes [2]storage.Revision, err error) {
	for slot := range notes {
		var b [witnessSize]byte
		if _, err := file.ReadAt(b[:], int64(slot)*witnessSlot); err != nil && !errors.Is(err, io.EOF) {
			return notes, err
		}
		if crc32.Checksum(b[:8], castagnoli) == binary.BigEndian.Uint32(b[8:]) {
			notes[slot] = storage.Revision(binary.BigEndian.Uint64(b[:]))
		}
	}
	return notes, nil
}

// A LostEnd describes the missing end of a log.
type LostEnd struct{ Ends, Acknowledged storage.Revision }

func (l LostEnd) Error() string {
	return fmt.Sprintf("%v: it ends at revision %d, and %d was acknowledged", ErrLogTooShort, l.Ends, l.Acknowledged)
}

func (l LostEnd) Unwrap() error { return ErrLogTooShort }

// CheckWitness fails with a LostEnd if a log ends at r although the witness of dir has a higher
// revision.
func CheckWitness(f vfs.FS, dir string, r storage.Revision) error {
	known, err := readWitness(f, dir)
	if err == nil && r < known {
		err = LostEnd{r, known}
	}
	return err
}

// Note records that r is on disk, in a log file that may be new.
func (w *Witness) Note(log uint64, r storage.Revision) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if r <= w.rev {
		return nil
	}
	if err := w.write(r); err != nil || log == w.log {
		return err
	}
	w.log = log
	return w.file.SyncData()
}

func (w *Witness) write(r storage.Revision) error {
	w.rev = r
	var b [witnessSize]byte
	binary.BigEndian.PutUint64(b[:], uint64(r))
	binary.BigEndian.PutUint32(b[8:], crc32.Checksum(b[:8], castagnoli))
	_, err := w.file.WriteAt(b[:], w.slot*witnessSlot)
	w.slot ^= 1
	return err
}

// Sync writes the last note to disk.
func (w *Witness) Sync() error { return w.file.SyncData() }

// Close closes the file.
func (w *Witness) Close() error { return w.file.Close() }

// Forget lowers the recorded revision to r.
func (w *Witness) Forget(r storage.Revision) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	return errors.Join(w.write(r), w.write(r), w.Sync())
}
