package etcdserver

import (
	"context"
	"crypto/tls"
	"log/slog"
	"math"
	"net"
	"net/http"
	"runtime"
	"sync"
	"time"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	"google.golang.org/grpc"
	"google.golang.org/grpc/health"
	"google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/keepalive"

	"fairlead.dev/storage"
)

// Limits, as etcd has them by default.
const (
	// MaxRequestBytes bounds a request that writes.
	MaxRequestBytes = 1536 << 10
	// MaxTxnOps bounds the comparisons, and the operations of each branch, of a
	// transaction and all that is nested in it.
	MaxTxnOps = 128
	// DefaultProgressInterval is the interval of progress notifications for a quiet watch that
	// requested them. It is kubeadm's choice; etcd's own is 10 minutes.
	DefaultProgressInterval = 5 * time.Second

	requestOverhead = 512 << 10
)

// Config configures a Server.
type Config struct {
	// Store is served; it is not closed by the Server.
	Store storage.Store
	// TLS is nil for plain text. Its ClientAuth decides about client certificates; NextProtos is
	// set by the Server.
	TLS *tls.Config
	// ClientURLs are the URLs of this member for clients; they may be set until Serve.
	ClientURLs []string
	// ProgressInterval is DefaultProgressInterval if 0.
	ProgressInterval time.Duration
	// Log logs failures; nil discards them.
	Log *slog.Logger
}

// A Server is one member of an etcd cluster of one. Make it with New.
type Server struct {
	config Config
	store  storage.Store
	grpc   *grpc.Server
	http   *http.Server

	// compaction is held for reading from before a commit until its answers about the revision
	// before its own have been read.
	compaction sync.RWMutex

	closing sync.Once
	closed  chan struct{}
}

// New makes a server that does not serve yet.
func New(c Config) *Server {
	if c.Log == nil {
		c.Log = slog.New(slog.DiscardHandler)
	}
	if c.ProgressInterval == 0 {
		c.ProgressInterval = DefaultProgressInterval
	}
	s := &Server{config: c, store: c.Store, closed: make(chan struct{})}
	s.grpc = grpc.NewServer(
		grpc.MaxRecvMsgSize(MaxRequestBytes+requestOverhead),
		grpc.MaxSendMsgSize(math.MaxInt32),
		grpc.MaxConcurrentStreams(math.MaxUint32),
		grpc.KeepaliveEnforcementPolicy(keepalive.EnforcementPolicy{MinTime: 5 * time.Second}),
		grpc.KeepaliveParams(keepalive.ServerParameters{Time: 2 * time.Hour, Timeout: 20 * time.Second}),
		grpc.NumStreamWorkers(uint32(2*runtime.GOMAXPROCS(0))),
		grpc.ForceServerCodecV2(newCodec()),
	)
	pb.RegisterKVServer(s.grpc, &kvServer{Server: s})
	pb.RegisterWatchServer(s.grpc, &watchServer{Server: s})
	pb.RegisterLeaseServer(s.grpc, &leaseServer{Server: s})
	pb.RegisterMaintenanceServer(s.grpc, &maintenanceServer{Server: s})
	pb.RegisterClusterServer(s.grpc, &clusterServer{Server: s})
	pb.RegisterAuthServer(s.grpc, &authServer{Server: s})
	healthy := health.NewServer()
	healthy.SetServingStatus("", grpc_health_v1.HealthCheckResponse_SERVING)
	grpc_health_v1.RegisterHealthServer(s.grpc, healthy)
	s.http = s.newHTTP()
	return s
}

// Serve answers l's connections until Close, and then returns nil. It closes l.
func (s *Server) Serve(l net.Listener) error {
	rpc, web := newConnListener(l.Addr()), newConnListener(l.Addr())
	var running sync.WaitGroup
	running.Go(func() { s.grpc.Serve(rpc) })
	running.Go(func() { s.http.Serve(web) })
	err := s.split(l, rpc, web)
	rpc.Close()
	web.Close()
	s.stop()
	running.Wait()
	select {
	case <-s.closed:
		return nil
	default:
		return err
	}
}

// Close ends the service: requests in progress are answered, if that does not take long, and
// streams are cut.
func (s *Server) Close() {
	s.closing.Do(func() { close(s.closed) })
	s.stop()
}

// requestsPatience is the time for requests in progress when the server ends.
const requestsPatience = 300 * time.Millisecond

func (s *Server) stop() {
	done := make(chan struct{})
	go func() {
		defer close(done)
		s.grpc.GracefulStop()
	}()
	ctx, cancel := context.WithTimeout(context.Background(), requestsPatience)
	defer cancel()
	s.http.Shutdown(ctx)
	select {
	case <-done:
	case <-ctx.Done():
		s.grpc.Stop()
		<-done
	}
	s.http.Close()
}
