package client

import (
	"io"
	"net/http"
	"strconv"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/json"
)

const maxErrorBody = 1 << 20

// statusError reads and closes an answer that is not 2xx. A body that is no Status,
// as proxies send, becomes one that carries the text.
func statusError(q Request, res *http.Response) error {
	defer res.Body.Close()
	body, _ := io.ReadAll(io.LimitReader(res.Body, maxErrorBody))
	if st, ok := decodeStatus(body); ok {
		if st.Code == 0 {
			st.Code = int32(res.StatusCode)
		}
		return &apierrors.StatusError{ErrStatus: *st}
	}
	seconds, _ := strconv.Atoi(res.Header.Get("Retry-After"))
	gr, name := subject(q.Path)
	return apierrors.NewGenericServerResponse(res.StatusCode, q.Method, gr, name,
		strings.TrimSpace(string(body)), seconds, true)
}

// decodeStatus reads a failure Status in any encoding.
func decodeStatus(body []byte) (*metav1.Status, bool) {
	st := &metav1.Status{}
	if kind, raw, ok := splitProto(body); ok {
		if kind.Kind != "Status" || st.Unmarshal(raw) != nil {
			return nil, false
		}
		return st, st.Status != metav1.StatusSuccess
	}
	if isCBOR(body) {
		if decodeCBOR(body, st) != nil || st.Kind != "Status" {
			return nil, false
		}
		return st, st.Status != metav1.StatusSuccess
	}
	if json.UnmarshalCaseSensitivePreserveInts(body, st) != nil || st.Kind != "Status" {
		return nil, false
	}
	return st, st.Status != metav1.StatusSuccess
}

// subject guesses from a path which resource and object it is about.
func subject(path string) (gr schema.GroupResource, name string) {
	p := strings.Split(strings.Trim(path, "/"), "/")
	switch {
	case p[0] == "api" && len(p) > 2:
		p = p[2:]
	case p[0] == "apis" && len(p) > 3:
		gr.Group = p[1]
		p = p[3:]
	default:
		return gr, ""
	}
	if p[0] == "namespaces" && len(p) > 2 {
		p = p[2:]
	}
	gr.Resource = p[0]
	if len(p) > 1 {
		name = p[1]
	}
	return gr, name
}
