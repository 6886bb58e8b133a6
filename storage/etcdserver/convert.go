package etcdserver

import (
	"context"
	"errors"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	"go.etcd.io/etcd/api/v3/mvccpb"
	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"fairlead.dev/internal/rawmem"
	"fairlead.dev/storage"
)

// The identity of this server. Clients want the IDs to be set and to stay the same; 2 is the term
// of a cluster that had one election.
const (
	clusterID = 0xfa121ead_00000001
	memberID  = 0xfa121ead_00000002
	raftTerm  = 2
)

func header(r storage.Revision) *pb.ResponseHeader {
	return &pb.ResponseHeader{ClusterId: clusterID, MemberId: memberID, RaftTerm: raftTerm, Revision: int64(r)}
}

// operationHeader is the header of an answer within a transaction.
func operationHeader(r storage.Revision) *pb.ResponseHeader {
	return &pb.ResponseHeader{Revision: int64(r)}
}

func fillKeyValue(to *mvccpb.KeyValue, kv *storage.KeyValue) {
	to.Key, to.Value = rawmem.Bytes(kv.Key), kv.Value
	to.CreateRevision, to.ModRevision = int64(kv.CreateRevision), int64(kv.ModRevision)
	to.Version, to.Lease = kv.Version, int64(kv.Lease)
}

func toKeyValue(kv *storage.KeyValue) *mvccpb.KeyValue {
	if kv == nil {
		return nil
	}
	to := new(mvccpb.KeyValue)
	fillKeyValue(to, kv)
	return to
}

func toKeyValues(kvs []*storage.KeyValue, keysOnly bool) []*mvccpb.KeyValue {
	room, out := make([]mvccpb.KeyValue, len(kvs)), make([]*mvccpb.KeyValue, len(kvs))
	for i, kv := range kvs {
		fillKeyValue(&room[i], kv)
		if keysOnly {
			room[i].Value = nil
		}
		out[i] = &room[i]
	}
	return out
}

// rpcError returns etcd's error for err of the store.
func rpcError(err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, storage.ErrCompacted):
		return rpctypes.ErrGRPCCompacted
	case errors.Is(err, storage.ErrFutureRevision):
		return rpctypes.ErrGRPCFutureRev
	case errors.Is(err, storage.ErrTooLarge):
		return rpctypes.ErrGRPCRequestTooLarge
	case errors.Is(err, storage.ErrLeaseNotFound):
		return rpctypes.ErrGRPCLeaseNotFound
	case errors.Is(err, storage.ErrLeaseExists):
		return rpctypes.ErrGRPCLeaseExist
	case errors.Is(err, context.Canceled):
		return rpctypes.ErrGRPCCanceled
	case errors.Is(err, context.DeadlineExceeded):
		return rpctypes.ErrGRPCDeadlineExceeded
	case noSpace(err):
		return rpctypes.ErrGRPCNoSpace
	case errors.Is(err, storage.ErrClosed):
		return rpctypes.ErrGRPCStopped
	case errors.Is(err, storage.ErrNotWritten), errors.Is(err, storage.ErrUnavailable):
		return status.Error(codes.Unavailable, "etcdserver: "+err.Error())
	case errors.Is(err, storage.ErrInvalid):
		return status.Error(codes.InvalidArgument, "etcdserver: "+err.Error())
	}
	if _, ok := status.FromError(err); ok {
		return err
	}
	return status.Error(codes.Unknown, err.Error())
}
