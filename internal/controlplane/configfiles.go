package controlplane

import (
	"context"
	"errors"

	"fairlead.dev/internal/reload"
	"fairlead.dev/internal/server/auth/chain"
	"fairlead.dev/internal/server/auth/jwt"
)

// loadAuthorizers loads the authorizers of the file, or those of the options.
func (c *credentials) loadAuthorizers(a *Access) (err error) {
	if a.AuthorizationConfigFile == "" {
		if c.authorizers, err = chain.OfModes(a.Authorization); err != nil {
			return OptionError{err}
		}
		return nil
	}
	c.reloads.follow("authorization", func(context.Context) error { return c.authorizers.Reload() }, a.AuthorizationConfigFile)
	if c.authorizers, err = chain.FromFile(a.AuthorizationConfigFile, a.Authorization.PolicyFile, serverID()); err != nil {
		return optionErrorf("--authorization-config: %w", err)
	}
	return nil
}

// loadIssuers loads the issuers of the file, or that of the options, if there are any.
func (c *credentials) loadIssuers(a *Access) (err error) {
	if a.AuthenticationConfigFile == "" && a.Issuer.URL == "" {
		return nil
	}
	flag := "--oidc-*"
	if a.AuthenticationConfigFile != "" {
		flag = "--authentication-config"
		c.reloads.follow("authentication", func(ctx context.Context) error {
			err := c.issued.Reload(ctx)
			if errors.As(err, new(jwt.UnreadyError)) {
				err = reload.LaterError{Err: err}
			}
			return err
		}, a.AuthenticationConfigFile)
	}
	c.issued, err = jwt.New(jwt.Options{File: a.AuthenticationConfigFile, Issuer: a.Issuer, ServiceAccountIssuers: a.Issuers, Server: serverID()})
	if err != nil {
		return optionErrorf("%s: %w", flag, err)
	}
	c.uses.ends = append(c.uses.ends, c.issued.Close)
	if a.FixedAnonymous && c.issued.Anonymous() != nil {
		return optionErrorf("--authentication-config: anonymous: Forbidden: --anonymous-auth flag cannot be set when anonymous field is configured in authentication configuration file")
	}
	return nil
}

// anonymous returns the paths at which requests without credentials are allowed, nil for all, and whether they are.
func (c credentials) anonymous(a Access) (paths []string, allowed bool) {
	if c.issued == nil || c.issued.Anonymous() == nil {
		return nil, !a.NoAnonymous
	}
	config := c.issued.Anonymous()
	for _, one := range config.Conditions {
		paths = append(paths, one.Path)
	}
	return paths, config.Enabled
}
