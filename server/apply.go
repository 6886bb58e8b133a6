package server

import (
	"bytes"
	"fmt"
	"net/http"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/yaml"
	"k8s.io/utils/ptr"
	kjson "sigs.k8s.io/json"

	"fairlead.dev/resource"
	"fairlead.dev/server/managed"
	"fairlead.dev/server/patch"
	"fairlead.dev/watchcache"
)

// apply merges a configuration into an object, which it creates if there is
// none: the manager comes to own the fields it gives, and gives up the others
// it had.
func (c *call) apply(p patch.Patch, opts *metav1.PatchOptions) error {
	c.applies = true
	config, err := decodeConfig(p.Body)
	if err != nil {
		return err
	}
	fm, err := c.s.merges.manager(c.ep, c.info.subresource)
	if err != nil {
		return err
	}
	own := metav1.ManagedFieldsEntry{Manager: opts.FieldManager, APIVersion: c.ep.gvk.GroupVersion().String(), Subresource: c.info.subresource}
	shape := c.ep.shape()
	w, created, err := c.modify(c.info.name, change{
		recorded:  true,
		mayCreate: true,
		next: func(_ *watchcache.Object, old resource.Object) (resource.Object, error) {
			live, err := c.liveOrNew(old)
			if err != nil {
				return nil, err
			}
			if old != nil {
				live.SetManagedFields(managed.Unburden(live.GetManagedFields(), own, config.text, shape))
			}
			out, err := fm.Apply(live, config.fresh(), opts.FieldManager, ptr.Deref(opts.Force, false))
			if err != nil {
				return nil, err
			}
			obj, err := asObjectOf(out)
			if err != nil {
				return nil, err
			}
			if err := c.objectTo(config.twice, opts.FieldValidation); err != nil {
				return nil, err
			}
			if old == nil {
				if uid := obj.GetUID(); uid != "" {
					return nil, conflict(c.ep.gr, c.info.name, fmt.Sprintf("uid mismatch: the provided object specified uid %s, and no existing object was found", uid))
				}
			}
			return obj, nil
		},
		opts:       &metav1.UpdateOptions{DryRun: opts.DryRun, FieldManager: opts.FieldManager, FieldValidation: opts.FieldValidation},
		createOpts: &metav1.CreateOptions{DryRun: opts.DryRun, FieldManager: opts.FieldManager, FieldValidation: opts.FieldValidation},
	})
	if err != nil {
		return err
	}
	code := http.StatusOK
	if created {
		code = http.StatusCreated
	}
	return w.answer(c, code)
}

// config is an applied configuration, read once.
type config struct {
	object map[string]any
	text   []byte // as JSON
	twice  error  // what stands in it twice
}

// decodeConfig reads an applied configuration: YAML, or JSON, which is what
// clients send, and much quicker read.
func decodeConfig(body []byte) (*config, error) {
	c := &config{}
	if b := bytes.TrimSpace(body); len(b) > 0 && b[0] == '{' {
		if twice, err := kjson.UnmarshalStrict(b, &c.object); err == nil && len(twice) == 0 {
			c.text = b
			return c, nil
		}
	}
	var err error
	if c.text, err = yaml.ToJSON(body); err != nil {
		return nil, apierrors.NewBadRequest(fmt.Sprintf("error encoding patch: %v", err))
	}
	c.object = map[string]any{}
	if err := yaml.Unmarshal(body, &c.object); err != nil {
		return nil, apierrors.NewBadRequest(fmt.Sprintf("error decoding patch: %v", err))
	}
	c.twice = yaml.UnmarshalStrict(body, &map[string]any{})
	return c, nil
}

// fresh is the configuration for one attempt.
func (c *config) fresh() *unstructured.Unstructured {
	return &unstructured.Unstructured{Object: runtime.DeepCopyJSON(c.object)}
}

// liveOrNew is what a configuration is merged into.
func (c *call) liveOrNew(old resource.Object) (resource.Object, error) {
	if old != nil {
		live := old.DeepCopyObject().(resource.Object)
		live.GetObjectKind().SetGroupVersionKind(c.ep.Hub())
		return live, nil
	}
	obj, err := c.ep.newStored()
	if err != nil {
		return nil, err
	}
	obj.GetObjectKind().SetGroupVersionKind(c.ep.Hub())
	return asObjectOf(obj)
}

// objectTo objects to what stands in a configuration twice.
func (c *call) objectTo(twice error, directive string) error {
	switch {
	case twice == nil || directive == metav1.FieldValidationIgnore:
		return nil
	case directive == metav1.FieldValidationStrict:
		return apierrors.NewBadRequest(fmt.Sprintf("error strict decoding patch: %v", twice))
	}
	c.warn(strictWarnings([]error{twice})...)
	return nil
}
