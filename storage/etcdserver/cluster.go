package etcdserver

import (
	"context"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
)

// memberName is the name of this member.
const memberName = "fairlead"

// The clusterServer knows its one member, and refuses to change that.
type clusterServer struct {
	*Server
	pb.UnimplementedClusterServer
}

func (s *clusterServer) MemberList(context.Context, *pb.MemberListRequest) (*pb.MemberListResponse, error) {
	return &pb.MemberListResponse{Header: header(0), Members: []*pb.Member{{
		ID: memberID, Name: memberName, ClientURLs: s.config.ClientURLs, PeerURLs: []string{},
	}}}, nil
}

// The authServer answers as etcd does while authentication is not enabled. Requests that would
// manage users are answered as not implemented.
type authServer struct {
	*Server
	pb.UnimplementedAuthServer
}

func (s *authServer) AuthStatus(context.Context, *pb.AuthStatusRequest) (*pb.AuthStatusResponse, error) {
	return &pb.AuthStatusResponse{Header: header(s.store.Revision()), AuthRevision: 1}, nil
}

func (s *authServer) Authenticate(context.Context, *pb.AuthenticateRequest) (*pb.AuthenticateResponse, error) {
	return nil, rpctypes.ErrGRPCAuthNotEnabled
}

func (s *authServer) AuthDisable(context.Context, *pb.AuthDisableRequest) (*pb.AuthDisableResponse, error) {
	return &pb.AuthDisableResponse{Header: header(s.store.Revision())}, nil
}

func (s *authServer) AuthEnable(context.Context, *pb.AuthEnableRequest) (*pb.AuthEnableResponse, error) {
	return nil, rpctypes.ErrGRPCRootUserNotExist
}
