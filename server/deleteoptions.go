package server

import (
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/runtime"
	kjson "sigs.k8s.io/json"

	"fairlead.dev/internal/server/codec"
)

// deleteOptions reads them from the body or, if there is none, the query.
func (c *call) deleteOptions() (*metav1.DeleteOptions, error) {
	opts := &metav1.DeleteOptions{}
	body, err := c.body()
	if err != nil {
		return nil, err
	}
	if len(body) > 0 {
		err = c.decodeDeleteOptions(body, opts)
	} else {
		err = c.options(opts)
	}
	if err != nil {
		return nil, err
	}
	if errs := validation.ValidateDeleteOptions(opts); len(errs) > 0 {
		return nil, invalidOptions("DeleteOptions", errs)
	}
	c.dryRun = len(opts.DryRun) > 0
	//lint:ignore SA1019 clients still send it
	if w := c.ep.Strategy.OrphanWarning; w != "" && opts.PropagationPolicy == nil && opts.OrphanDependents == nil {
		c.warn(w)
	}
	return opts, nil
}

// decodeDeleteOptions takes them in meta.k8s.io/v1 or, as old clients send
// them, in any group's version.
func (c *call) decodeDeleteOptions(body []byte, opts *metav1.DeleteOptions) error {
	m, err := c.s.offer.content(c.req)
	if err != nil {
		return err
	}
	if m == codec.YAML {
		if body, _, err = codec.YAMLToJSON(body, false); err != nil {
			return apierrors.NewBadRequest(err.Error())
		}
	}
	want := metav1.SchemeGroupVersion.WithKind("DeleteOptions")
	if !m.IsText() {
		var decoder runtime.Decoder = codec.ProtobufSerializer
		if m == codec.CBOR {
			decoder = codec.CBORSerializer
		}
		got, _, err := decoder.Decode(body, &want, opts)
		if err != nil {
			return apierrors.NewBadRequest(err.Error())
		}
		if got != runtime.Object(opts) {
			return apierrors.NewBadRequest("decoded object cannot be converted to DeleteOptions")
		}
		return nil
	}
	if _, err := codec.KindOf(body); err != nil {
		return apierrors.NewBadRequest(err.Error())
	}
	if err := kjson.UnmarshalCaseSensitivePreserveInts(body, opts); err != nil {
		return apierrors.NewBadRequest(err.Error())
	}
	if opts.Kind != "" && opts.Kind != "DeleteOptions" {
		if opts.APIVersion == "" {
			opts.APIVersion = metav1.SchemeGroupVersion.String()
		}
		return apierrors.NewBadRequest(fmt.Sprintf("no kind %q is registered for version %q in scheme \"pkg/runtime/scheme.go:111\"", opts.Kind, opts.APIVersion))
	}
	return nil
}
