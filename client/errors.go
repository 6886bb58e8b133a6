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

// Reason is the reason of a server's error, as a target for errors.Is:
//
//	if errors.Is(err, client.ErrNotFound) { ... }
//
// It agrees with apierrors' functions (IsNotFound) for the same error. Any reason of
// apimachinery can be used: Reason(metav1.StatusReasonTimeout).
type Reason metav1.StatusReason

// The reasons that are asked for most.
const (
	ErrNotFound        = Reason(metav1.StatusReasonNotFound)
	ErrAlreadyExists   = Reason(metav1.StatusReasonAlreadyExists)
	ErrConflict        = Reason(metav1.StatusReasonConflict)
	ErrInvalid         = Reason(metav1.StatusReasonInvalid)
	ErrForbidden       = Reason(metav1.StatusReasonForbidden)
	ErrUnauthorized    = Reason(metav1.StatusReasonUnauthorized)
	ErrTooManyRequests = Reason(metav1.StatusReasonTooManyRequests)
	// ErrExpired is a revision that the server has forgotten: list again.
	ErrExpired = Reason(metav1.StatusReasonExpired)
)

// IgnoreNotFound returns nil if the server answered that the object does not exist, and err otherwise.
func IgnoreNotFound(err error) error {
	if apierrors.IsNotFound(err) {
		return nil
	}
	return err
}

func (r Reason) Error() string { return "client: the server's answer is " + string(r) }

// statusErr is a *apierrors.StatusError, by As, that errors.Is compares by its reason.
type statusErr struct{ *apierrors.StatusError }

func refused(st *metav1.Status) error { return statusErr{&apierrors.StatusError{ErrStatus: *st}} }

func (e statusErr) Unwrap() error { return e.StatusError }

func (e statusErr) Is(target error) bool {
	r, ok := target.(Reason)
	if !ok {
		return false
	}
	reason := e.ErrStatus.Reason
	if reason == metav1.StatusReasonGone { // the reason that old servers send
		reason = metav1.StatusReasonExpired
	}
	return Reason(reason) == r
}

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
		return refused(st)
	}
	seconds, _ := strconv.Atoi(res.Header.Get("Retry-After"))
	gr, name := subject(q.Path)
	return statusErr{apierrors.NewGenericServerResponse(res.StatusCode, q.Method, gr, name,
		strings.TrimSpace(string(body)), seconds, true)}
}

// decodeStatus reads a failure Status in any encoding.
func decodeStatus(body []byte) (*metav1.Status, bool) {
	st := &metav1.Status{}
	if raw, ok := splitProto(body); ok {
		if protoKind(body) != "Status" || st.Unmarshal(raw) != nil {
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
