package audit

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	auditinternal "k8s.io/apiserver/pkg/apis/audit"
	"k8s.io/apiserver/pkg/audit"

	"fairlead.dev/internal/server/auth"
	"fairlead.dev/internal/server/auth/upstream"
)

// ErrNotStored is the error for a request whose first event cannot be written.
var ErrNotStored = errors.New("failed to store audit event")

// Context returns the context of a request that may be recorded. id is the value of its header Audit-ID.
func (a *Auditor) Context(ctx context.Context, id string) context.Context {
	ctx = audit.WithAuditContext(ctx)
	audit.WithAuditID(ctx, types.UID(id))
	return ctx
}

// Record is the event of one request, which is written at each of its stages. The methods of a nil Record have no effect.
type Record struct {
	ctx    context.Context
	event  *audit.AuditContext
	config audit.RequestAuditConfig
	// long reports whether the request lasts by nature, such as a watch. Then the start of the response is a stage.
	long, begun, decided, ended bool
	// refused reports whether the request is refused before it has a user.
	refused bool
	// body is the response, if it is recorded, and contentType and encoding are those of its header.
	body                  *bytes.Buffer
	contentType, encoding string
}

// Open begins to record a request, whose context Context has made. The Record is nil if the policy leaves the request out.
// at describes the request, with the user as which it was authenticated, before any impersonation.
func (a *Auditor) Open(r *http.Request, at auth.Attributes, began time.Time, long bool) (*Record, error) {
	record, err := a.open(r, at, began, long)
	if record == nil || err != nil {
		return nil, err
	}
	if !record.event.ProcessEventStage(record.ctx, auditinternal.StageRequestReceived) {
		audit.ApiserverAuditDroppedCounter.WithContext(record.ctx).Inc()
		return nil, ErrNotStored
	}
	return record, nil
}

// OpenFailed begins to record a request that is refused before it has a user, with the reason. The beginning of the
// response is its only stage.
func (a *Auditor) OpenFailed(r *http.Request, at auth.Attributes, began time.Time, message string) (*Record, error) {
	record, err := a.open(r, at, began, true)
	if record == nil || err != nil {
		return nil, err
	}
	record.event.SetEventResponseStatus(&metav1.Status{Message: message})
	record.refused = true
	return record, nil
}

func (a *Auditor) open(r *http.Request, at auth.Attributes, began time.Time, long bool) (*Record, error) {
	ctx := r.Context()
	attributes := upstream.Attributes(at)
	config := a.policy.EvaluatePolicyRule(attributes)
	audit.ObservePolicyLevel(ctx, config.Level)
	event := audit.AuditContextFrom(ctx)
	if err := event.Init(config, a.backend); err != nil {
		return nil, fmt.Errorf("failed to create audit event: %w", err)
	}
	if config.Level == auditinternal.LevelNone {
		return nil, nil
	}
	audit.LogRequestMetadata(ctx, r, began, attributes)
	return &Record{ctx: ctx, event: event, config: config, long: long}, nil
}

// Begin records that the response begins, with its header.
func (r *Record) Begin(code int, h http.Header) {
	if r.begun || r.ended {
		return
	}
	r.begun, r.ended = true, r.refused
	r.contentType, r.encoding = h.Get("Content-Type"), h.Get("Content-Encoding")
	r.event.SetEventResponseStatusCode(int32(code))
	if r.long {
		r.event.ProcessEventStage(r.ctx, auditinternal.StageResponseStarted)
	}
}

// Impersonated records the user as which the request is served, and the verb that allowed it, "" for the verb impersonate.
func (r *Record) Impersonated(u *auth.User, constraint string) {
	if r != nil {
		r.event.LogImpersonatedUser(upstream.User(u), constraint)
	}
}

// Decided records the decision of the authorizer on the request. Only the first counts: the others are about parts of it.
func (r *Record) Decided(allowed bool, reason string, err error) {
	if r == nil || r.decided {
		return
	}
	r.decided = true
	switch {
	case allowed:
		audit.AddAuditAnnotations(r.ctx, decisionKey, "allow", reasonKey, reason)
	case err != nil:
		audit.AddAuditAnnotation(r.ctx, reasonKey, "internal error")
	default:
		audit.AddAuditAnnotations(r.ctx, decisionKey, "forbid", reasonKey, reason)
	}
}

const (
	decisionKey = "authorization.k8s.io/decision"
	reasonKey   = "authorization.k8s.io/reason"
)

// Late records that the deadline has answered the request in place of its handler.
func (r *Record) Late() {
	if r != nil && !r.ended {
		r.Begin(http.StatusGatewayTimeout, nil)
	}
}

// Panicked records that the handler of the request has panicked.
func (r *Record) Panicked(p any) {
	if r == nil || r.ended {
		return
	}
	r.ended = true
	r.event.SetEventResponseStatus(&metav1.Status{
		Code: http.StatusInternalServerError, Status: metav1.StatusFailure, Reason: metav1.StatusReasonInternalError,
		Message: fmt.Sprintf("APIServer panic'd: %v", p),
	})
	r.event.ProcessEventStage(r.ctx, auditinternal.StagePanic)
}

// End records that the response has ended.
func (r *Record) End() {
	if r == nil || r.ended {
		return
	}
	r.ended = true
	if r.event.GetEventResponseStatus() == nil {
		r.event.SetEventResponseStatus(&metav1.Status{Code: http.StatusOK, Status: metav1.StatusSuccess, Message: "Connection closed early"})
		if r.long {
			r.event.ProcessEventStage(r.ctx, auditinternal.StageResponseStarted)
		}
	}
	r.recordBody()
	r.event.ProcessEventStage(r.ctx, auditinternal.StageResponseComplete)
}

// Annotate adds an annotation to the event of the request, unless it has the key with another value.
func Annotate(ctx context.Context, key, value string) { audit.AddAuditAnnotation(ctx, key, value) }

// Annotates reports whether annotations of the request are recorded: whether it is worth making them.
func Annotates(ctx context.Context) bool { return audit.AuditContextFrom(ctx).Enabled() }

// AnnotatesBodies reports whether annotations of the request that tell of its object are recorded.
func AnnotatesBodies(ctx context.Context) bool {
	event := audit.AuditContextFrom(ctx)
	return event.Enabled() && event.GetEventLevel().GreaterOrEqual(auditinternal.LevelRequest)
}

// Attempted describes the credentials of a request that could not be authenticated.
func Attempted(r *http.Request) string {
	var methods []string
	if _, _, ok := r.BasicAuth(); ok {
		methods = append(methods, "basic")
	}
	if scheme, _, ok := strings.Cut(strings.TrimSpace(r.Header.Get("Authorization")), " "); ok && strings.EqualFold(scheme, "bearer") {
		methods = append(methods, "bearer")
	}
	if strings.TrimSpace(r.URL.Query().Get("access_token")) != "" {
		methods = append(methods, "access_token")
	}
	if r.TLS != nil && len(r.TLS.PeerCertificates) > 0 {
		methods = append(methods, "x509")
	}
	if len(methods) == 0 {
		return "Authentication failed, no credentials provided"
	}
	return "Authentication failed, attempted: " + strings.Join(methods, ", ")
}
