package extension_test

import (
	"context"
	"net/http/httptest"
	"testing"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"fairlead.dev/internal/resource"
	"fairlead.dev/internal/resource/builtin"
	"fairlead.dev/internal/server/discovery"
	"fairlead.dev/internal/server/extension"
	"fairlead.dev/internal/server/openapi"
	"fairlead.dev/server"
	"fairlead.dev/storage"
	"fairlead.dev/storage/local"
)

// serving is a server of ours with extensions.
type serving struct {
	*httptest.Server
	api   *server.Server
	store storage.Store
	stop  func()
}

func serve(t testing.TB, hooks ...extension.Poster) *serving {
	store, err := local.Open("", local.Options{InMemory: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { store.Close() })
	return serveFrom(t, store, hooks...)
}

// serveFrom starts a server on an existing store, as after a restart.
func serveFrom(t testing.TB, store storage.Store, hooks ...extension.Poster) *serving {
	return serveWith(t, server.Config{Store: store}, hooks...)
}

// serveWith starts a server as configured.
func serveWith(t testing.TB, cfg server.Config, hooks ...extension.Poster) *serving {
	rows := builtin.Resources()
	kinds, schemas := discovery.New(rows), openapi.New(rows, resource.Scheme())
	var x *extension.Extensions
	cfg.Resources, cfg.Discovery, cfg.OpenAPI = rows, kinds, schemas
	cfg.Wire = func(c *server.Config, s *server.Server) (err error) {
		o := extension.Options{Server: s, Builtin: rows, Describes: []server.Describer{kinds, schemas}}
		for _, h := range hooks {
			o.Webhook = extension.Webhooks(h)
		}
		x, err = extension.New(t.Context(), o)
		if err == nil {
			c.Definitions = x
			c.Written = map[schema.GroupResource]func(context.Context, storage.Revision){extension.Definitions: x.Written}
		}
		return err
	}
	s, err := server.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() {
		defer close(done)
		go s.Run(ctx)
		x.Run(ctx)
	}()
	h := httptest.NewTLSServer(s)
	out := &serving{Server: h, api: s, store: cfg.Store}
	out.stop = func() {
		cancel()
		<-done
		h.CloseClientConnections()
		h.Close()
	}
	t.Cleanup(out.stop)
	return out
}
