package main

import (
	"context"
	"fmt"
	"time"

	"fairlead.dev/storage/local"
)

// roomPause is how often a full disk is looked at.
const roomPause = time.Second

// errAgain asks to start this process anew, in place.
type errAgain struct{ dir string }

func (e errAgain) Error() string { return "there is room again in " + e.dir }

// failedStore reports at once that the disk of a store has failed, and returns when the
// process has to end: with errAgain once a full disk has room again, so that the process
// restarts in place; at once with the cause after any other failure. It returns nil when
// ctx ends.
func failedStore(ctx context.Context, p *progress, dir string, cause error) error {
	if !local.OutOfSpace(cause) {
		return fmt.Errorf("the disk of %s failed; acknowledged writes are safe: start again when the disk is repaired: %w", dir, cause)
	}
	p.line(fmt.Sprintf("The disk of %s is full: nothing is written, reads go on, and this process starts anew when there is room (%v)", dir, cause))
	for t := time.NewTicker(roomPause); ; {
		select {
		case <-ctx.Done():
			t.Stop()
			return nil
		case <-t.C:
		}
		if local.HasRoom(dir) {
			return errAgain{dir}
		}
	}
}
