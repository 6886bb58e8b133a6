package etcdserver

import (
	"bytes"
	"cmp"
	"context"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"

	"fairlead.dev/storage"
)

// A view reads one revision, that of its first read, and keeps the keys that it has read as
// conditions.
type view struct {
	ctx   context.Context
	store storage.Store
	at    storage.Revision
	conds []storage.Condition
	keys  map[string]*storage.KeyValue
	// wanted: an error is about a revision that the client asked for.
	wanted bool
}

func (v *view) read(start, end string) ([]*storage.KeyValue, error) {
	res, err := v.store.Range(v.ctx, storage.RangeRequest{Start: start, End: end, Revision: v.at})
	if err != nil {
		return nil, err
	}
	v.at = res.Revision
	return res.KVs, nil
}

// get reads a key, nil if it does not exist.
func (v *view) get(key string) (*storage.KeyValue, error) {
	if kv, ok := v.keys[key]; ok {
		return kv, nil
	}
	kvs, err := v.read(key, "")
	if err != nil {
		return nil, err
	}
	c := storage.Condition{Key: key}
	var kv *storage.KeyValue
	if len(kvs) > 0 {
		kv = kvs[0]
		c.ModRevision = kv.ModRevision
	}
	if v.keys == nil {
		v.keys = map[string]*storage.KeyValue{}
	}
	v.keys[key] = kv
	v.conds = append(v.conds, c)
	return kv, nil
}

// check reports whether the revision of a range can be read.
func (v *view) check(r *pb.RangeRequest) error {
	at := storage.Revision(r.Revision)
	if at == 0 {
		return nil
	}
	_, err := v.store.Range(v.ctx, storage.RangeRequest{Start: string(r.Key), Revision: max(0, at), CountOnly: true})
	v.wanted = err != nil
	return err
}

// chooseBranch chooses the branches of a transaction and of those nested in it. All are decided on the
// state before the transaction.
func (v *view) chooseBranch(r *pb.TxnRequest) (branch, error) {
	b := branch{succeeded: true}
	for _, c := range r.GetCompare() {
		holds, err := v.compare(c)
		if err != nil {
			return b, err
		}
		if b.succeeded = holds; !holds {
			break
		}
	}
	for _, op := range b.ops(r) {
		if t := op.GetRequestTxn(); t != nil {
			nested, err := v.chooseBranch(t)
			if err != nil {
				return b, err
			}
			b.nested = append(b.nested, nested)
		}
	}
	return b, nil
}

func (v *view) compare(c *pb.Compare) (bool, error) {
	if len(c.RangeEnd) == 0 {
		kv, err := v.get(string(c.Key))
		if err != nil {
			return false, err
		}
		return compareOne(c, kv), nil
	}
	kvs, err := v.read(string(c.Key), string(c.RangeEnd))
	if err != nil {
		return false, err
	}
	v.conds = append(v.conds, storage.Condition{Key: string(c.Key), End: string(c.RangeEnd), ModRevision: v.at})
	if len(kvs) == 0 {
		return compareOne(c, nil), nil
	}
	for _, kv := range kvs {
		if !compareOne(c, kv) {
			return false, nil
		}
	}
	return true, nil
}

// compareOne compares a key. One that does not exist has zeros for numbers, and no value to compare
// with.
func compareOne(c *pb.Compare, kv *storage.KeyValue) bool {
	if kv == nil {
		if c.Target == pb.Compare_VALUE {
			return false
		}
		kv = &storage.KeyValue{}
	}
	var is int
	switch c.Target {
	case pb.Compare_VALUE:
		is = bytes.Compare(kv.Value, c.GetValue())
	case pb.Compare_CREATE:
		is = cmp.Compare(int64(kv.CreateRevision), c.GetCreateRevision())
	case pb.Compare_MOD:
		is = cmp.Compare(int64(kv.ModRevision), c.GetModRevision())
	case pb.Compare_VERSION:
		is = cmp.Compare(kv.Version, c.GetVersion())
	case pb.Compare_LEASE:
		is = cmp.Compare(int64(kv.Lease), c.GetLease())
	}
	switch c.Result {
	case pb.Compare_EQUAL:
		return is == 0
	case pb.Compare_NOT_EQUAL:
		return is != 0
	case pb.Compare_GREATER:
		return is > 0
	case pb.Compare_LESS:
		return is < 0
	}
	return true
}
