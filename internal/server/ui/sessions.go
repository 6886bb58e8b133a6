package ui

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"sync"
	"time"

	"fairlead.dev/internal/server/auth"
)

const (
	// LinkLife is how long a link is valid.
	LinkLife = 10 * time.Minute
	// SessionLife is how long a session lasts.
	SessionLife = 12 * time.Hour
	// VisitLife is how long a visit lasts; it ends before with its session.
	VisitLife = time.Hour
	// maxSecrets is the maximum number of links, of sessions, and of visits. One more ends the one that would expire first.
	maxSecrets = 256
)

// secrets holds secrets that stand for a user until they expire. Only their digests are kept.
type secrets struct {
	life     time.Duration
	realTime func() time.Time // of Options
	mu       struct {
		sync.Mutex
		of map[[sha256.Size]byte]grant
	}
}

// grant is the user of a secret and its expiry. Its context ends when the grant expires, is taken, or is evicted.
type grant struct {
	user    *auth.User
	path    string // of a visit
	expires time.Time
	ctx     context.Context
	end     context.CancelFunc
}

// issue creates a secret for a user.
func (s *secrets) issue(user *auth.User) (secret string, expires time.Time) {
	return s.issueWithin(context.Background(), grant{user: user})
}

// issueWithin creates a secret for a grant that ends with a context at the latest.
func (s *secrets) issueWithin(ctx context.Context, g grant) (secret string, expires time.Time) {
	now := s.now()
	g.expires = now.Add(s.life)
	if s.realTime == nil {
		g.ctx, g.end = context.WithDeadline(ctx, g.expires)
	} else {
		g.ctx, g.end = context.WithCancel(ctx)
	}
	secret = rand.Text()
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.mu.of == nil {
		s.mu.of = map[[sha256.Size]byte]grant{}
	}
	s.clear(now)
	s.mu.of[sha256.Sum256([]byte(secret))] = g
	return secret, g.expires
}

// now is the time by which secrets expire.
func (s *secrets) now() time.Time {
	if s.realTime != nil {
		return s.realTime()
	}
	return time.Now()
}

// clear makes room for one more.
func (s *secrets) clear(now time.Time) {
	var first [sha256.Size]byte
	var at time.Time
	for digest, g := range s.mu.of {
		if !now.Before(g.expires) {
			s.drop(digest)
		} else if at.IsZero() || g.expires.Before(at) {
			first, at = digest, g.expires
		}
	}
	if len(s.mu.of) >= maxSecrets {
		s.drop(first)
	}
}

// drop ends a grant, if there is one.
func (s *secrets) drop(digest [sha256.Size]byte) {
	if g, ok := s.mu.of[digest]; ok {
		g.end()
		delete(s.mu.of, digest)
	}
}

// find returns the grant of a secret, and ends one that has expired.
func (s *secrets) find(secret string) (grant, bool) {
	now := s.now()
	s.mu.Lock()
	defer s.mu.Unlock()
	digest := sha256.Sum256([]byte(secret))
	g, ok := s.mu.of[digest]
	if ok && !now.Before(g.expires) {
		s.drop(digest)
	}
	return g, ok && g.ctx.Err() == nil
}

// take is find for a one-time secret; it ends the grant. It also ends a session.
func (s *secrets) take(secret string) (grant, bool) {
	now := s.now()
	s.mu.Lock()
	defer s.mu.Unlock()
	digest := sha256.Sum256([]byte(secret))
	g, ok := s.mu.of[digest]
	s.drop(digest)
	return g, ok && now.Before(g.expires)
}
