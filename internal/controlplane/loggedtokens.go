package controlplane

import (
	"context"
	"log/slog"

	"fairlead.dev/internal/server/auth/token"
)

// loggedTokens logs the errors of a verifier: the client is told only that it is not authenticated.
type loggedTokens struct {
	token.Verifier
	log     *slog.Logger
	message string
}

func (t loggedTokens) Verify(ctx context.Context, text string, audiences []string) (*token.Identity, error) {
	id, err := t.Verifier.Verify(ctx, text, audiences)
	if err != nil {
		t.log.Warn(t.message, "error", err)
	}
	return id, err
}
