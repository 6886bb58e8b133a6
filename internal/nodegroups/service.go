package nodegroups

import (
	"context"
	"fmt"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/types/known/anypb"
	"google.golang.org/protobuf/types/known/emptypb"
	corev1 "k8s.io/api/core/v1"

	pb "fairlead.dev/internal/nodegroups/externalgrpc"
)

// service answers the calls of Cluster Autoscaler. The meaning of each is defined by the autoscaler's interface CloudProvider.
type service struct {
	pb.UnsafeCloudProviderServer
	groups *Groups
}

var _ pb.CloudProviderServer = (*service)(nil)

// group returns the group of an ID.
func (s *service) group(id string) (*Group, error) {
	g := s.groups.groups[id]
	if g == nil {
		return nil, status.Errorf(codes.NotFound, "there is no node group %q", id)
	}
	return g, nil
}

// view calls do with the state and the Nodes of a group, in its turn.
func (s *service) view(ctx context.Context, id string, do func(g *Group, st *state, nodes []*corev1.Node) error) error {
	g, err := s.group(id)
	if err != nil {
		return err
	}
	return s.groups.turn(ctx, func(all map[string]*state) error {
		nodes, err := s.groups.nodesOf(ctx, g, all[id])
		if err != nil {
			return unavailable(err)
		}
		return do(g, all[id], nodes)
	})
}

// change calls do with a copy of a group's state, and stores it.
func (s *service) change(ctx context.Context, id string, do func(g *Group, st *state, nodes []*corev1.Node) error) error {
	g, err := s.group(id)
	if err != nil {
		return err
	}
	return s.groups.turn(ctx, func(all map[string]*state) error {
		next := all[id].clone()
		nodes, err := s.groups.nodesOf(ctx, g, next)
		if err != nil {
			return unavailable(err)
		}
		if err := do(g, next, nodes); err != nil {
			return err
		}
		if err := s.groups.keep(ctx, g, next, all); err != nil {
			return unavailable(err)
		}
		s.groups.ring()
		return nil
	})
}

// unavailable is the status of an error of the API server.
func unavailable(err error) error { return status.Errorf(codes.Unavailable, "the API server: %v", err) }

func (g *Group) message() *pb.NodeGroup {
	return &pb.NodeGroup{
		Id: g.Name, MinSize: int32(g.Min), MaxSize: int32(g.Max),
		Debug: fmt.Sprintf("%s (%d to %d simulated nodes, %g per hour)", g.Name, g.Min, g.Max, g.PricePerHour),
	}
}

func (s *service) NodeGroups(context.Context, *pb.NodeGroupsRequest) (*pb.NodeGroupsResponse, error) {
	res := &pb.NodeGroupsResponse{}
	for i := range s.groups.options.File.Groups {
		res.NodeGroups = append(res.NodeGroups, s.groups.options.File.Groups[i].message())
	}
	return res, nil
}

// ofNode returns the group of a Node; nil without one. The autoscaler also asks about instances without a Node, which have only
// an ID, and about templates, which have only labels.
func (s *service) ofNode(n *pb.ExternalGrpcNode) *Group {
	if group, _ := splitID(n.GetProviderID()); group != "" {
		return s.groups.groups[group]
	}
	return s.groups.groups[n.GetLabels()[GroupLabel]]
}

func (s *service) NodeGroupForNode(_ context.Context, req *pb.NodeGroupForNodeRequest) (*pb.NodeGroupForNodeResponse, error) {
	if g := s.ofNode(req.GetNode()); g != nil {
		return &pb.NodeGroupForNodeResponse{NodeGroup: g.message()}, nil
	}
	return &pb.NodeGroupForNodeResponse{NodeGroup: &pb.NodeGroup{}}, nil
}

func (s *service) GPULabel(context.Context, *pb.GPULabelRequest) (*pb.GPULabelResponse, error) {
	return &pb.GPULabelResponse{Label: s.groups.options.File.GPULabel}, nil
}

func (s *service) GetAvailableGPUTypes(context.Context, *pb.GetAvailableGPUTypesRequest) (*pb.GetAvailableGPUTypesResponse, error) {
	types := map[string]*anypb.Any{}
	for _, g := range s.groups.groups {
		if model := g.node.Labels[s.groups.options.File.GPULabel]; model != "" {
			empty, err := anypb.New(&emptypb.Empty{})
			if err != nil {
				return nil, err
			}
			types[model] = empty
		}
	}
	return &pb.GetAvailableGPUTypesResponse{GpuTypes: types}, nil
}

// Cleanup has no effect: the groups outlive their autoscaler.
func (s *service) Cleanup(context.Context, *pb.CleanupRequest) (*pb.CleanupResponse, error) {
	return &pb.CleanupResponse{}, nil
}

// Refresh has no effect: each call reads the present state.
func (s *service) Refresh(context.Context, *pb.RefreshRequest) (*pb.RefreshResponse, error) {
	return &pb.RefreshResponse{}, nil
}

func (s *service) NodeGroupTargetSize(ctx context.Context, req *pb.NodeGroupTargetSizeRequest) (*pb.NodeGroupTargetSizeResponse, error) {
	res := &pb.NodeGroupTargetSizeResponse{}
	err := s.view(ctx, req.GetId(), func(_ *Group, st *state, nodes []*corev1.Node) error {
		res.TargetSize = int32(st.size(nodes))
		return nil
	})
	return res, err
}

func (s *service) NodeGroupNodes(ctx context.Context, req *pb.NodeGroupNodesRequest) (*pb.NodeGroupNodesResponse, error) {
	res := &pb.NodeGroupNodesResponse{}
	err := s.view(ctx, req.GetId(), func(g *Group, st *state, nodes []*corev1.Node) error {
		for _, i := range st.Instances {
			is := &pb.InstanceStatus{InstanceState: pb.InstanceStatus_instanceCreating}
			if f := i.failure(); f != nil {
				is.ErrorInfo = &pb.InstanceErrorInfo{ErrorCode: f.Code, ErrorMessage: f.Message, InstanceErrorClass: f.Class.number()}
			} else if i.begun() && !time.Now().Before(i.Running) {
				is.InstanceState = pb.InstanceStatus_instanceRunning
			}
			res.Instances = append(res.Instances, &pb.Instance{Id: g.id(g.instanceName(i.Number)), Status: is})
		}
		for _, n := range nodes {
			is := &pb.InstanceStatus{InstanceState: pb.InstanceStatus_instanceRunning}
			if n.DeletionTimestamp != nil {
				is.InstanceState = pb.InstanceStatus_instanceDeleting
			}
			res.Instances = append(res.Instances, &pb.Instance{Id: n.Spec.ProviderID, Status: is})
		}
		return nil
	})
	return res, err
}

func (s *service) NodeGroupTemplateNodeInfo(_ context.Context, req *pb.NodeGroupTemplateNodeInfoRequest) (*pb.NodeGroupTemplateNodeInfoResponse, error) {
	g, err := s.group(req.GetId())
	if err != nil {
		return nil, err
	}
	n := s.groups.nodes.Preview(g.nodeOf(1))
	n.Name = g.Name + "-template"
	n.Labels[corev1.LabelHostname] = n.Name
	n.Spec.ProviderID = ""
	bytes, err := n.Marshal()
	if err != nil {
		return nil, status.Errorf(codes.Internal, "encoding the template of %s: %v", g.Name, err)
	}
	return &pb.NodeGroupTemplateNodeInfoResponse{NodeBytes: bytes}, nil
}
