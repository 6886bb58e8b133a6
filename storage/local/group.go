package local

import (
	"fmt"

	"fairlead.dev/storage"

	"fairlead.dev/internal/storage/engine"
	"fairlead.dev/internal/storage/mvcc"
)

// A group is a set of commits that one sync makes durable: the calls that wait for it, and what it
// changes.
type group struct {
	engine.Group
	calls []*call
	tree  *mvcc.Tree // if keys were added
	live  mvcc.Size  // how many more keys and bytes are live
}

// maxGroupBytes is the size at which a group is full. It stays well below Pebble's memtable, which
// larger batches bypass.
const maxGroupBytes = 2 << 20

// A call is a waiting Commit or, with an order, another operation that is queued among the commits.
type call struct {
	txn   storage.Txn
	res   storage.TxnResult
	order func(g *group) error
	err   error
	done  chan struct{}
}

// answer answers the calls, each with its own result.
func (g *group) answer() {
	for _, call := range g.calls {
		close(call.done)
	}
}

// fail answers the calls of a group that may or may not have been written.
func (g *group) fail(err error) {
	for _, call := range g.calls {
		call.err = fmt.Errorf("%w: %w", storage.ErrUnavailable, err)
		close(call.done)
	}
}

// refuse answers calls that never reached the engine.
func refuse(calls []*call, err error) {
	for _, call := range calls {
		call.err = fmt.Errorf("%w: %w", storage.ErrNotWritten, err)
		close(call.done)
	}
}
