package controlplane

import (
	"context"

	"fairlead.dev/client"
	"fairlead.dev/internal/server/auth"
	"fairlead.dev/server"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
)

// serverUser is the user of the API server's own writes.
const serverUser = "system:apiserver"

// ownWrites are the writes of admission plugins and authenticators, over the wire in memory, as the server's own user.
type ownWrites struct{ c *client.Client }

// ownClient returns a client of the server's own user. Its user agent makes kube-apiserver the manager of what it writes.
func ownClient(s *server.Server) (*client.Client, error) {
	return client.New(&rest.Config{
		Host:      "http://fairlead.in-process",
		Transport: server.Transport(s, auth.Authenticated(&auth.User{Name: serverUser, Groups: []string{auth.MastersGroup}})),
	}, client.Options{UserAgent: "kube-apiserver/" + Version() + " (" + serverUser + ")"})
}

func newOwnWrites(s *server.Server) (ownWrites, error) {
	c, err := ownClient(s)
	return ownWrites{c}, err
}

// UpdateStatus implements admission.QuotaWriter.
func (w ownWrites) UpdateStatus(ctx context.Context, changed *corev1.ResourceQuota) error {
	_, err := client.For[*corev1.ResourceQuota](w.c).Namespace(changed.Namespace).UpdateStatus(ctx, changed)
	return err
}

// CreateNamespace implements admission.NamespaceCreator.
func (w ownWrites) CreateNamespace(ctx context.Context, name string) error {
	_, err := client.For[*corev1.Namespace](w.c).Create(ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}})
	return err
}
