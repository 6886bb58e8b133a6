package patch

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"

	jsonpatch "gopkg.in/evanphx/json-patch.v4"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/mergepatch"
	"k8s.io/apimachinery/pkg/util/strategicpatch"
	kjson "sigs.k8s.io/json"
)

// Types are the supported patches, by content type. Applied configurations are handled by the server.
var Types = []string{string(types.JSONPatchType), string(types.MergePatchType), string(types.StrategicMergePatchType), string(types.ApplyYAMLPatchType)}

// maxOperations is the maximum number of operations of a JSON patch.
const maxOperations = 10000

// Patch is a patch as received. It may be applied to any number of objects.
type Patch struct {
	Type types.PatchType
	// Body is valid JSON; see Check.
	Body []byte
	// Strict also reports duplicate fields in the patch.
	Strict bool
}

// Check refuses a patch whose body is not JSON.
func (p Patch) Check() error {
	if !json.Valid(p.Body) {
		return apierrors.NewBadRequest("invalid JSON patch")
	}
	return nil
}

// Result is a patched object.
type Result struct {
	JSON []byte
	// Objections are the errors that strict decoding found in the patch itself.
	Objections []error

	current, body []byte                // of a merge patch
	change        map[string]any        // of a strategic patch
	merged        func() map[string]any // builds the whole object of a strategic patch
}

// Shown returns the patch as errors about the result quote it.
func (r *Result) Shown() string {
	switch {
	case r.change != nil:
		return fmt.Sprintf("%+v", r.change)
	case r.body != nil:
		// kube-apiserver quotes it with the touched members sorted.
		if text, err := jsonpatch.MergePatch(r.current, r.body); err == nil {
			return string(text)
		}
	}
	return string(r.JSON)
}

// Explain rewords err, the error of decoding the result into ref's type. Upstream converts the result of a
// strategic patch without decoding text, so its errors have another wording.
func (r *Result) Explain(ref any, err error) error {
	if r.merged != nil {
		if e := runtime.DefaultUnstructuredConverter.FromUnstructured(r.merged(), ref); e != nil {
			return e
		}
	}
	return err
}

// Apply patches the text of an object. A strategic patch takes its merge keys from the Go type of ref. A JSON patch
// stops with an error when ctx ends.
func (p Patch) Apply(ctx context.Context, current []byte, ref any) (*Result, error) {
	r := &Result{}
	var err error
	switch p.Type {
	case types.JSONPatchType:
		err = p.applyJSON(ctx, r, current)
	case types.MergePatchType:
		err = p.applyMerge(r, current)
	case types.StrategicMergePatchType:
		err = p.applyStrategic(r, current, ref)
	default:
		err = fmt.Errorf("%v: unimplemented patch type", p.Type)
	}
	return r, err
}

type operation struct {
	Op    string `json:"op"`
	Path  string `json:"path"`
	From  string `json:"from"`
	Value any    `json:"value"`
}

func (p Patch) applyJSON(ctx context.Context, r *Result, current []byte) (err error) {
	if p.Strict {
		var ops []operation
		if r.Objections, err = kjson.UnmarshalStrict(p.Body, &ops); err != nil {
			return undecodable(errors.New(strings.Replace(err.Error(), "patch.operation", "handlers.jsonPatchOp", 1)))
		}
		for i, o := range r.Objections {
			r.Objections[i] = fmt.Errorf("json patch %v", o)
		}
	}
	ops, err := ParseOperations(p.Body)
	if err != nil {
		return apierrors.NewBadRequest(err.Error())
	}
	if ops.Len() > maxOperations {
		return apierrors.NewRequestEntityTooLargeError(fmt.Sprintf(
			"The allowed maximum operations in a JSON patch is %d, got %d", maxOperations, ops.Len()))
	}
	switch r.JSON, err = ops.Apply(ctx, current); {
	case err == nil:
		return nil
	case ctx.Err() != nil:
		return ctx.Err()
	}
	return unprocessable(err)
}

func (p Patch) applyMerge(r *Result, current []byte) (err error) {
	if p.Strict {
		var v map[string]any
		if r.Objections, err = kjson.UnmarshalStrict(p.Body, &v); err != nil {
			return undecodable(err)
		}
	}
	if b := bytes.TrimSpace(p.Body); b[0] != '{' {
		return apierrors.NewBadRequest(jsonpatch.ErrBadJSONPatch.Error())
	}
	r.JSON = merge(current, p.Body)
	r.current, r.body = current, p.Body
	return nil
}

func (p Patch) applyStrategic(r *Result, current []byte, ref any) (err error) {
	if p.Strict {
		r.Objections, err = kjson.UnmarshalStrict(p.Body, &r.change)
	} else {
		err = kjson.UnmarshalCaseSensitivePreserveInts(p.Body, &r.change)
	}
	if err != nil {
		return apierrors.NewBadRequest(err.Error())
	}
	if _, ok := ref.(*unstructured.Unstructured); ok {
		return explain(mergepatch.ErrUnsupportedStrategicMergePatchFormat)
	}
	schema, err := strategicpatch.NewPatchMetaFromStruct(ref)
	if err != nil {
		return err
	}
	r.merged = func() (all map[string]any) { // of a patch that applies
		var change map[string]any
		if kjson.UnmarshalCaseSensitivePreserveInts(p.Body, &change) == nil && kjson.UnmarshalCaseSensitivePreserveInts(current, &all) == nil {
			all, _ = strategicpatch.StrategicMergeMapPatchUsingLookupPatchMeta(all, change, schema)
		}
		return all
	}
	r.JSON, err = strategic(current, r.change, schema)
	return err
}

// explain turns the errors of an invalid strategic patch into API errors with their status codes.
func explain(err error) error {
	for _, bad := range []error{
		mergepatch.ErrBadJSONDoc, mergepatch.ErrBadPatchFormatForPrimitiveList, mergepatch.ErrBadPatchFormatForRetainKeys,
		mergepatch.ErrBadPatchFormatForSetElementOrderList, mergepatch.ErrUnsupportedStrategicMergePatchFormat,
	} {
		if errors.Is(err, bad) {
			return apierrors.NewBadRequest(err.Error())
		}
	}
	if errors.Is(err, mergepatch.ErrNoListOfLists) || errors.Is(err, mergepatch.ErrPatchContentNotMatchRetainKeys) {
		return unprocessable(err)
	}
	return err
}

func undecodable(err error) error {
	return apierrors.NewBadRequest(fmt.Sprintf("error decoding patch: %v", err))
}

func unprocessable(err error) error {
	return apierrors.NewGenericServerResponse(http.StatusUnprocessableEntity, "", schema.GroupResource{}, "", err.Error(), 0, false)
}
