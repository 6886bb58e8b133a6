package server_test

import (
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"fairlead.dev/server"
	"fairlead.dev/storage"
	"fairlead.dev/storage/local"
	"fairlead.dev/trace"
)

// memory returns an empty store in memory.
func memory(t *testing.T) *local.Store {
	t.Helper()
	s, err := local.Open("", local.Options{InMemory: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

// TestShards: the objects of each resource are in the store that names it, or its group, or the one that shares its objects.
func TestShards(t *testing.T) {
	one, group := memory(t), memory(t)
	var first storage.Store
	c := start(t, func(cfg *server.Config) {
		first = cfg.Store
		cfg.Shards = []server.Shard{
			{Store: one, Resources: []schema.GroupResource{{Resource: "events"}, {Group: "apps", Resource: "deployments"}, {Group: "apiregistration.k8s.io", Resource: "apiservices"}}},
			{Store: group, Resources: []schema.GroupResource{{Group: "apps", Resource: "*"}}},
		}
	})
	deployment := `{"metadata":{"name":"a"},"spec":{"selector":{"matchLabels":{"a":"b"}},"template":{"metadata":{"labels":{"a":"b"}},"spec":{"containers":[{"name":"c","image":"i"}]}}}}`
	c.must("POST /api/v1/namespaces/default/configmaps", `{"metadata":{"name":"a"}}`)
	c.must("POST /api/v1/namespaces/default/events", `{"metadata":{"name":"a"},"involvedObject":{"namespace":"default"}}`)
	c.must("POST /apis/apps/v1/namespaces/default/deployments", deployment)
	c.must("POST /apis/apps/v1/namespaces/default/replicasets", deployment)
	c.must("POST /apis/apiregistration.k8s.io/v1/apiservices", `{"metadata":{"name":"v1.a.example"},"spec":{"group":"a.example","version":"v1","groupPriorityMinimum":100,"versionPriority":100}}`)
	c.must("GET /apis/events.k8s.io/v1/namespaces/default/events/a", "")
	for name, s := range map[string]struct {
		storage.Store
		want string
	}{
		"first": {first, "/registry/apiregistration.k8s.io/apiservices/v1.a.example /registry/configmaps/default/a"},
		"one":   {one, "/registry/deployments/default/a /registry/events/default/a"},
		"group": {group, "/registry/replicasets/default/a"},
	} {
		res, err := s.Range(t.Context(), storage.RangeRequest{Start: "/registry/", End: storage.PrefixEnd("/registry/")})
		if err != nil {
			t.Fatal(err)
		}
		var keys []string
		for _, kv := range res.KVs {
			if !strings.HasPrefix(kv.Key, "/registry/namespaces/") {
				keys = append(keys, kv.Key)
			}
		}
		if got := strings.Join(keys, " "); got != s.want {
			t.Errorf("the store %s has %s, want %s", name, got, s.want)
		}
	}
	if leases, err := one.Leases(t.Context()); err != nil || len(leases) != 1 {
		t.Errorf("leases in the store of events: %v, %v, want one", leases, err)
	}
	if text := c.must("GET /readyz?verbose", "").body; !strings.Contains(text, "[+]etcd-override-1 ok") {
		t.Error(text)
	}
}

// TestShardErrors: a server refuses shards with which an object or an event would be lost.
func TestShardErrors(t *testing.T) {
	for _, c := range []struct {
		config server.Config
		gr     schema.GroupResource
		want   string
	}{
		{server.Config{}, schema.GroupResource{Resource: "services"}, "must be in the same store"},
		{server.Config{}, schema.GroupResource{Group: "networking.k8s.io", Resource: "*"}, "must be in the same store"},
		{server.Config{Trace: trace.New(trace.Options{})}, schema.GroupResource{Resource: "events"}, "Config.Trace excludes Config.Shards"},
	} {
		c.config.Store, c.config.Shards = memory(t), []server.Shard{{Store: memory(t), Resources: []schema.GroupResource{c.gr}}}
		if _, err := server.New(c.config); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", c.gr, err, c.want)
		}
	}
}
