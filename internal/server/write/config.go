package write

import (
	"bytes"
	"encoding/json"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/serializer/cbor/direct"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/yaml"
	kjson "sigs.k8s.io/json"

	"fairlead.dev/internal/codec/jsonscan"
	"fairlead.dev/internal/server/patch"
)

// config is an applied configuration.
type config struct {
	body  []byte
	text  []byte // as JSON, which clients send
	plain bool   // it came as JSON
	// duplicates is the error for fields that occur twice in a body that is not JSON.
	duplicates error
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
	c.duplicates = yaml.UnmarshalStrict(c.body, &map[string]any{})
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

// isOf reports whether the configuration is of the kind.
func (c *config) isOf(apiVersion, kind string) bool {
	is := func(name, want string) bool {
		v := jsonscan.Find(c.text, name)
		return len(v) > 0 && v[0] == '"' && jsonscan.Unquote(v) == want
	}
	return is("apiVersion", apiVersion) && is("kind", kind)
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
