package token

import (
	"context"

	"k8s.io/apiserver/pkg/authentication/token/tokenfile"

	"fairlead.dev/internal/server/auth"
)

// file has the tokens of a file.
type file struct{ tokens *tokenfile.TokenAuthenticator }

// FromFile returns a Verifier of the tokens in a CSV file, in the format of kube-apiserver's --token-auth-file:
// token, user name, user UID, and optionally groups separated by commas. The file is read once. The tokens have no
// audiences: see ForServer.
func FromFile(path string) (Verifier, error) {
	tokens, err := tokenfile.NewCSV(path)
	if err != nil {
		return nil, err
	}
	return file{tokens}, nil
}

// Verify implements Verifier.
func (f file) Verify(ctx context.Context, token string, _ []string) (*Identity, error) {
	r, ok, err := f.tokens.AuthenticateToken(ctx, token)
	if !ok || err != nil {
		return nil, err
	}
	u := &auth.User{Name: r.User.GetName(), UID: r.User.GetUID(), Groups: r.User.GetGroups(), Extra: r.User.GetExtra()}
	return &Identity{User: auth.Authenticated(u)}, nil
}
