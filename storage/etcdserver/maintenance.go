package etcdserver

import (
	"context"
	"errors"
	"hash"
	"hash/crc32"
	"syscall"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	"go.etcd.io/etcd/api/v3/version"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"fairlead.dev/storage"
)

type maintenanceServer struct {
	*Server
	pb.UnimplementedMaintenanceServer
}

// The optional methods of a Store beside the contract.
type (
	sizer     interface{ DiskBytes() (total, live uint64) }
	failer    interface{ Err() error }
	defragger interface {
		Defragment(ctx context.Context) error
	}
)

// failure is the reason why the store is read-only, nil if it is not.
func (s *Server) failure() error {
	if f, ok := s.store.(failer); ok {
		return f.Err()
	}
	return nil
}

func noSpace(err error) bool {
	return errors.Is(err, storage.ErrNoSpace) || errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT)
}

func (s *maintenanceServer) Status(context.Context, *pb.StatusRequest) (*pb.StatusResponse, error) {
	r := s.store.Revision()
	out := &pb.StatusResponse{
		Header: header(r), Version: version.Version, StorageVersion: version.APIVersion + ".0",
		Leader: memberID, RaftTerm: raftTerm, RaftIndex: uint64(r), RaftAppliedIndex: uint64(r),
		DowngradeInfo: &pb.DowngradeInfo{},
	}
	if z, ok := s.store.(sizer); ok {
		total, live := z.DiskBytes()
		out.DbSize, out.DbSizeInUse = int64(total), int64(live)
	}
	if err := s.failure(); err != nil {
		out.Errors = append(out.Errors, err.Error())
	}
	return out, nil
}

// Alarm reports the only alarm there is: the disk was full, and the store is read-only until it is
// restarted. So no alarm can be activated or deactivated.
func (s *maintenanceServer) Alarm(_ context.Context, r *pb.AlarmRequest) (*pb.AlarmResponse, error) {
	if r.Action == pb.AlarmRequest_ACTIVATE {
		return nil, status.Error(codes.Unimplemented, "alarms cannot be activated")
	}
	out := &pb.AlarmResponse{Header: header(s.store.Revision())}
	asked := r.Alarm == pb.AlarmType_NONE || r.Alarm == pb.AlarmType_NOSPACE
	if r.Action == pb.AlarmRequest_GET && asked && noSpace(s.failure()) {
		out.Alarms = append(out.Alarms, &pb.AlarmMember{MemberID: memberID, Alarm: pb.AlarmType_NOSPACE})
	}
	return out, nil
}

func (s *maintenanceServer) Defragment(ctx context.Context, _ *pb.DefragmentRequest) (*pb.DefragmentResponse, error) {
	if d, ok := s.store.(defragger); ok {
		if err := d.Defragment(ctx); err != nil {
			return nil, rpcError(err)
		}
	}
	return &pb.DefragmentResponse{Header: header(s.store.Revision())}, nil
}

func (s *maintenanceServer) MoveLeader(context.Context, *pb.MoveLeaderRequest) (*pb.MoveLeaderResponse, error) {
	return nil, rpctypes.ErrGRPCBadLeaderTransferee
}

func (s *maintenanceServer) Hash(ctx context.Context, _ *pb.HashRequest) (*pb.HashResponse, error) {
	sum, at, err := s.checksum(ctx, 0)
	if err != nil {
		return nil, rpcError(err)
	}
	return &pb.HashResponse{Header: header(at), Hash: sum}, nil
}

func (s *maintenanceServer) HashKV(ctx context.Context, r *pb.HashKVRequest) (*pb.HashKVResponse, error) {
	sum, at, err := s.checksum(ctx, storage.Revision(max(0, r.Revision)))
	if err != nil {
		return nil, rpcError(err)
	}
	return &pb.HashKVResponse{
		Header: header(s.store.Revision()), Hash: sum, HashRevision: int64(at), CompactRevision: int64(s.store.Compacted()),
	}, nil
}

// checksum is the CRC-32C of all keys as of a revision: of each, in order, the numbers, the key and the
// value. For an empty store it is not 0, which clients take for a missing sum.
func (s *Server) checksum(ctx context.Context, at storage.Revision) (uint32, storage.Revision, error) {
	h := crc32.New(crc32.MakeTable(crc32.Castagnoli))
	h.Write([]byte("fairlead"))
	start := "\x00"
	for {
		res, err := s.store.Range(ctx, storage.RangeRequest{Start: start, End: storage.NoEnd, Revision: at, Limit: 10_000})
		if err != nil {
			return 0, 0, err
		}
		at = res.Revision
		for _, kv := range res.KVs {
			checksumKV(h, kv)
			start = kv.Key + "\x00"
		}
		if !res.More {
			return h.Sum32(), at, nil
		}
	}
}

func checksumKV(h hash.Hash, kv *storage.KeyValue) {
	var b [48]byte
	for i, n := range []int64{
		int64(kv.CreateRevision), int64(kv.ModRevision), kv.Version, int64(kv.Lease), int64(len(kv.Key)), int64(len(kv.Value)),
	} {
		for j := range 8 {
			b[8*i+j] = byte(n >> (56 - 8*j))
		}
	}
	h.Write(b[:])
	h.Write([]byte(kv.Key))
	h.Write(kv.Value)
}
