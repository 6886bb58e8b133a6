package etcdserver

import (
	"context"
	"slices"
	"strings"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"

	"fairlead.dev/storage"
)

// effects answers the operations of a transaction at revision rev, one after the other: the state
// before it, which is that of revision base, with its own writes so far laid over it.
type effects struct {
	ctx       context.Context
	store     storage.Store
	base, rev storage.Revision
	// over holds the keys written so far, nil for those deleted.
	over map[string]*storage.KeyValue
	// lone: there is only one operation, so no later one reads its writes.
	lone bool
	// known are keys that are known to have existed.
	known []string
}

// addKnownKey records that a key existed.
func (e *effects) addKnownKey(key string) { e.known = append(e.known, key) }

// revision is the revision as the next operation would find it.
func (e *effects) revision() storage.Revision {
	if len(e.over) > 0 {
		return e.rev
	}
	return e.base
}

// response answers a whole transaction.
func (e *effects) response(r *pb.TxnRequest, b branch) (*pb.TxnResponse, error) {
	e.lone = len(b.ops(r)) == 1 && len(b.nested) == 0
	out, err := e.txn(r, b)
	if err != nil {
		return nil, err
	}
	out.Header = header(e.rev)
	return out, nil
}

func (e *effects) txn(r *pb.TxnRequest, b branch) (*pb.TxnResponse, error) {
	ops, nested := b.ops(r), b.nested
	out := &pb.TxnResponse{Header: operationHeader(0), Succeeded: b.succeeded, Responses: make([]*pb.ResponseOp, len(ops))}
	for i, op := range ops {
		to := new(pb.ResponseOp)
		out.Responses[i] = to
		switch r := op.Request.(type) {
		case *pb.RequestOp_RequestRange:
			res, err := e.get(r.RequestRange)
			if err != nil {
				return nil, err
			}
			to.Response = &pb.ResponseOp_ResponseRange{ResponseRange: res}
		case *pb.RequestOp_RequestPut:
			res, err := e.put(r.RequestPut)
			if err != nil {
				return nil, err
			}
			to.Response = &pb.ResponseOp_ResponsePut{ResponsePut: res}
		case *pb.RequestOp_RequestDeleteRange:
			res, err := e.delete(r.RequestDeleteRange)
			if err != nil {
				return nil, err
			}
			to.Response = &pb.ResponseOp_ResponseDeleteRange{ResponseDeleteRange: res}
		case *pb.RequestOp_RequestTxn:
			res, err := e.txn(r.RequestTxn, nested[0])
			if err != nil {
				return nil, err
			}
			nested = nested[1:]
			to.Response = &pb.ResponseOp_ResponseTxn{ResponseTxn: res}
		}
	}
	return out, nil
}

func (e *effects) get(r *pb.RangeRequest) (*pb.RangeResponse, error) {
	q := storeRange(r)
	if r.Revision > 0 || len(e.over) == 0 {
		if r.Revision <= 0 {
			q.Revision = e.base
		}
		res, err := e.store.Range(e.ctx, q)
		if err != nil {
			return nil, err
		}
		out := answer(r, res)
		out.Header = operationHeader(e.revision())
		return out, nil
	}
	kvs, err := e.read(q.Start, q.End)
	if err != nil {
		return nil, err
	}
	res := storage.RangeResult{KVs: kvs, Count: int64(len(kvs))}
	if r.CountOnly {
		res.KVs = nil
	}
	out := answer(r, res)
	out.Header = operationHeader(e.rev)
	return out, nil
}

// read returns a range in its current state, in order.
func (e *effects) read(start, end string) ([]*storage.KeyValue, error) {
	res, err := e.store.Range(e.ctx, storage.RangeRequest{Start: start, End: end, Revision: e.base})
	if err != nil {
		return nil, err
	}
	if len(e.over) == 0 {
		return res.KVs, nil
	}
	kvs := slices.DeleteFunc(res.KVs, func(kv *storage.KeyValue) bool {
		_, ok := e.over[kv.Key]
		return ok
	})
	for key, kv := range e.over {
		if kv != nil && inRange(key, start, end) {
			kvs = append(kvs, kv)
		}
	}
	slices.SortFunc(kvs, func(a, b *storage.KeyValue) int { return strings.Compare(a.Key, b.Key) })
	return kvs, nil
}

func (e *effects) put(r *pb.PutRequest) (*pb.PutResponse, error) {
	out := &pb.PutResponse{Header: operationHeader(e.rev)}
	if e.lone && !r.PrevKv {
		return out, nil
	}
	key := string(r.Key)
	kvs, err := e.read(key, "")
	if err != nil {
		return nil, err
	}
	kv := &storage.KeyValue{
		Key: key, Value: r.Value, Lease: storage.LeaseID(r.Lease),
		CreateRevision: e.rev, ModRevision: e.rev, Version: 1,
	}
	if len(kvs) > 0 {
		old := kvs[0]
		kv.CreateRevision, kv.Version = old.CreateRevision, old.Version+1
		if r.IgnoreValue {
			kv.Value = old.Value
		}
		if r.IgnoreLease {
			kv.Lease = old.Lease
		}
		if r.PrevKv {
			out.PrevKv = toKeyValue(old)
		}
	}
	e.write(key, kv)
	return out, nil
}

func (e *effects) delete(r *pb.DeleteRangeRequest) (*pb.DeleteRangeResponse, error) {
	key, end := string(r.Key), string(r.RangeEnd)
	out := &pb.DeleteRangeResponse{}
	if end == "" && !r.PrevKv && slices.Contains(e.known, key) {
		if _, ok := e.over[key]; !ok {
			e.write(key, nil)
			out.Deleted = 1
		}
	} else if e.base != e.rev { // otherwise no key was deleted
		kvs, err := e.read(key, end)
		if err != nil {
			return nil, err
		}
		for _, kv := range kvs {
			e.write(kv.Key, nil)
		}
		out.Deleted = int64(len(kvs))
		if r.PrevKv {
			out.PrevKvs = toKeyValues(kvs, false)
		}
	}
	out.Header = operationHeader(e.revision())
	return out, nil
}

func (e *effects) write(key string, kv *storage.KeyValue) {
	if e.over == nil {
		e.over = map[string]*storage.KeyValue{}
	}
	e.over[key] = kv
}

// inRange reports whether a key lies in a range of etcd's.
func inRange(key, start, end string) bool {
	switch end {
	case "":
		return key == start
	case storage.NoEnd:
		return key >= start
	}
	return start <= key && key < end
}
