package token

import "context"

// ForServer returns a Verifier of tokens that name no audience and are for the API server alone, whose audiences are own. If
// a client asks for others only, a token is not of its kind.
func ForServer(own []string, v Verifier) Verifier { return forServer{own, v} }

type forServer struct {
	own []string
	v   Verifier
}

// Verify implements Verifier.
func (f forServer) Verify(ctx context.Context, token string, audiences []string) (*Identity, error) {
	shared := f.own
	if len(audiences) > 0 {
		shared = intersect(audiences, f.own)
	}
	if len(shared) == 0 {
		return nil, nil
	}
	id, err := f.v.Verify(ctx, token, nil)
	if id == nil || err != nil {
		return nil, err
	}
	return &Identity{User: id.User, Audiences: shared}, nil
}
