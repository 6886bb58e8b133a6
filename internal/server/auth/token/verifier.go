package token

import (
	"context"
	"encoding/base64"
	"errors"
	"net/http"
	"strings"
	"unicode/utf8"

	utilerrors "k8s.io/apimachinery/pkg/util/errors"

	"fairlead.dev/internal/server/auth"
)

// ErrInvalid is returned for an unknown token.
var ErrInvalid = errors.New("invalid bearer token")

// Identity is the content of a valid token.
type Identity struct {
	User *auth.User
	// Audiences are the requested audiences that the token is valid for; nil if the Verifier does not support
	// audiences.
	Audiences []string
}

// Verifier verifies a token. It returns nil and no error if the token is not of its kind. No audiences stand for
// the API server's own.
type Verifier interface {
	Verify(ctx context.Context, token string, audiences []string) (*Identity, error)
}

// Union asks each Verifier in turn. If the token is unknown to all, their errors are returned.
type Union []Verifier

// Verify implements Verifier.
func (u Union) Verify(ctx context.Context, token string, audiences []string) (*Identity, error) {
	var errs []error
	for _, v := range u {
		id, err := v.Verify(ctx, token, audiences)
		if id != nil {
			return id, nil
		}
		if err != nil {
			errs = append(errs, err)
		}
	}
	return nil, utilerrors.NewAggregate(errs)
}

// Authenticator authenticates requests by the bearer token in their Authorization header, or in the subprotocols of
// a WebSocket. A token that v does not know is an error: its client meant to authenticate.
func Authenticator(v Verifier) auth.Authenticator {
	return auth.AuthenticatorFunc(func(r *http.Request) (*auth.User, bool, error) {
		token, ok := Bearer(r)
		if !ok {
			return nil, false, nil
		}
		id, err := v.Verify(r.Context(), token, nil)
		if err != nil {
			return nil, false, err
		}
		if id == nil {
			return nil, false, ErrInvalid
		}
		return auth.Authenticated(id.User), true, nil
	})
}

const subprotocol = "base64url.bearer.authorization.k8s.io."

// Bearer returns the token of a request.
func Bearer(r *http.Request) (string, bool) {
	scheme, rest, ok := strings.Cut(strings.TrimSpace(r.Header.Get("Authorization")), " ")
	if ok && strings.EqualFold(scheme, "bearer") {
		rest = strings.TrimSpace(rest)
		return rest, rest != ""
	}
	for _, line := range r.Header.Values("Sec-WebSocket-Protocol") {
		for p := range strings.SplitSeq(line, ",") {
			enc, ok := strings.CutPrefix(strings.TrimSpace(p), subprotocol)
			if !ok {
				continue
			}
			raw, err := base64.RawURLEncoding.DecodeString(enc)
			if err == nil && len(raw) > 0 && utf8.Valid(raw) {
				return string(raw), true
			}
		}
	}
	return "", false
}
