package etcd

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"time"

	"fairlead.dev/storage"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	clientv3 "go.etcd.io/etcd/client/v3"
	"go.uber.org/zap"
	"google.golang.org/grpc"
	"google.golang.org/grpc/backoff"
)

// Options for Open. Endpoints are required.
type Options struct {
	// Endpoints are the client URLs of the members, "https://host:2379".
	Endpoints []string
	// TLS is how to speak to them; nil where the endpoints are http.
	TLS *tls.Config

	// Root and Prefix put the store below a prefix of the cluster: a key of the
	// store begins with Root, and the cluster has it with Prefix in Root's place.
	// The rest of the cluster's keys is out of reach; other keys of the store are
	// invalid. Both empty is the whole cluster as it is.
	Root, Prefix string

	// Timeout bounds every request; 0 is DefaultTimeout. A request that can be
	// repeated is, on other members, until then.
	Timeout time.Duration
	// History is how long superseded revisions are kept: the cluster is compacted
	// at that pace, by one of those who share it; 0 is DefaultHistory, below 0
	// leaves it to others.
	History time.Duration
	// Buffer bounds the events that an open cursor holds unread, in bytes of keys
	// and values; 0 is DefaultBuffer. A cursor that is read more slowly is fed
	// from the cluster again when it has been read.
	Buffer int
	// Logger hears of breaks and recoveries; nil is silence.
	Logger *slog.Logger
}

// What the zero values of Options stand for.
const (
	DefaultTimeout = 5 * time.Second
	DefaultHistory = 5 * time.Minute
	DefaultBuffer  = 32 << 20
)

func (o Options) withDefaults() Options {
	if o.Timeout == 0 {
		o.Timeout = DefaultTimeout
	}
	if o.History == 0 {
		o.History = DefaultHistory
	}
	if o.Buffer == 0 {
		o.Buffer = DefaultBuffer
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	return o
}

// How soon a member that no longer answers is given up: a connection is tried
// after some seconds of silence, and must answer soon.
const (
	keepAliveTime    = 10 * time.Second
	keepAliveTimeout = 5 * time.Second
	// maxMessage leaves the judgement of sizes to the cluster.
	maxMessage = 1<<31 - 1
)

// reconnect is how soon a member that is back is found: by default it may take two
// minutes after a long outage.
var reconnect = grpc.ConnectParams{
	Backoff:           backoff.Config{BaseDelay: 100 * time.Millisecond, Multiplier: 1.6, Jitter: 0.2, MaxDelay: 2 * time.Second},
	MinConnectTimeout: 3 * time.Second,
}

// Open connects to a cluster, and fails if a majority of it does not answer before
// ctx ends or the timeout has passed. Errors: storage.ErrUnavailable,
// storage.ErrInvalid.
func Open(ctx context.Context, o Options) (*Store, error) {
	o = o.withDefaults()
	if len(o.Endpoints) == 0 {
		return nil, fmt.Errorf("no endpoints: %w", storage.ErrInvalid)
	}
	client, err := clientv3.New(clientv3.Config{
		Endpoints:            o.Endpoints,
		TLS:                  o.TLS,
		DialKeepAliveTime:    keepAliveTime,
		DialKeepAliveTimeout: keepAliveTimeout,
		MaxCallSendMsgSize:   maxMessage,
		DialOptions:          []grpc.DialOption{grpc.WithConnectParams(reconnect)},
		Logger:               zap.NewNop(),
	})
	if err != nil {
		return nil, fmt.Errorf("etcd: %w: %w", storage.ErrInvalid, err)
	}
	s := newStore(client, o)
	if err := s.begin(ctx); err != nil {
		if why := s.why(); why != nil && errors.Is(err, context.DeadlineExceeded) {
			err = fmt.Errorf("%w: %w", storage.ErrUnavailable, message{why})
		}
		s.Close()
		return nil, fmt.Errorf("the etcd cluster at %s: %w", strings.Join(o.Endpoints, ", "), err)
	}
	return s, nil
}

// why asks a member without trying again. A request that is repeated until its time
// is over does not tell what was wrong with the connection.
func (s *Store) why() error {
	ctx, cancel := context.WithTimeout(s.ctx, time.Second)
	defer cancel()
	_, err := pb.NewKVClient(s.client.ActiveConnection()).Range(ctx, &pb.RangeRequest{Key: []byte(s.keys.probe())})
	return err
}
