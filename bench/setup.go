package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"time"
)

// conns is the minimum number of connections that the requests share.
const conns = 4

// setUp makes the objects that the loads need: a namespace, the service account of its
// pods, and a service account with all rights, whose token the loads use.
func (b *bench) setUp(ctx context.Context) error {
	who, err := b.server.admin()
	if err != nil {
		return err
	}
	admin, err := dial(ctx, b.server.urls[0], who)
	if err != nil {
		return err
	}
	defer admin.close()
	if err := b.newNamespace(ctx, admin, namespace); err != nil {
		return err
	}
	for _, x := range []struct{ path, body string }{
		{"/api/v1/namespaces/" + namespace + "/serviceaccounts", `{"metadata":{"name":"load"}}`},
		{"/apis/rbac.authorization.k8s.io/v1/clusterrolebindings", `{"metadata":{"name":"bench"},
			"roleRef":{"apiGroup":"rbac.authorization.k8s.io","kind":"ClusterRole","name":"cluster-admin"},
			"subjects":[{"kind":"ServiceAccount","name":"load","namespace":"` + namespace + `"}]}`},
	} {
		post := request{method: http.MethodPost, path: x.path, body: []byte(x.body), want: http.StatusCreated}
		if err := admin.call(ctx, post); err != nil {
			return err
		}
	}
	var answer struct {
		Status struct{ Token string }
	}
	if err := admin.call(ctx, request{
		method: http.MethodPost,
		path:   "/api/v1/namespaces/" + namespace + "/serviceaccounts/load/token",
		body:   []byte(`{"spec":{"expirationSeconds":36000}}`),
		want:   http.StatusCreated,
		read:   func(r io.Reader) error { return json.NewDecoder(r).Decode(&answer) },
	}); err != nil {
		return err
	}
	b.user = credentials{token: answer.Status.Token}
	if err := b.connect(ctx); err != nil {
		return err
	}
	return b.untilNodesReady(ctx)
}

// connect opens the connections that the requests share, evenly to all API servers.
func (b *bench) connect(ctx context.Context) error {
	each := (conns + len(b.server.urls) - 1) / len(b.server.urls)
	for range each * len(b.server.urls) {
		c, err := b.dial(ctx)
		if err != nil {
			return err
		}
		b.conns = append(b.conns, c)
	}
	return nil
}

// newNamespace makes a namespace and the account that its pods run as, or waits until
// there is one where controllers make it.
func (b *bench) newNamespace(ctx context.Context, c *client, name string) error {
	if err := c.call(ctx, request{
		method: http.MethodPost, path: "/api/v1/namespaces", body: []byte(`{"metadata":{"name":"` + name + `"}}`), want: http.StatusCreated,
	}); err != nil {
		return err
	}
	accounts := "/api/v1/namespaces/" + name + "/serviceaccounts"
	if b.nodes == 0 {
		return c.call(ctx, request{method: http.MethodPost, path: accounts, body: []byte(`{"metadata":{"name":"default"}}`), want: http.StatusCreated})
	}
	w, err := c.watch(ctx, accounts+"?watch=true&fieldSelector=metadata.name%3Ddefault")
	if err != nil {
		return err
	}
	defer w.close()
	e, err := w.next()
	if err != nil {
		return err
	}
	return e.expect("ADDED")
}

// dial opens a connection as the user of the loads. A server may take a moment
// until it knows of a new account and its rights.
func (b *bench) dial(ctx context.Context) (*client, error) {
	c := newClient(b.url(int(b.dialled.Add(1))), b.user)
	deadline := time.Now().Add(10 * time.Second)
	for {
		err := c.call(ctx, request{path: podsPath + "?limit=1", want: http.StatusOK})
		if err == nil {
			return c, nil
		}
		if time.Now().After(deadline) {
			return nil, fmt.Errorf("the new account may not list pods: %w", err)
		}
		time.Sleep(50 * time.Millisecond)
	}
}

func (b *bench) tearDown() {
	for _, c := range b.conns {
		c.close()
	}
}

// populate creates the pods, unless that is done.
func (b *bench) populate(ctx context.Context) (int, error) {
	if b.podsMade {
		return 0, nil
	}
	b.podsMade = true
	return b.Pods, each(ctx, b.Pods, writers, func(ctx context.Context, i int) error {
		body, err := newPod(i, b.Pods/labelled, b.Nodes)
		if err != nil {
			return err
		}
		return b.conn(i).call(ctx, request{method: http.MethodPost, path: podsPath, body: body, want: http.StatusCreated})
	})
}

// revision is the resource version that the pods of a path are at.
func (b *bench) revision(ctx context.Context, path string) (string, error) {
	var list struct {
		Metadata struct{ ResourceVersion string }
	}
	err := b.conn(0).call(ctx, request{path: path + "?limit=1", want: http.StatusOK, read: func(r io.Reader) error {
		return json.NewDecoder(r).Decode(&list)
	}})
	return list.Metadata.ResourceVersion, err
}
