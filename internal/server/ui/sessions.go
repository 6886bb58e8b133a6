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
	// LinkLife is how long a link may wait for its login.
	LinkLife = 10 * time.Minute
	// SessionLife is how long a session lasts.
	SessionLife = 12 * time.Hour
	// most is how many links, and how many sessions, there are at a time; one more ends
	// the one that would end first.
	most = 256
)

// secrets are what somebody may show to be taken for a user, until each expires. Only
// their digests are kept.
type secrets struct {
	life time.Duration
	mu   struct {
		sync.Mutex
		of map[[sha256.Size]byte]grant
	}
}

// grant is whom a secret stands for, and until when. Its context ends with it, whether its
// time is over, it is taken, or it has to make room.
type grant struct {
	user    *auth.User
	expires time.Time
	ctx     context.Context
	end     context.CancelFunc
}

// issue makes a secret for a user.
func (s *secrets) issue(user *auth.User) (secret string, expires time.Time) {
	now := time.Now()
	g := grant{user: user, expires: now.Add(s.life)}
	g.ctx, g.end = context.WithDeadline(context.Background(), g.expires)
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
	if len(s.mu.of) >= most {
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

// find tells whom a secret stands for.
func (s *secrets) find(secret string) (grant, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	g, ok := s.mu.of[sha256.Sum256([]byte(secret))]
	return g, ok && time.Now().Before(g.expires)
}

// take is find for a secret that is good once; it also ends a session.
func (s *secrets) take(secret string) (grant, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	digest := sha256.Sum256([]byte(secret))
	g, ok := s.mu.of[digest]
	s.drop(digest)
	return g, ok && time.Now().Before(g.expires)
}
