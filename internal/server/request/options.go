package request

import (
	"fmt"
	"net/http"
	"net/url"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/internalversion"
	metainternalscheme "k8s.io/apimachinery/pkg/apis/meta/internalversion/scheme"
	"k8s.io/apimachinery/pkg/apis/meta/internalversion/validation"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	metav1validation "k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/runtime"
	kjson "sigs.k8s.io/json"

	"fairlead.dev/internal/server/apistatus"
	"fairlead.dev/internal/server/serializer"
)

// DecodeOptions reads a verb's options from the query.
func DecodeOptions(query url.Values, into runtime.Object) error {
	if len(query) == 0 {
		return nil
	}
	err := metainternalscheme.ParameterCodec.DecodeParameters(query, metav1.SchemeGroupVersion, into)
	if err != nil {
		return apierrors.NewBadRequest(err.Error())
	}
	return nil
}

// DecodeListOptions reads the options of list, watch and deletecollection. Without watchList
// a watch cannot ask for a list at its beginning.
func DecodeListOptions(query url.Values, watch, watchList bool) (*internalversion.ListOptions, error) {
	opts := &internalversion.ListOptions{}
	if err := DecodeOptions(query, opts); err != nil {
		return nil, err
	}
	if err := checkSelectors(opts); err != nil {
		return nil, err
	}
	opts.Watch = watch
	internalversion.SetListOptionsDefaults(opts, watchList)
	if errs := validation.ValidateListOptions(opts, watchList); len(errs) > 0 {
		return nil, apistatus.InvalidOptions("ListOptions", errs)
	}
	internalversion.SetListOptionsDefaults(opts, true) // a watch from the beginning is served as one that asks for a list
	return opts, nil
}

// DecodeDeleteOptions reads the options of a delete from its body or, if that is empty, from
// the query. The body may be a DeleteOptions of meta.k8s.io/v1 or, as old clients send it, of
// any group's version.
func (o Negotiator) DecodeDeleteOptions(req *http.Request, query url.Values, body []byte) (*metav1.DeleteOptions, error) {
	opts := &metav1.DeleteOptions{}
	var err error
	if len(body) > 0 {
		err = o.decodeDeleteBody(req, body, opts)
	} else {
		err = DecodeOptions(query, opts)
	}
	if err != nil {
		return nil, err
	}
	if errs := metav1validation.ValidateDeleteOptions(opts); len(errs) > 0 {
		return nil, apistatus.InvalidOptions("DeleteOptions", errs)
	}
	return opts, nil
}

// TimeoutOf returns the time that a client gives its request, 0 if it does not say.
func TimeoutOf(query url.Values) (time.Duration, error) {
	text := query.Get("timeout")
	if text == "" {
		return 0, nil
	}
	d, err := time.ParseDuration(text)
	if err != nil {
		return 0, apierrors.NewBadRequest("invalid timeout specified in the request URL - " + err.Error())
	}
	return max(d, 0), nil
}

func (o Negotiator) decodeDeleteBody(req *http.Request, body []byte, opts *metav1.DeleteOptions) error {
	m, err := o.ContentType(req)
	if err != nil {
		return err
	}
	if m == serializer.YAML {
		if body, _, err = serializer.YAMLToJSON(body, false); err != nil {
			return apierrors.NewBadRequest(err.Error())
		}
	}
	want := metav1.SchemeGroupVersion.WithKind("DeleteOptions")
	if !m.IsText() {
		var decoder runtime.Decoder = serializer.ProtobufSerializer
		if m == serializer.CBOR {
			decoder = serializer.CBORSerializer
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
	if _, err := serializer.KindOf(body); err != nil {
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
