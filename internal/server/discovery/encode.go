package discovery

import (
	"bytes"
	"crypto/sha512"
	"encoding/json"
	"fmt"
	"mime"
	"net/http"
	"slices"
	"strconv"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer/protobuf"
	"sigs.k8s.io/yaml"
)

const (
	jsonType     = "application/json"
	yamlType     = "application/yaml"
	protobufType = "application/vnd.kubernetes.protobuf"
	asAggregated = ";g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"
)

// form is the media type of a document.
type form struct{ yaml, protobuf, aggregated bool }

func (f form) contentType() string {
	t := jsonType
	switch {
	case f.protobuf:
		t = protobufType
	case f.yaml:
		t = yamlType
	}
	if f.aggregated {
		t += asAggregated
	}
	return t
}

// negotiate returns the first acceptable form, by quality and then by position. known reports whether the header
// names any supported type.
func negotiate(accept []string, mayAggregate bool) (f form, known, ok bool) {
	all := strings.Join(accept, ",")
	if strings.TrimSpace(all) == "" {
		return form{}, true, true
	}
	type clause struct {
		form    form
		quality float64
	}
	var clauses []clause
	for part := range strings.SplitSeq(all, ",") {
		t, params, err := mime.ParseMediaType(part)
		if err != nil {
			continue
		}
		c := clause{quality: 1}
		switch t {
		case jsonType, "*/*", "application/*":
		case protobufType:
			c.form.protobuf = true
		case yamlType:
			c.form.yaml = true
		default:
			continue
		}
		known = true
		if as := params["as"]; as != "" {
			if !mayAggregate || as != "APIGroupDiscoveryList" || params["g"] != "apidiscovery.k8s.io" || params["v"] != "v2" {
				continue
			}
			c.form.aggregated = true
		}
		if q, err := strconv.ParseFloat(params["q"], 64); err == nil {
			c.quality = q
		}
		clauses = append(clauses, c)
	}
	slices.SortStableFunc(clauses, func(a, b clause) int {
		switch {
		case a.quality > b.quality:
			return -1
		case a.quality < b.quality:
			return 1
		}
		return 0
	})
	if len(clauses) == 0 {
		return form{}, known, false
	}
	return clauses[0].form, true, true
}

var protobufSerializer = protobuf.NewSerializer(nil, nil)

func encode(obj runtime.Object, f form) (*document, error) {
	text, err := json.Marshal(obj)
	if err != nil {
		return nil, err
	}
	d := &document{body: append(text, '\n')}
	if f.aggregated { // the same for all encodings: they differ by Vary
		d.etag = fmt.Sprintf("%q", fmt.Sprintf("%X", sha512.Sum512(text)))
	}
	if f.yaml {
		if d.body, err = yaml.JSONToYAML(text); err != nil {
			return nil, err
		}
	}
	if f.protobuf {
		var b bytes.Buffer
		if err := protobufSerializer.Encode(obj, &b); err != nil {
			return nil, err
		}
		d.body = b.Bytes()
	}
	return d, nil
}

type statusError metav1.Status

func (e *statusError) Error() string { return e.Message }

func notAllowed() error {
	return &statusError{Code: http.StatusMethodNotAllowed, Reason: metav1.StatusReasonMethodNotAllowed,
		Message: "the server does not allow this method on the requested resource", Details: &metav1.StatusDetails{}}
}

// notAcceptable returns the 406 error that lists the supported types. The wording depends on known: whether the
// header names a supported type, in a form that is not available.
func notAcceptable(known bool) error {
	e := &statusError{Code: http.StatusNotAcceptable, Reason: metav1.StatusReasonNotAcceptable}
	all := strings.Join([]string{jsonType, yamlType, protobufType}, ", ")
	if known {
		e.Message = "only the following media types are accepted: " + all
	} else {
		e.Message, e.Details = "406: Not Acceptable\n\nAvailable representations: "+all, &metav1.StatusDetails{}
	}
	return e
}

func fail(w http.ResponseWriter, err error) {
	s, ok := err.(*statusError)
	if !ok {
		s = &statusError{Code: http.StatusInternalServerError, Reason: metav1.StatusReasonInternalError, Message: err.Error()}
	}
	s.TypeMeta = metav1.TypeMeta{APIVersion: "v1", Kind: "Status"}
	s.Status = metav1.StatusFailure
	w.Header().Set("Content-Type", jsonType)
	w.WriteHeader(int(s.Code))
	text, _ := json.MarshalIndent((*metav1.Status)(s), "", "  ") // strings and numbers only, cannot fail
	w.Write(text)
}
