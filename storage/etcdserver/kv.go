package etcdserver

import (
	"cmp"
	"context"
	"slices"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	"go.etcd.io/etcd/api/v3/mvccpb"
	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"fairlead.dev/storage"
)

type kvServer struct {
	*Server
	pb.UnimplementedKVServer
}

func (s *kvServer) Range(ctx context.Context, r *pb.RangeRequest) (*pb.RangeResponse, error) {
	if err := checkRange(r); err != nil {
		return nil, err
	}
	return s.read(ctx, r)
}

func (s *kvServer) read(ctx context.Context, r *pb.RangeRequest) (*pb.RangeResponse, error) {
	res, err := s.store.Range(ctx, storeRange(r))
	if err != nil {
		return nil, rpcError(err)
	}
	out := answer(r, res)
	out.Header = header(res.Revision)
	if r.Revision > 0 {
		out.Header.Revision = int64(s.store.Revision())
	}
	return out, nil
}

// storeRange is the part of r that the store does itself.
func storeRange(r *pb.RangeRequest) storage.RangeRequest {
	q := storage.RangeRequest{
		Start: string(r.Key), End: string(r.RangeEnd),
		Revision: storage.Revision(max(0, r.Revision)), CountOnly: r.CountOnly,
	}
	switch {
	case r.Limit <= 0 || ordered(r) || filters(r):
	case inOrder(r):
		q.Limit = r.Limit
	default:
		q.Limit = r.Limit + 1
	}
	return q
}

// inOrder reports whether r wants keys in the order of the store.
func inOrder(r *pb.RangeRequest) bool {
	return r.SortTarget == pb.RangeRequest_KEY && r.SortOrder != pb.RangeRequest_DESCEND
}

// ordered reports whether r names an order of its own. A request with only a sort target gets, as
// from etcd, the first keys of the range, one more than its limit, sorted.
func ordered(r *pb.RangeRequest) bool {
	return r.SortOrder != pb.RangeRequest_NONE && !inOrder(r)
}

func filters(r *pb.RangeRequest) bool {
	return r.MinModRevision != 0 || r.MaxModRevision != 0 || r.MinCreateRevision != 0 || r.MaxCreateRevision != 0
}

// answer does the rest. The count is of all keys of the range, regardless of the filters, as etcd's
// is.
func answer(r *pb.RangeRequest, res storage.RangeResult) *pb.RangeResponse {
	kvs, more := selectKeys(r, res)
	return &pb.RangeResponse{Kvs: projectKeys(r, kvs), Count: res.Count, More: more}
}

// selectKeys filters, sorts and cuts the keys that the store has found.
func selectKeys(r *pb.RangeRequest, res storage.RangeResult) (kvs []*storage.KeyValue, more bool) {
	kvs, more = res.KVs, res.More
	if filters(r) {
		kvs = slices.DeleteFunc(kvs, func(kv *storage.KeyValue) bool {
			return outside(kv.ModRevision, r.MinModRevision, r.MaxModRevision) ||
				outside(kv.CreateRevision, r.MinCreateRevision, r.MaxCreateRevision)
		})
	}
	if !inOrder(r) {
		if !ordered(r) && !filters(r) && r.Limit > 0 && int64(len(kvs)) > r.Limit {
			kvs = kvs[:r.Limit+1]
		}
		order(kvs, r)
	}
	if r.Limit > 0 && int64(len(kvs)) > r.Limit {
		return kvs[:r.Limit], true
	}
	return kvs, more
}

// projectKeys returns the parts of keys that r asks for.
func projectKeys(r *pb.RangeRequest, kvs []*storage.KeyValue) []*mvccpb.KeyValue {
	out := toKeyValues(kvs, r.KeysOnly)
	if r.KeysOnly && r.SortTarget != pb.RangeRequest_VALUE {
		for _, kv := range out {
			kv.Lease = 0 // etcd 3.7 answers from its index, which has no leases
		}
	}
	return out
}

func outside(r storage.Revision, least, most int64) bool {
	return least != 0 && int64(r) < least || most != 0 && int64(r) > most
}

func order(kvs []*storage.KeyValue, r *pb.RangeRequest) {
	by := map[pb.RangeRequest_SortTarget]func(a, b *storage.KeyValue) int{
		pb.RangeRequest_KEY:     func(a, b *storage.KeyValue) int { return cmp.Compare(a.Key, b.Key) },
		pb.RangeRequest_VERSION: func(a, b *storage.KeyValue) int { return cmp.Compare(a.Version, b.Version) },
		pb.RangeRequest_CREATE:  func(a, b *storage.KeyValue) int { return cmp.Compare(a.CreateRevision, b.CreateRevision) },
		pb.RangeRequest_MOD:     func(a, b *storage.KeyValue) int { return cmp.Compare(a.ModRevision, b.ModRevision) },
		pb.RangeRequest_VALUE:   func(a, b *storage.KeyValue) int { return cmp.Compare(string(a.Value), string(b.Value)) },
	}[r.SortTarget]
	slices.SortStableFunc(kvs, func(a, b *storage.KeyValue) int {
		if r.SortOrder == pb.RangeRequest_DESCEND {
			return by(b, a)
		}
		return by(a, b)
	})
}

