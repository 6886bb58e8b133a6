package encryption

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"fairlead.dev/storage"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// BenchmarkOpen decrypts a value of 4 KB, and reads one of a resource that is not encrypted.
func BenchmarkOpen(b *testing.B) {
	file := filepath.Join(b.TempDir(), "encryption.yaml")
	if err := os.WriteFile(file, []byte(`apiVersion: apiserver.config.k8s.io/v1
kind: EncryptionConfiguration
resources: [{resources: [secrets], providers: [{aesgcm: {keys: [{name: a, secret: YWFhYWFhYWFhYWFhYWFhYWFhYWFhYWFhYWFhYWFhYWE=}]}}]}]
`), 0o600); err != nil {
		b.Fatal(err)
	}
	k, err := Load(Options{File: file, Root: "/registry/", Stored: "/registry/", Resource: func(key string) (schema.GroupResource, bool) {
		resource, _, _ := strings.Cut(strings.TrimPrefix(key, "/registry/"), "/")
		return schema.GroupResource{Resource: resource}, true
	}})
	if err != nil {
		b.Fatal(err)
	}
	defer k.Close()
	for _, resource := range []string{"secrets", "pods"} {
		b.Run(resource, func(b *testing.B) {
			key := "/registry/" + resource + "/default/one"
			sealed, err := k.seal(b.Context(), key, make([]byte, 4096))
			if err != nil {
				b.Fatal(err)
			}
			b.ReportAllocs()
			for b.Loop() {
				if _, err := k.Open(&storage.KeyValue{Key: key, Value: sealed}, false); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
