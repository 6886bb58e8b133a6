package etcdserver

import (
	"context"
	"errors"
	"io"
	"time"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"

	"fairlead.dev/storage"
)

type leaseServer struct {
	*Server
	pb.UnimplementedLeaseServer
}

func (s *leaseServer) LeaseGrant(ctx context.Context, r *pb.LeaseGrantRequest) (*pb.LeaseGrantResponse, error) {
	if r.TTL > int64(storage.MaxTTL/time.Second) {
		return nil, rpctypes.ErrGRPCLeaseTTLTooLarge
	}
	ttl := max(1, r.TTL) // etcd raises shorter TTLs to its minimum
	l, err := s.store.Grant(ctx, storage.LeaseID(r.ID), time.Duration(ttl)*time.Second)
	if err != nil {
		return nil, rpcError(err)
	}
	return &pb.LeaseGrantResponse{Header: header(s.store.Revision()), ID: int64(l.ID), TTL: seconds(l.TTL)}, nil
}

func seconds(d time.Duration) int64 { return int64(d / time.Second) }

func (s *leaseServer) LeaseRevoke(ctx context.Context, r *pb.LeaseRevokeRequest) (*pb.LeaseRevokeResponse, error) {
	if err := s.store.Revoke(ctx, storage.LeaseID(r.ID)); err != nil {
		return nil, rpcError(err)
	}
	return &pb.LeaseRevokeResponse{Header: header(s.store.Revision())}, nil
}

// LeaseKeepAlive answers each request with the lease's renewed TTL, 0 if the lease does not exist.
func (s *leaseServer) LeaseKeepAlive(stream pb.Lease_LeaseKeepAliveServer) error {
	for {
		r, err := stream.Recv()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		// The revision was read before: the lease lived at it.
		out := &pb.LeaseKeepAliveResponse{Header: header(s.store.Revision()), ID: r.ID}
		l, err := s.store.KeepAlive(stream.Context(), storage.LeaseID(r.ID))
		if err == nil {
			out.TTL = seconds(l.TTL)
		} else if !errors.Is(err, storage.ErrLeaseNotFound) {
			return rpcError(err)
		}
		if err := stream.Send(out); err != nil {
			return err
		}
	}
}

func (s *leaseServer) LeaseTimeToLive(ctx context.Context, r *pb.LeaseTimeToLiveRequest) (*pb.LeaseTimeToLiveResponse, error) {
	l, err := s.store.Lease(ctx, storage.LeaseID(r.ID))
	if errors.Is(err, storage.ErrLeaseNotFound) {
		return &pb.LeaseTimeToLiveResponse{Header: header(s.store.Revision()), ID: r.ID, TTL: -1}, nil
	}
	if err != nil {
		return nil, rpcError(err)
	}
	out := &pb.LeaseTimeToLiveResponse{
		Header: header(s.store.Revision()), ID: r.ID, TTL: seconds(l.Remaining), GrantedTTL: seconds(l.TTL),
	}
	if r.Keys {
		for _, key := range l.Keys {
			out.Keys = append(out.Keys, []byte(key))
		}
	}
	return out, nil
}

func (s *leaseServer) LeaseLeases(ctx context.Context, _ *pb.LeaseLeasesRequest) (*pb.LeaseLeasesResponse, error) {
	ids, err := s.store.Leases(ctx)
	if err != nil {
		return nil, rpcError(err)
	}
	out := &pb.LeaseLeasesResponse{Header: header(s.store.Revision()), Leases: []*pb.LeaseStatus{}}
	for _, id := range ids {
		out.Leases = append(out.Leases, &pb.LeaseStatus{ID: int64(id)})
	}
	return out, nil
}
