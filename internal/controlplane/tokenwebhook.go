package controlplane

import (
	"context"
	"log/slog"

	"fairlead.dev/internal/server/auth/token"
)

// loggedTokens logs the errors of a token webhook: the client is told only that it is not authenticated.
type loggedTokens struct {
	token.Verifier
	log *slog.Logger
}

func (t loggedTokens) Verify(ctx context.Context, text string, audiences []string) (*token.Identity, error) {
	id, err := t.Verifier.Verify(ctx, text, audiences)
	if err != nil {
		t.log.Warn("the token webhook refused a token or failed", "error", err)
	}
	return id, err
}
