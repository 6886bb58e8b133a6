package controlplane

import (
	"fairlead.dev/internal/server/auth"
	"fairlead.dev/internal/server/auth/bootstrap"
	"fairlead.dev/internal/server/auth/chain"
	"fairlead.dev/internal/server/auth/nodes"
	"fairlead.dev/internal/server/auth/rbac"
	"fairlead.dev/server"
	corev1 "k8s.io/api/core/v1"
)

// authorizer returns the Authorizer that asks the configured authorizers of a server.
func authorizer(s *server.Server, authorizers *chain.Chain, roles *rbac.Authorizer) auth.Authorizer {
	return authorizers.Authorizer(map[string]auth.Authorizer{
		chain.Node: nodes.New(nodes.Options{Rules: bootstrap.NodeRules(), Pods: s.Cache(corev1.Resource("pods")), Lookup: s.Lookup()}),
		chain.RBAC: roles,
	})
}
