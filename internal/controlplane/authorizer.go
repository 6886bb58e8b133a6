package controlplane

import (
	"context"
	"fmt"

	"fairlead.dev/internal/server/auth"
	"fairlead.dev/internal/server/auth/bootstrap"
	"fairlead.dev/internal/server/auth/nodes"
	"fairlead.dev/internal/server/auth/rbac"
	"fairlead.dev/server"
	corev1 "k8s.io/api/core/v1"
)

// authorizer returns the union of the configured authorizers. As in kube-apiserver, system:masters may do everything,
// whatever they are.
func authorizer(s *server.Server, access Access, roles *rbac.Authorizer, webhook auth.Authorizer) (auth.Authorizer, error) {
	var list []auth.Authorizer
	for _, name := range access.Authorization {
		switch name {
		case AuthorizeAlwaysAllow:
			list = append(list, auth.AllowAll)
		case AuthorizeAlwaysDeny:
			list = append(list, auth.AuthorizerFunc(denyAll))
		case AuthorizeNode:
			list = append(list, nodes.New(nodes.Options{Rules: bootstrap.NodeRules(), Pods: s.Cache(corev1.Resource("pods")), Lookup: s.Lookup()}))
		case AuthorizeRBAC:
			list = append(list, roles)
		case AuthorizeWebhook:
			list = append(list, webhook)
		default:
			return nil, fmt.Errorf("unknown authorizer %q", name)
		}
	}
	return auth.Privileged(auth.AnyOf(list...)), nil
}

func denyAll(context.Context, auth.Attributes) (bool, string, error) {
	return false, "Everything is forbidden.", nil
}
