package externaljwt

import (
	"context"
	"crypto/x509"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"k8s.io/externaljwt/apis/v1"

	"fairlead.dev/internal/server/auth/token"
)

// Keys implements token.Signer. It asks the program for keys if none has the ID.
func (s *Signer) Keys(ctx context.Context, id string) []token.Key {
	if found := s.find(id); len(found) > 0 {
		return found
	}
	if err := s.fetch(ctx); err != nil {
		return nil
	}
	return s.find(id)
}

func (s *Signer) find(id string) (found []token.Key) {
	all := s.keys.Load().keys
	if id == "" {
		return all
	}
	for _, k := range all {
		if k.ID == id {
			found = append(found, k)
		}
	}
	return found
}

// refresh fetches the keys again as often as the program asks for, until ctx ends.
func (s *Signer) refresh(ctx context.Context, log *slog.Logger) {
	for wait := s.MaxAge(); ; {
		select {
		case <-ctx.Done():
			return
		case <-time.After(wait):
		}
		err := s.fetch(ctx)
		if wait = s.MaxAge(); err != nil && ctx.Err() == nil {
			log.Error("the external signer does not answer with keys; the last ones stay in force", "err", err)
			wait = retryEvery
		}
	}
}

// fetch asks the program for its keys. Concurrent calls share a request.
func (s *Signer) fetch(ctx context.Context) error {
	_, err, _ := s.fetches.Do("", func() (any, error) {
		ctx, cancel := context.WithTimeout(ctx, patience)
		defer cancel()
		began := time.Now()
		answer, err := s.client.FetchKeys(ctx, &v1.FetchKeysRequest{})
		s.metrics.took("FetchKeys", began, err)
		var set *keySet
		if err == nil {
			set, err = keysOf(answer)
		}
		s.metrics.fetched(err)
		if err != nil {
			return nil, fmt.Errorf("while fetching token verification keys: %w", err)
		}
		s.metrics.of(answer.DataTimestamp.AsTime())
		s.keys.Store(set)
		return nil, nil
	})
	return err
}

// keysOf returns the keys of a valid answer.
func keysOf(answer *v1.FetchKeysResponse) (*keySet, error) {
	if answer.RefreshHintSeconds <= 0 {
		return nil, fmt.Errorf("found invalid refresh hint (%ds)", answer.RefreshHintSeconds)
	}
	if len(answer.Keys) == 0 {
		return nil, errors.New("found no keys")
	}
	if err := answer.DataTimestamp.CheckValid(); err != nil {
		return nil, fmt.Errorf("invalid data timestamp: %w", err)
	}
	set := &keySet{until: time.Now().Add(time.Duration(answer.RefreshHintSeconds) * time.Second)}
	for _, k := range answer.Keys {
		if id := k.GetKeyId(); id == "" || len(id) > maxIDLength {
			return nil, fmt.Errorf("found invalid public key id %q", id)
		}
		public, err := x509.ParsePKIXPublicKey(k.GetKey())
		if err != nil {
			return nil, fmt.Errorf("while parsing external public keys: %w", err)
		}
		set.keys = append(set.keys, token.Key{ID: k.KeyId, Public: public, Hidden: k.ExcludeFromOidcDiscovery})
	}
	return set, nil
}
