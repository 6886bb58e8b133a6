package kubelet

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log"
	"math/big"
	"net"
	"net/http"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"

	"fairlead.dev/internal/node/kwok"
)

// Pods are the pods of the nodes.
type Pods interface {
	// Pod returns the latest version of a pod, which must not be changed, and a channel that is
	// closed when the pod changes or is removed. The pod is nil if it is not on the nodes.
	Pod(namespace, name string) (pod *corev1.Pod, changed <-chan struct{})
	// PodAt returns the pod with an address; nil if there is no such pod.
	PodAt(ip string) *corev1.Pod
	// On returns the latest versions of the pods of a node, or of all nodes if node is empty.
	On(node string) []*corev1.Pod
	// Probes calls each for all probes of a node's pods, of the kinds Startup, Readiness and Liveness, with how often they have
	// passed and failed until a time.
	Probes(node string, at time.Time, each func(pod *corev1.Pod, container, kind string, passed, failed int))
	// NodeAt returns the name of the node with an address; "" unless it is exactly one.
	NodeAt(ip string) string
	// Node returns one of the nodes. It fails for other nodes, and during an outage.
	Node(ctx context.Context, name string) (*corev1.Node, error)
	// Env returns the environment of a container of a pod, with the values from config maps,
	// secrets and fields of the pod.
	Env(pod *corev1.Pod, c *corev1.Container) []corev1.EnvVar
}

// Options of a Server. Pods are required.
type Options struct {
	Pods        Pods
	Definitions *kwok.Definitions // may be nil
	Lease       time.Duration     // duration of a node's lease
}

// Server serves the API of kubelets. Make it with New.
type Server struct {
	pods  Pods
	defs  *kwok.Definitions
	mux   *http.ServeMux
	http  *http.Server
	meter meter
	files containerFiles
	lease time.Duration
}

// New returns a server; it is an http.Handler as well.
func New(o Options) *Server {
	s := &Server{pods: o.Pods, defs: o.Definitions, lease: o.Lease, mux: http.NewServeMux()}
	s.mux.HandleFunc("GET /containerLogs/{namespace}/{pod}/{container}", s.logs)
	for _, at := range []string{"{namespace}/{pod}/{container}", "{namespace}/{pod}/{uid}/{container}"} {
		s.mux.HandleFunc("/exec/"+at, s.exec)
		s.mux.HandleFunc("/attach/"+at, s.attach)
	}
	s.mux.HandleFunc("/portForward/{namespace}/{pod}", s.portForward)
	s.mux.HandleFunc("/portForward/{namespace}/{pod}/{uid}", s.portForward)
	for _, check := range []string{"", "/ping", "/log", "/syncloop"} {
		s.mux.HandleFunc("GET /healthz"+check, func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, "ok") })
	}
	s.mux.HandleFunc("GET /pods", s.list)
	s.mux.HandleFunc("GET /runningpods/", s.listRunning)
	s.mux.HandleFunc("POST /checkpoint/{namespace}/{pod}/{container}", s.checkpoint)
	s.mux.HandleFunc("GET /metrics", s.metrics)
	s.mux.HandleFunc("GET /metrics/", s.metrics)
	s.mux.HandleFunc("GET /stats/summary", s.metrics)
	s.mux.HandleFunc("GET /configz", s.metrics)
	shown := sync.OnceValues(certificate)
	s.http = &http.Server{
		Handler: s, ReadHeaderTimeout: 32 * time.Second,
		ErrorLog:     log.New(io.Discard, "", 0),
		TLSNextProto: map[string]func(*http.Server, *tls.Conn, http.Handler){}, // upgrades are of HTTP/1.1
		TLSConfig:    &tls.Config{GetCertificate: func(*tls.ClientHelloInfo) (*tls.Certificate, error) { return shown() }},
	}
	return s
}

func (s *Server) ServeHTTP(w http.ResponseWriter, req *http.Request) { s.mux.ServeHTTP(w, req) }

