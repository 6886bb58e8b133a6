package controlplane

import (
	"context"

	"fairlead.dev/client"
	"fairlead.dev/internal/server/auth"
	"fairlead.dev/server"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/rest"
)

// serverUser is the user of the API server's own writes.
const serverUser = "system:apiserver"

// quotas charges quotas over the wire in memory, as the server's own user.
type quotas struct {
	api client.Resource[*corev1.ResourceQuota]
}

func newQuotas(s *server.Server) (quotas, error) {
	c, err := client.New(&rest.Config{
		Host:      "http://fairlead.in-process",
		Transport: server.Transport(s, auth.Authenticated(&auth.User{Name: serverUser, Groups: []string{auth.MastersGroup}})),
	}, client.Options{UserAgent: "fairlead/" + Version() + " (" + serverUser + ")"})
	if err != nil {
		return quotas{}, err
	}
	return quotas{client.For[*corev1.ResourceQuota](c)}, nil
}

// UpdateStatus implements admission.QuotaWriter.
func (q quotas) UpdateStatus(ctx context.Context, changed *corev1.ResourceQuota) error {
	_, err := q.api.Namespace(changed.Namespace).UpdateStatus(ctx, changed)
	return err
}
