package server

import (
	"bytes"
	"encoding/json"
	"fmt"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/serializer/cbor/direct"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/yaml"
	"k8s.io/utils/ptr"
	kjson "sigs.k8s.io/json"

	"fairlead.dev/internal/codec/jsonscan"
	"fairlead.dev/internal/resource"
	"fairlead.dev/internal/server/endpoint"
	"fairlead.dev/internal/server/managed"
	"fairlead.dev/internal/server/patch"
	"fairlead.dev/watchcache"
)

// config is an applied configuration.
type config struct {
	body  []byte
	text  []byte // as JSON, which clients send
	plain bool   // it came as JSON
	twice error  // names the fields that occur twice in a body that is not JSON
}

// isApply reports whether a patch is a configuration for server-side apply.
func isApply(t types.PatchType) bool {
	return t == types.ApplyYAMLPatchType || t == types.ApplyCBORPatchType
}

// decodeConfig reads a configuration in CBOR, YAML or JSON; JSON has a fast path.
func decodeConfig(p patch.Patch) (*config, error) {
	c := &config{body: p.Body}
	if p.Type == types.ApplyCBORPatchType {
		return c, c.fromCBOR()
	}
	if b := bytes.TrimSpace(c.body); len(b) > 0 && b[0] == '{' && json.Valid(b) {
		c.text, c.plain = b, true
		return c, nil
	}
	_, err := c.fromYAML()
	return c, err
}

func (c *config) fromYAML() (*unstructured.Unstructured, error) {
	var err error
	if c.text, err = yaml.ToJSON(c.body); err != nil {
		return nil, apierrors.NewBadRequest(fmt.Sprintf("error encoding patch: %v", err))
	}
	u := &unstructured.Unstructured{Object: map[string]any{}}
	if err := yaml.Unmarshal(c.body, &u.Object); err != nil {
		return nil, apierrors.NewBadRequest(fmt.Sprintf("error decoding patch: %v", err))
	}
	c.twice = yaml.UnmarshalStrict(c.body, &map[string]any{})
	return u, nil
}

// fresh returns the configuration for one merge, which may change it.
func (c *config) fresh() (*unstructured.Unstructured, error) {
	if c.plain {
		u := &unstructured.Unstructured{}
		if twice, err := kjson.UnmarshalStrict(c.text, &u.Object); err == nil && len(twice) == 0 {
			return u, nil
		}
		c.plain = false
	}
	return c.fromYAML()
}

// says reports whether the configuration is of the kind.
func (c *config) says(apiVersion, kind string) bool {
	is := func(name, want string) bool {
		v := jsonscan.Find(c.text, name)
		return len(v) > 0 && v[0] == '"' && jsonscan.Unquote(v) == want
	}
	return is("apiVersion", apiVersion) && is("kind", kind)
}

// mergePlain merges most configurations without schemas, on the object's text; see
// managed.Apply.TryMerge. ok is false if merge must do it.
func (c *call) mergePlain(now *watchcache.Object, old resource.Object, config *config, opts *metav1.PatchOptions) (obj resource.Object, ok bool) {
	version := c.ep.ServedGVK.GroupVersion().String()
	if !config.plain || c.ep.AsksWebhook || !config.says(version, c.ep.Kind) || bytes.Contains(config.text, []byte(`"managedFields"`)) {
		return nil, false
	}
	a := managed.Apply{
		Manager: opts.FieldManager, Subresource: c.info.Subresource, APIVersion: version, Shape: c.ep.Shape(),
		Filter: managed.Filter{Without: c.ep.Reset(c.info.Subresource)}, Live: []byte("{}"), Config: config.text,
		Force: ptr.Deref(opts.Force, false), Time: time.Now(),
	}
	if old == nil {
		text, entries, ok := a.TryMerge(nil)
		if !ok {
			return nil, false
		}
		return c.ep.DecodeMerged(&endpoint.MergedText{Text: text, Entries: entries})
	}
	if !c.ep.Raw || !c.ep.Current(now) || c.lastRead.foreign || len(old.GetManagedFields()) == 0 || opts.FieldManager == kubectl && appliedLast(old) {
		return nil, false
	}
	a.Live = c.textOf(now)
	text, entries, ok := a.TryMerge(old.GetManagedFields())
	if !ok {
		return nil, false
	}
	return c.ep.DecodeMerged(&endpoint.MergedText{Text: text, Entries: entries, Old: old, Before: a.Live})
}

// kubectl is the field manager whose last-applied annotation is kept.
const kubectl = "kubectl"

func appliedLast(obj resource.Object) bool {
	return obj.GetAnnotations()["kubectl.kubernetes.io/last-applied-configuration"] != ""
}

// fromCBOR converts the configuration to JSON. CBOR maps with duplicate keys are refused.
func (c *config) fromCBOR() error {
	var object map[string]any
	err := direct.Unmarshal(c.body, &object)
	if err == nil {
		c.text, err = json.Marshal(object)
	}
	if err != nil {
		return apierrors.NewBadRequest(fmt.Sprintf("error decoding patch: %v", err))
	}
	c.body, c.plain = c.text, true
	return nil
}