// Chunks of RangeStream: as many keys as fit, but at least one.
const (
	chunkKeys  = 1000
	chunkBytes = 1 << 20
)

// RangeStream answers with one revision in chunks: it copies one chunk at a time, however large the
// range.
func (s *kvServer) RangeStream(r *pb.RangeRequest, out pb.KV_RangeStreamServer) error {
	if err := checkRange(r); err != nil {
		return err
	}
	if ordered(r) {
		return status.Error(codes.Unimplemented, "RangeStream does not support custom sort orders")
	}
	if filters(r) {
		return status.Error(codes.Unimplemented, "RangeStream does not support revision filters")
	}
	res, err := s.store.Range(out.Context(), storeRange(r))
	if err != nil {
		return rpcError(err)
	}
	now := res.Revision
	if r.Revision > 0 {
		now = s.store.Revision()
	}
	kvs, more := selectKeys(r, res)
	for {
		n, size := 0, 0
		for n < len(kvs) && n < chunkKeys && (n == 0 || size < chunkBytes) {
			size += len(kvs[n].Key) + len(kvs[n].Value)
			n++
		}
		chunk := &pb.RangeResponse{Kvs: projectKeys(r, kvs[:n])}
		kvs = kvs[n:]
		if len(kvs) == 0 {
			chunk.Header, chunk.Count, chunk.More = header(now), res.Count, more
		}
		if err := out.Send(&pb.RangeStreamResponse{RangeResponse: chunk}); err != nil {
			return err
		}
		if len(kvs) == 0 {
			return nil
		}
	}
}

func (s *kvServer) Put(ctx context.Context, r *pb.PutRequest) (*pb.PutResponse, error) {
	if err := checkPut(r); err != nil {
		return nil, err
	}
	if err := checkSize(r); err != nil {
		return nil, err
	}
	if r.PrevKv || r.IgnoreValue || r.IgnoreLease {
		res, err := s.txn(ctx, &pb.TxnRequest{Success: []*pb.RequestOp{{Request: &pb.RequestOp_RequestPut{RequestPut: r}}}})
		if err != nil {
			return nil, rpcError(err)
		}
		out := res.Responses[0].GetResponsePut()
		out.Header = res.Header
		return out, nil
	}
	res, err := s.store.Commit(ctx, storage.Txn{Then: []storage.Op{putOp(r)}})
	if err != nil {
		return nil, rpcError(err)
	}
	return &pb.PutResponse{Header: header(res.Revision)}, nil
}

func putOp(r *pb.PutRequest) storage.Op {
	return storage.Op{Key: string(r.Key), Value: r.Value, Lease: storage.LeaseID(r.Lease)}
}

func (s *kvServer) DeleteRange(ctx context.Context, r *pb.DeleteRangeRequest) (*pb.DeleteRangeResponse, error) {
	if err := checkDelete(r); err != nil {
		return nil, err
	}
	res, err := s.txn(ctx, &pb.TxnRequest{Success: []*pb.RequestOp{{Request: &pb.RequestOp_RequestDeleteRange{RequestDeleteRange: r}}}})
	if err != nil {
		return nil, rpcError(err)
	}
	out := res.Responses[0].GetResponseDeleteRange()
	out.Header = res.Header
	return out, nil
}

func (s *kvServer) Txn(ctx context.Context, r *pb.TxnRequest) (*pb.TxnResponse, error) {
	if err := checkTxn(r, MaxTxnOps); err != nil {
		return nil, err
	}
	for _, branch := range [][]*pb.RequestOp{r.Success, r.Failure} {
		if _, err := checkKeys(branch); err != nil {
			return nil, err
		}
	}
	if err := checkSize(r); err != nil {
		return nil, err
	}
	out, err := s.txn(ctx, r)
	return out, rpcError(err)
}

func (s *kvServer) Compact(ctx context.Context, r *pb.CompactionRequest) (*pb.CompactionResponse, error) {
	if storage.Revision(r.Revision) > s.store.Revision() {
		return nil, rpctypes.ErrGRPCFutureRev
	}
	// Later commits are at revisions above r.
	s.compaction.Lock()
	//lint:ignore SA2001 passing through the lock is the point
	s.compaction.Unlock()
	if err := s.store.Compact(ctx, storage.Revision(r.Revision)); err != nil {
		return nil, rpcError(err)
	}
	return &pb.CompactionResponse{Header: header(s.store.Revision())}, nil
}
