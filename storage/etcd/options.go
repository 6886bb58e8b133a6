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
	// TLS configures the connections; nil if the endpoints are http.
	TLS *tls.Config

	// Root and Prefix put the store below a prefix of the cluster: a key of the
	// store begins with Root, and the cluster has it with Prefix in Root's place.
	// The rest of the cluster's keys is out of reach; other keys of the store are
	// invalid. Both empty is the whole cluster as it is.
	Root, Prefix string

	// Timeout bounds every request; 0 is DefaultTimeout. A request that can be
	// repeated is, on other members, until then.
	Timeout time.Duration
	// History is how long superseded revisions are kept: the cluster is compacted at that pace, by
	// one of the processes that share it; 0 is DefaultHistory, below 0 leaves it to other
	// processes.
	History time.Duration
	// Buffer bounds the events that an open cursor holds unread, in bytes of keys and values; 0 is
	// DefaultBuffer. A cursor that is read more slowly is fed from the cluster again when it has
	// been read.
	Buffer int
	// Logger logs breaks and recoveries; nil discards them.
	Logger *slog.Logger
}

// The defaults of Options.
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

// A connection is probed after some seconds of silence, and given up if the answer takes too long.
const (
	keepAliveTime    = 10 * time.Second
	keepAliveTimeout = 5 * time.Second
	// maxMessage leaves the judgement of sizes to the cluster.
	maxMessage = 1<<31 - 1
)

// reconnect bounds the pause until a member that is back is found: by default it may be two minutes
// after a long outage.
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
	if err := s.readState(ctx); err != nil {
		if why := s.connectionError(); why != nil && errors.Is(err, context.DeadlineExceeded) {
			err = fmt.Errorf("%w: %w", storage.ErrUnavailable, grpcMessage{why})
		}
		s.Close()
		return nil, fmt.Errorf("the etcd cluster at %s: %w", strings.Join(o.Endpoints, ", "), err)
	}
	return s, nil
}

// connectionError asks a member without retrying. A request that is repeated until its timeout does not return
// the connection's error.
func (s *Store) connectionError() error {
	ctx, cancel := context.WithTimeout(s.ctx, time.Second)
	defer cancel()
	_, err := pb.NewKVClient(s.client.ActiveConnection()).Range(ctx, &pb.RangeRequest{Key: []byte(s.keys.probeKey())})
	return err
}
