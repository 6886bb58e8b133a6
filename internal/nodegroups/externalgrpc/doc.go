// Package externalgrpc is the protocol of Cluster Autoscaler's external gRPC provider: the messages, the server and the
// client, generated from externalgrpc.proto.
package externalgrpc

//go:generate go run github.com/bufbuild/buf/cmd/buf@v1.57.2 generate