// Serve answers connections of l over TLS until Close, which is no error.
func (s *Server) Serve(l net.Listener) error {
	if err := s.http.ServeTLS(l, "", ""); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}

// Close ends Serve and all connections but those that were upgraded, whose requests end
// with their peers.
func (s *Server) Close() error { return s.http.Close() }

// found returns the pod and container of a request, or answers the request with an error.
func (s *Server) found(w http.ResponseWriter, req *http.Request) (*corev1.Pod, string) {
	name, container := req.PathValue("pod"), req.PathValue("container")
	pod, _ := s.pods.Pod(req.PathValue("namespace"), name)
	if uid := req.PathValue("uid"); pod == nil || uid != "" && string(pod.UID) != uid {
		plain(w, http.StatusNotFound, fmt.Sprintf("pod %q does not exist", name))
		return nil, ""
	}
	if container != "" && !has(pod, container) {
		plain(w, http.StatusNotFound, fmt.Sprintf("container %q not found in pod %q", container, name))
		return nil, ""
	}
	return pod, container
}

func plain(w http.ResponseWriter, code int, text string) {
	w.Header().Set("Content-Type", "text/plain")
	w.WriteHeader(code)
	io.WriteString(w, text)
}

func has(pod *corev1.Pod, container string) bool { return spec(pod, container) != nil }

// spec returns the container of a name in a pod, or nil.
func spec(pod *corev1.Pod, name string) *corev1.Container {
	for _, list := range [][]corev1.Container{pod.Spec.Containers, pod.Spec.InitContainers} {
		for i := range list {
			if list[i].Name == name {
				return &list[i]
			}
		}
	}
	for i := range pod.Spec.EphemeralContainers {
		if e := &pod.Spec.EphemeralContainers[i]; e.Name == name {
			c := corev1.Container(e.EphemeralContainerCommon)
			return &c
		}
	}
	return nil
}

// status returns the status of a container, or nil before its first one.
func status(pod *corev1.Pod, name string) *corev1.ContainerStatus {
	s := &pod.Status
	for _, list := range [][]corev1.ContainerStatus{s.ContainerStatuses, s.InitContainerStatuses, s.EphemeralContainerStatuses} {
		for i := range list {
			if list[i].Name == name {
				return &list[i]
			}
		}
	}
	return nil
}

// list serves the pods of the node that was asked, or of all nodes at the address.
func (s *Server) list(w http.ResponseWriter, req *http.Request) {
	list := corev1.PodList{}
	list.Kind, list.APIVersion = "PodList", "v1"
	for _, p := range s.pods.On(s.pods.NodeAt(host(req))) {
		list.Items = append(list.Items, *p)
	}
	w.Header().Set("Content-Type", "application/json")
	json.NewEncoder(w).Encode(list)
}

// certificate makes a self-signed serving certificate.
func certificate() (*tls.Certificate, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, err
	}
	t := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "kubelet"},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().AddDate(10, 0, 0),
		KeyUsage: x509.KeyUsageDigitalSignature, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
	}
	der, err := x509.CreateCertificate(rand.Reader, t, t, &key.PublicKey, key)
	if err != nil {
		return nil, err
	}
	return &tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}, nil
}

// until returns when the container of a pod no longer runs, or ctx ends.
func (s *Server) until(ctx context.Context, namespace, name, id string) {
	for ctx.Err() == nil {
		pod, changed := s.pods.Pod(namespace, name)
		if pod == nil || !runs(pod, id) {
			return
		}
		select {
		case <-changed:
		case <-ctx.Done():
		}
	}
}

// runs reports whether the instance of a container still runs.
func runs(pod *corev1.Pod, id string) bool {
	s := &pod.Status
	for _, list := range [][]corev1.ContainerStatus{s.ContainerStatuses, s.InitContainerStatuses, s.EphemeralContainerStatuses} {
		for i := range list {
			if list[i].ContainerID == id && list[i].State.Running != nil {
				return true
			}
		}
	}
	return false
}
