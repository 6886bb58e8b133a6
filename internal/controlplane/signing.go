package controlplane

import (
	"context"
	"log/slog"

	"fairlead.dev/internal/server/auth/externaljwt"
	"fairlead.dev/internal/server/auth/token"
)

// connectSigner connects to the program that signs tokens, if there is one.
func (c *credentials) connectSigner(ctx context.Context, a *Access, log *slog.Logger) (err error) {
	if a.SigningEndpoint == "" {
		return nil
	}
	if c.external, err = externaljwt.Connect(ctx, a.SigningEndpoint, log); err != nil {
		return optionErrorf("--service-account-signing-endpoint: %w", err)
	}
	c.uses.ends = append(c.uses.ends, c.external.Close)
	if longest := c.external.MaxExpiration(); a.MaxTokenExpiration > longest {
		return optionErrorf("service-account-max-token-expiration cannot be set longer than the token expiration supported by service-account-signing-endpoint: %s > %s", a.MaxTokenExpiration, longest)
	}
	return nil
}

// signer returns the signer of service account tokens. With a program that signs, the own key is that of the tokens in
// Secrets.
func (c credentials) signer() (token.Signer, error) {
	if _, err := c.keySigner(); err != nil {
		return nil, err
	}
	own := token.Latest(latest(func() token.Signer {
		s, _ := c.keySigner() // the authority's keys, by which it differs from the one above, are of a good type
		return s
	}, c.clientCAs))
	if c.external == nil {
		return own, nil
	}
	return token.Accepting(c.external, own), nil
}

// keySigner returns the signer with the present keys.
func (c credentials) keySigner() (token.Signer, error) {
	older := c.verifying
	if c.signing == nil {
		older = append(c.authority.RetiredTokenKeys(), older...)
	}
	return token.NewSigner(c.tokenKey(), older...)
}
