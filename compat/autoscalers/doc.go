// Package autoscalers runs the autoscalers of Kubernetes on simulated nodes, unchanged. It is built on demand:
//
//	make autoscalers CLUSTER_AUTOSCALER=~/cluster-autoscaler
//	go test -tags autoscalers -run Karpenter ./autoscalers       # Karpenter alone
//
// TestKarpenter builds Karpenter with its provider kwok from its Go module, in a copy whose go.mod does not ask for a later
// patch release of Go. TestClusterAutoscaler needs the program $CLUSTER_AUTOSCALER, since its modules are not published:
//
//	git clone https://github.com/kubernetes/autoscaler
//	git clone https://github.com/kubernetes-sigs/cluster-autoscaler core
//	cd autoscaler/cluster-autoscaler
//	git -C ../../core checkout $(go list -m -f '{{.Version}}' sigs.k8s.io/cluster-autoscaler | sed 's/.*-//')
//	go mod edit -replace sigs.k8s.io/cluster-autoscaler=../../core
//	go build -mod=mod -tags externalgrpc -o ~/cluster-autoscaler .
package autoscalers
