package server

import (
	"context"

	"fairlead.dev/server/faults"
	"fairlead.dev/storage"
	"fairlead.dev/trace"
)

// expired enters in the trace what a fault has deleted with leases: the deletions of keys
// since a revision.
func (b breaker) expired(ctx context.Context, id uint64, since storage.Revision, keys map[string]bool) error {
	store := b.s.cfg.Store
	now, err := store.Current(ctx)
	if err != nil || now == since {
		return err
	}
	cur, err := store.Watch("/", storage.PrefixEnd("/"), since)
	if err != nil {
		return err
	}
	defer cur.Close()
	for cur.Want(now); ; {
		batch, err := cur.Next()
		if err != nil {
			return err
		}
		for _, e := range batch.Events {
			if e.Type == storage.Delete && keys[e.KV.Key] {
				b.s.cfg.Trace.Struck(trace.Strike{
					Fault: id, Action: string(faults.Expire), What: "its lease was ended", Revision: int64(e.Revision()),
				})
			}
		}
		if batch.Progress >= now {
			return nil
		}
		select {
		case <-cur.Bell():
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}
