package main

import (
	"context"
	"fmt"
	"time"

	"fairlead.dev/storage/local"
)

// spaceCheckInterval is the pause between two checks whether a full disk has room.
const spaceCheckInterval = time.Second

// errRestart asks main to restart this process in place.
type errRestart struct{ dir string }

func (e errRestart) Error() string { return "there is room again in " + e.dir }

// handleStoreFailure reports at once that the disk of a store has failed, and returns when the
// process has to end: with errRestart once a full disk has room again, so that the process
// restarts in place; at once with the cause after any other failure. It returns nil when
// ctx ends.
func handleStoreFailure(ctx context.Context, p *progress, dir string, cause error) error {
	if !local.OutOfSpace(cause) {
		return fmt.Errorf("the disk of %s failed; acknowledged writes are safe: start again when the disk is repaired: %w", dir, cause)
	}
	p.line(fmt.Sprintf("The disk of %s is full: nothing is written, reads go on, and this process restarts when there is room (%v)", dir, cause))
	for t := time.NewTicker(spaceCheckInterval); ; {
		select {
		case <-ctx.Done():
			t.Stop()
			return nil
		case <-t.C:
		}
		if local.HasRoom(dir) {
			return errRestart{dir}
		}
	}
}
