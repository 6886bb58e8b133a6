package nodegroups

import (
	"context"
	"math"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/types/known/durationpb"
	"google.golang.org/protobuf/types/known/timestamppb"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/component-helpers/resource"

	pb "fairlead.dev/internal/nodegroups/externalgrpc"
)

// errNoPrices is how a provider without prices answers.
var errNoPrices = status.Error(codes.Unimplemented, "no node group has a pricePerHour")

func hours(from, to *timestamppb.Timestamp) float64 { return to.AsTime().Sub(from.AsTime()).Hours() }

func (s *service) PricingNodePrice(_ context.Context, req *pb.PricingNodePriceRequest) (*pb.PricingNodePriceResponse, error) {
	if !s.groups.options.File.prices() {
		return nil, errNoPrices
	}
	g := s.ofNode(req.GetNode())
	if g == nil {
		return nil, status.Errorf(codes.NotFound, "node %s is of no node group", req.GetNode().GetName())
	}
	return &pb.PricingNodePriceResponse{Price: g.PricePerHour * hours(req.GetStartTimestamp(), req.GetEndTimestamp())}, nil
}

// PricingPodPrice answers with the price of the part of a node that the pod requests, in the group where that is cheapest. Of the
// resources, the one counts of which the part is largest.
func (s *service) PricingPodPrice(_ context.Context, req *pb.PricingPodPriceRequest) (*pb.PricingPodPriceResponse, error) {
	if !s.groups.options.File.prices() {
		return nil, errNoPrices
	}
	pod := &corev1.Pod{}
	if err := pod.Unmarshal(req.GetPodBytes()); err != nil {
		return nil, status.Errorf(codes.InvalidArgument, "pod_bytes: %v", err)
	}
	requests := resource.PodRequests(pod, resource.PodResourcesOptions{})
	least := math.Inf(1)
	for i := range s.groups.options.File.Groups {
		g := &s.groups.options.File.Groups[i]
		least = min(least, g.PricePerHour*share(requests, s.groups.nodes.Preview(g.nodeOf(1)).Status.Allocatable))
	}
	if math.IsInf(least, 1) {
		return nil, status.Errorf(codes.NotFound, "pod %s/%s fits into no node group", pod.Namespace, pod.Name)
	}
	return &pb.PricingPodPriceResponse{Price: least * hours(req.GetStartTimestamp(), req.GetEndTimestamp())}, nil
}

// share returns the largest part of a node's resources that requests take; infinite if these exceed the node.
func share(requests, node corev1.ResourceList) float64 {
	most := 0.0
	for name, q := range requests {
		has := node[name]
		if q.Cmp(has) > 0 {
			return math.Inf(1)
		}
		if q.Sign() > 0 {
			most = max(most, q.AsApproximateFloat64()/has.AsApproximateFloat64())
		}
	}
	return most
}

func (s *service) NodeGroupGetOptions(_ context.Context, req *pb.NodeGroupAutoscalingOptionsRequest) (*pb.NodeGroupAutoscalingOptionsResponse, error) {
	g, err := s.group(req.GetId())
	if err != nil {
		return nil, err
	}
	o, a := req.GetDefaults(), g.Autoscaling
	if a == nil || o == nil {
		return &pb.NodeGroupAutoscalingOptionsResponse{}, nil // the autoscaler's defaults apply
	}
	set(&o.ScaleDownUtilizationThreshold, a.ScaleDownUtilizationThreshold)
	set(&o.ScaleDownGpuUtilizationThreshold, a.ScaleDownGPUUtilizationThreshold)
	set(&o.ZeroOrMaxNodeScaling, a.ZeroOrMaxNodeScaling)
	set(&o.IgnoreDaemonSetsUtilization, a.IgnoreDaemonSetsUtilization)
	for to, d := range map[**durationpb.Duration]*metav1.Duration{
		&o.ScaleDownUnneededDuration: a.ScaleDownUnneededTime,
		&o.ScaleDownUnreadyDuration:  a.ScaleDownUnreadyTime,
		&o.MaxNodeProvisionDuration:  a.MaxNodeProvisionTime,
	} {
		if d != nil {
			*to = durationpb.New(d.Duration)
		}
	}
	return &pb.NodeGroupAutoscalingOptionsResponse{NodeGroupAutoscalingOptions: o}, nil
}

func set[T any](to, from *T) {
	if from != nil {
		*to = *from
	}
}
