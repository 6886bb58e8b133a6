// Package adopt reads what another API server stored, so that ours can take over its
// etcd, or stand beside it.
//
// kube-apiserver keeps built-in kinds as protobuf unless it is told otherwise
// (--storage-media-type), custom resources as JSON, and each kind in a version of its
// choice. The watch cache holds JSON of one version. So a [Reader] turns protobuf, and
// JSON of other versions, into that, with the defaults that came to be since it was
// written. The store keeps what was written there; what is written next is JSON, which
// kube-apiserver reads too.
//
// What is encrypted, and a kind or version that is not served here, cannot be read. The
// watch cache keeps such objects and fails reads of them, as kube-apiserver does.
package adopt

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"

	"fairlead.dev/internal/resource"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	kjson "k8s.io/apimachinery/pkg/runtime/serializer/json"
	"k8s.io/apimachinery/pkg/runtime/serializer/protobuf"
)

// Reader reads the stored values of one resource. It may be used by any goroutine.
type Reader struct {
	want     schema.GroupVersionKind
	known    map[schema.GroupVersionKind]func(runtime.Object) (runtime.Object, error)
	defaults func(runtime.Object)
	protobuf runtime.Decoder
	json     runtime.Decoder
}

// For returns the reader of a built-in resource, which has a storage prefix of its own.
func For(r *resource.Resource) *Reader {
	scheme := resource.Scheme()
	d := &Reader{
		want:     r.StorageGVK(),
		known:    map[schema.GroupVersionKind]func(runtime.Object) (runtime.Object, error){},
		defaults: r.Strategy.Default,
		protobuf: protobuf.NewSerializer(scheme, scheme),
		json:     kjson.NewSerializerWithOptions(kjson.DefaultMetaFactory, scheme, scheme, kjson.SerializerOptions{}),
	}
	for _, v := range r.Versions {
		d.known[r.GVK(v.Name)] = v.ToStorage
	}
	return d
}

var (
	// magic begins every value that kube-apiserver stored as protobuf.
	magic = []byte("k8s\x00")
	// encrypted begins every value that kube-apiserver encrypted.
	encrypted = []byte("k8s:enc:")

	// ErrEncrypted is in the words of kube-apiserver when it has no key.
	ErrEncrypted = errors.New("identity transformer tried to read encrypted data")
)

// Read returns the value as JSON of the version that is stored here.
func (d *Reader) Read(value []byte) ([]byte, error) {
	decoder := d.json
	switch {
	case bytes.HasPrefix(value, encrypted):
		return nil, ErrEncrypted
	case bytes.HasPrefix(value, magic):
		decoder = d.protobuf
	default:
		var t runtime.TypeMeta
		if err := json.Unmarshal(value, &t); err != nil {
			return nil, fmt.Errorf("couldn't get version/kind; json parse error: %w", err)
		}
		if schema.FromAPIVersionAndKind(t.APIVersion, t.Kind) == d.want {
			return value, nil
		}
	}
	obj, gvk, err := decoder.Decode(value, nil, nil)
	if err != nil {
		return nil, err
	}
	toStorage, ok := d.known[*gvk]
	if !ok {
		return nil, fmt.Errorf("%s is stored where %s should be", gvk, d.want)
	}
	if toStorage != nil {
		if obj, err = toStorage(obj); err != nil {
			return nil, err
		}
	}
	if d.defaults != nil {
		d.defaults(obj)
	}
	obj.GetObjectKind().SetGroupVersionKind(d.want)
	return json.Marshal(obj)
}
