package server_test

import (
	"testing"

	"fairlead.dev/internal/resource/builtin"
	"fairlead.dev/server"
	"fairlead.dev/storage"
)

func TestCheckStored(t *testing.T) {
	check := server.CheckStored(builtin.Resources(), nil)
	for _, c := range []struct {
		key, value string
		ok         bool
	}{
		{"/registry/configmaps/a/x", `{"kind":"ConfigMap","apiVersion":"v1","metadata":{"name":"x"}}`, true},
		{"/registry/configmaps/a/x", `{"kind":"ConfigMap","apiVersion":"v1","metadata":{"name":"x"},"data":{`, false},
		{"/registry/configmaps/a/x", `{"kind":"Secret","apiVersion":"v1","metadata":{"name":"x"}}`, false},
		{"/registry/secrets/a/x", "k8s:enc:kms:v2:x", false},
		{"/registry/services/specs/a/x", `{"kind":"Service","apiVersion":"v1","metadata":{"name":"x"}}`, true},
		{"/registry/services/specs/a/x", "garbage{", false},
		{"/registry/example.com/things/a/x", `{"apiVersion":"example.com/v1","kind":"Thing","metadata":{}}`, true},
		{"/registry/example.com/things/a/x", "k8s:enc:x", false},
		{"/registry/ranges/serviceips", "k8s\x00", true},
		{"another's", "garbage{", true},
	} {
		if err := check(&storage.KeyValue{Key: c.key, Value: []byte(c.value)}); (err == nil) != c.ok {
			t.Errorf("%s: %q: %v", c.key, c.value, err)
		}
	}
}
