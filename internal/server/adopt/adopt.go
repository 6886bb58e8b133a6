// Package adopt reads values that another API server stored, so that Fairlead can take over its etcd or run beside
// it.
//
// kube-apiserver stores built-in kinds as protobuf by default (--storage-media-type), custom resources as JSON, and
// each kind in a version of its choice. The watch cache holds JSON of one version. A [Reader] therefore converts
// protobuf, and JSON of other versions, to that version and applies the defaults introduced since the value was
// written. The store keeps the original value; later writes store JSON, which kube-apiserver reads too.
//
// Encrypted values, and values of a kind or version that is not known here, cannot be read. The watch cache keeps
// such objects and fails reads of them, as kube-apiserver does.
package adopt

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"fairlead.dev/internal/resource"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	kjson "k8s.io/apimachinery/pkg/runtime/serializer/json"
	"k8s.io/apimachinery/pkg/runtime/serializer/protobuf"
)

// Reader reads the stored values of one resource. It is safe for concurrent use.
type Reader struct {
	want     schema.GroupVersionKind
	known    map[schema.GroupVersionKind]func(runtime.Object) (runtime.Object, error)
	defaults func(runtime.Object)
	protobuf runtime.Decoder
	json     runtime.Decoder
}

// For returns the reader of a built-in resource. Others may share its objects: they are stored in the versions of those, too.
func For(r *resource.Resource, sharing ...*resource.Resource) *Reader {
	scheme := resource.Scheme()
	d := &Reader{
		want:     r.StorageGVK(),
		known:    map[schema.GroupVersionKind]func(runtime.Object) (runtime.Object, error){},
		defaults: r.Strategy.Default,
		protobuf: protobuf.NewSerializer(scheme, scheme),
		json:     kjson.NewSerializerWithOptions(kjson.DefaultMetaFactory, scheme, scheme, kjson.SerializerOptions{}),
	}
	for _, row := range slices.Concat(sharing, []*resource.Resource{r}) {
		for _, v := range slices.Concat(row.Versions, row.Unserved) {
			d.known[row.GVK(v.Name)] = v.ToStorage
		}
	}
	return d
}

var (
	// magic is the prefix of values that kube-apiserver stored as protobuf.
	magic = []byte("k8s\x00")
	// encrypted is the prefix of values that kube-apiserver encrypted.
	encrypted = []byte("k8s:enc:")

	// ErrEncrypted has kube-apiserver's wording for a missing key.
	ErrEncrypted = errors.New("identity transformer tried to read encrypted data")
)

// Read returns the value as JSON of the storage version.
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
