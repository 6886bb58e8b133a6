// Package externaljwt signs service account tokens by a program of the operator's, as kube-apiserver does with
// --service-account-signing-endpoint (KEP-740): it is asked over gRPC, on a Unix socket, by the API
// k8s.io/externaljwt v1.
//
// # Contract
//
//   - Connect fails unless the program answers with keys, and with an expiration of ten minutes at least.
//   - The keys are fetched again as often as the program asks for, and when a token has the ID of an unknown one. If it does
//     not answer, those of its last answer stay in force.
//   - A signature with an algorithm that kube-apiserver would not accept, or by a key that others may not know, is refused.
//
// # Concurrency
//
// All methods may be called from any goroutine.
package externaljwt

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"golang.org/x/sync/singleflight"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"k8s.io/externaljwt/apis/v1"

	"fairlead.dev/internal/server/auth/token"
)

const (
	// patience bounds each request for keys, and shortPatience the one for metadata.
	patience, shortPatience = time.Minute, 10 * time.Second
	// retryEvery is how often keys are asked for if the program does not answer.
	retryEvery = 10 * time.Second
	// leastExpiration is the shortest validity of a token that can be requested.
	leastExpiration = 10 * time.Minute
	maxIDLength     = 1024
)

// Signer signs by the program. It implements token.Signer.
type Signer struct {
	longest time.Duration
	client  v1.ExternalJWTSignerClient
	conn    *grpc.ClientConn
	metrics metrics
	end     context.CancelFunc
	fetches singleflight.Group
	keys    atomic.Pointer[keySet]
}

// keySet is an answer of the program.
type keySet struct {
	keys  []token.Key
	until time.Time // when they are fetched again
}

// Connect returns a Signer that asks the program on the socket, a path, or a name after "@" of Linux's abstract namespace. It
// lasts until Close.
func Connect(ctx context.Context, socket string, log *slog.Logger) (*Signer, error) {
	target := "unix:" + socket
	if name, abstract := strings.CutPrefix(socket, "@"); abstract {
		target = "unix-abstract:" + name
	}
	conn, err := grpc.NewClient(target,
		grpc.WithTransportCredentials(insecure.NewCredentials()), // a socket of this machine
		grpc.WithDefaultCallOptions(grpc.WaitForReady(true)),
	)
	if err != nil {
		return nil, err
	}
	life, end := context.WithCancel(context.Background())
	s := &Signer{client: v1.NewExternalJWTSignerClient(conn), conn: conn, metrics: newMetrics(), end: end}
	if err := s.begin(ctx); err != nil {
		s.Close()
		return nil, fmt.Errorf("while setting up external-jwt-signer: %w", err)
	}
	go s.refresh(life, log)
	return s, nil
}

// begin fetches the first keys, and the longest expiration.
func (s *Signer) begin(ctx context.Context) error {
	if err := s.fetch(ctx); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, shortPatience)
	defer cancel()
	began := time.Now()
	about, err := s.client.Metadata(ctx, &v1.MetadataRequest{})
	s.metrics.took("Metadata", began, err)
	if err != nil {
		return err
	}
	if s.longest = time.Duration(about.MaxTokenExpirationSeconds) * time.Second; s.longest < leastExpiration {
		return fmt.Errorf("max token life supported by external-jwt-signer (%ds) is less than acceptable (min %ds)", about.MaxTokenExpirationSeconds, int(leastExpiration.Seconds()))
	}
	return nil
}

// Close ends the connection.
func (s *Signer) Close() {
	s.end()
	s.conn.Close()
}

// MaxExpiration returns how long a token may be valid.
func (s *Signer) MaxExpiration() time.Duration { return s.longest }

// MaxAge implements token.Signer.
func (s *Signer) MaxAge() time.Duration { return max(0, time.Until(s.keys.Load().until)) }

// Sign implements token.Signer.
func (s *Signer) Sign(ctx context.Context, payload []byte) (text string, err error) {
	defer func() { s.metrics.signed(err) }()
	claims := base64.RawURLEncoding.EncodeToString(payload)
	began := time.Now()
	answer, err := s.client.Sign(ctx, &v1.SignJWTRequest{Claims: claims})
	s.metrics.took("Sign", began, err)
	if err != nil {
		return "", fmt.Errorf("while signing jwt: %w", err)
	}
	if err := s.checkHeader(ctx, answer.Header); err != nil {
		return "", fmt.Errorf("while validating header: %w", err)
	}
	if answer.Signature == "" {
		return "", errors.New("empty signature returned")
	}
	return answer.Header + "." + claims + "." + answer.Signature, nil
}

// algorithms are the algorithms of signatures that kube-apiserver accepts.
var algorithms = []string{"RS256", "ES256", "ES384", "ES512"}

// checkHeader returns an error unless the header is one by which the token can be verified.
func (s *Signer) checkHeader(ctx context.Context, text string) error {
	decoded, err := base64.RawURLEncoding.DecodeString(text)
	if err != nil {
		return fmt.Errorf("while unwrapping header: %w", err)
	}
	var header struct {
		Algorithm string `json:"alg,omitempty"`
		KeyID     string `json:"kid,omitempty"`
		Type      string `json:"typ,omitempty"`
	}
	strict := json.NewDecoder(strings.NewReader(string(decoded)))
	strict.DisallowUnknownFields()
	if err := strict.Decode(&header); err != nil {
		return fmt.Errorf("while parsing header JSON: %w", err)
	}
	switch {
	case header.Type != "JWT":
		return errors.New("bad type")
	case header.KeyID == "":
		return errors.New("key id missing")
	case len(header.KeyID) > maxIDLength:
		return errors.New("key id longer than 1 kb")
	case !slices.Contains(algorithms, header.Algorithm):
		return fmt.Errorf("bad signing algorithm %q", header.Algorithm)
	}
	if slices.ContainsFunc(s.Keys(ctx, header.KeyID), func(k token.Key) bool { return k.Hidden }) {
		return fmt.Errorf("key used for signing JWT (kid: %s) is excluded from OIDC discovery docs", header.KeyID)
	}
	return nil
}
