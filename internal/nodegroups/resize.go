package nodegroups

import (
	"context"
	"slices"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"fairlead.dev/client"
	pb "fairlead.dev/internal/nodegroups/externalgrpc"
)

func (s *service) NodeGroupIncreaseSize(ctx context.Context, req *pb.NodeGroupIncreaseSizeRequest) (*pb.NodeGroupIncreaseSizeResponse, error) {
	delta := int(req.GetDelta())
	err := s.change(ctx, req.GetId(), func(g *Group, st *state, nodes []*corev1.Node) error {
		size := st.size(nodes)
		switch {
		case delta <= 0:
			return status.Errorf(codes.InvalidArgument, "a delta of %d: an increase is greater than 0", delta)
		case delta > g.Max-size:
			return status.Errorf(codes.FailedPrecondition, "node group %s has %d instances: %d more would exceed its maximum of %d", g.Name, size, delta, g.Max)
		}
		st.request(delta, time.Now())
		return nil
	})
	return &pb.NodeGroupIncreaseSizeResponse{}, err
}

func (s *service) NodeGroupDecreaseTargetSize(ctx context.Context, req *pb.NodeGroupDecreaseTargetSizeRequest) (*pb.NodeGroupDecreaseTargetSizeResponse, error) {
	delta := int(req.GetDelta())
	err := s.change(ctx, req.GetId(), func(g *Group, st *state, nodes []*corev1.Node) error {
		rest := len(st.Instances) + delta
		switch {
		case delta >= 0:
			return status.Errorf(codes.InvalidArgument, "a delta of %d: a decrease is less than 0", delta)
		case rest < 0:
			return status.Errorf(codes.FailedPrecondition, "node group %s has %d instances without a Node: a decrease by %d would delete nodes", g.Name, len(st.Instances), -delta)
		}
		st.Instances = st.Instances[:rest] // the youngest go
		return nil
	})
	return &pb.NodeGroupDecreaseTargetSizeResponse{}, err
}

func (s *service) NodeGroupDeleteNodes(ctx context.Context, req *pb.NodeGroupDeleteNodesRequest) (*pb.NodeGroupDeleteNodesResponse, error) {
	err := s.change(ctx, req.GetId(), func(g *Group, st *state, nodes []*corev1.Node) error {
		doomed, err := g.find(req.GetNodes(), st, nodes)
		if err != nil {
			return err
		}
		if size := st.size(nodes); doomed.sound > 0 && size-doomed.sound < g.Min {
			return status.Errorf(codes.FailedPrecondition, "node group %s has %d instances, and needs at least %d", g.Name, size, g.Min)
		}
		for _, n := range doomed.nodes {
			uid := metav1.NewUIDPreconditions(string(n.UID))
			if err := s.groups.api.Delete(ctx, n.Name, metav1.DeleteOptions{Preconditions: uid}); client.IgnoreNotFound(err) != nil {
				return unavailable(err)
			}
		}
		st.Instances = slices.DeleteFunc(st.Instances, func(i instance) bool { return doomed.instances[i.Number] })
		return nil
	})
	return &pb.NodeGroupDeleteNodesResponse{}, err
}

// doomed are the Nodes, and the instances without one, that a call deletes. sound is how many of them count for the minimum of
// the group: those that have not failed and are not being deleted.
type doomed struct {
	nodes     []*corev1.Node
	instances map[int]bool
	sound     int
}

// find returns the instances that a call names, by their IDs or the names of their Nodes. One that is gone is passed over.
func (g *Group) find(named []*pb.ExternalGrpcNode, st *state, nodes []*corev1.Node) (doomed, error) {
	wanted := map[string]bool{}
	for _, n := range named {
		id := n.GetProviderID()
		if id == "" {
			id = g.id(n.GetName())
		}
		if group, _ := splitID(id); group != g.Name {
			return doomed{}, status.Errorf(codes.InvalidArgument, "node %s (%s) is not of node group %s", n.GetName(), n.GetProviderID(), g.Name)
		}
		wanted[id] = true
	}
	d := doomed{instances: map[int]bool{}}
	for _, i := range st.Instances {
		if wanted[g.id(g.instanceName(i.Number))] {
			d.instances[i.Number] = true
			if i.failure() == nil {
				d.sound++
			}
		}
	}
	for _, n := range nodes {
		if wanted[n.Spec.ProviderID] && n.DeletionTimestamp == nil {
			d.nodes = append(d.nodes, n)
			d.sound++
		}
	}
	return d, nil
}
