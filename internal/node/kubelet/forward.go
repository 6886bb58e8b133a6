package kubelet

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"os/exec"
	"strconv"
	"strings"

	"golang.org/x/net/websocket"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/cri-streaming/pkg/streaming/portforward"
	"k8s.io/streaming/pkg/httpstream/wsstream"

	"fairlead.dev/internal/node/kwok"
)

// portForward forwards connections to ports of a pod.
func (s *Server) portForward(w http.ResponseWriter, req *http.Request) {
	pod, _ := s.found(w, req)
	if pod == nil {
		return
	}
	if pod.Status.Phase != corev1.PodRunning {
		plain(w, http.StatusInternalServerError, fmt.Sprintf("pod is not running. Current status=%v", pod.Status.Phase))
		return
	}
	if wsstream.IsWebSocketRequestWithTunnelingProtocol(req) {
		tunnel(w, req, func(w http.ResponseWriter, req *http.Request) { s.forward(w, req, pod) })
		return
	}
	s.forward(w, req, pod)
}

func (s *Server) forward(w http.ResponseWriter, req *http.Request, pod *corev1.Pod) {
	w, req, cancel := watched(w, req)
	defer cancel()
	o, err := portforward.NewV4Options(req)
	if err != nil {
		plain(w, http.StatusBadRequest, err.Error())
		return
	}
	portforward.ServePortForward(w, req, forwarder{s, pod}, pod.Name, string(pod.UID), o, idle, patience, portforward.SupportedProtocols)
}

// tunnel accepts a WebSocket whose binary messages carry SPDY, and serves that as if it were the connection.
func tunnel(w http.ResponseWriter, req *http.Request, serve http.HandlerFunc) {
	inner := req.Clone(req.Context())
	inner.Header.Set("Upgrade", "SPDY/3.1")
	inner.Header.Set("Connection", "Upgrade")
	inner.Header.Del("Sec-WebSocket-Protocol")
	websocket.Server{
		Handshake: func(config *websocket.Config, _ *http.Request) error {
			for _, p := range config.Protocol {
				if spdy, ok := strings.CutPrefix(p, portforward.WebsocketsSPDYTunnelingPrefix); ok {
					config.Protocol = []string{p}
					inner.Header.Set("X-Stream-Protocol-Version", spdy)
					return nil
				}
			}
			return websocket.ErrBadWebSocketProtocol
		},
		Handler: func(conn *websocket.Conn) {
			conn.PayloadType = websocket.BinaryFrame
			serve(&tunnelWriter{conn: conn, header: http.Header{}}, inner)
		},
	}.ServeHTTP(w, req)
}

// tunnelWriter is the ResponseWriter of an upgrade that has already happened.
type tunnelWriter struct {
	conn   net.Conn
	header http.Header
}

func (t *tunnelWriter) Header() http.Header         { return t.header }
func (t *tunnelWriter) WriteHeader(int)             {}
func (t *tunnelWriter) Write(p []byte) (int, error) { return len(p), nil }

// Hijack returns the connection inside the WebSocket.
func (t *tunnelWriter) Hijack() (net.Conn, *bufio.ReadWriter, error) {
	return t.conn, bufio.NewReadWriter(bufio.NewReader(t.conn), bufio.NewWriter(t.conn)), nil
}

// forwarder answers connections to ports of a pod.
type forwarder struct {
	*Server
	pod *corev1.Pod
}

func (f forwarder) PortForward(ctx context.Context, _, _ string, port int32, stream io.ReadWriteCloser) error {
	return f.answer(ctx, f.pod, port, stream)
}

// answer answers a connection to a port of a pod.
func (s *Server) answer(ctx context.Context, pod *corev1.Pod, port int32, stream io.ReadWriteCloser) error {
	defer stream.Close()
	entry, ok := s.defs.Forward(pod, port)
	switch {
	case !ok:
		return greet(pod, port, stream)
	case entry.Target != nil:
		return dial(ctx, entry.Target, stream)
	case len(entry.Command) > 0:
		cmd := exec.CommandContext(ctx, entry.Command[0], entry.Command[1:]...)
		cmd.Stdin, cmd.Stdout = stream, stream
		return cmd.Run()
	}
	_, err := io.WriteString(stream, entry.Response)
	return err
}

func dial(ctx context.Context, t *kwok.Target, stream io.ReadWriteCloser) error {
	conn, err := (&net.Dialer{}).DialContext(ctx, "tcp", net.JoinHostPort(t.Address, strconv.Itoa(int(t.Port))))
	if err != nil {
		return err
	}
	defer conn.Close()
	go func() {
		io.Copy(conn, stream)
		if c, ok := conn.(*net.TCPConn); ok {
			c.CloseWrite()
		}
	}()
	_, err = io.Copy(stream, conn)
	return err
}

// greet answers HTTP requests with the name of the pod.
func greet(pod *corev1.Pod, port int32, stream io.ReadWriteCloser) error {
	in := bufio.NewReader(stream)
	for {
		req, err := http.ReadRequest(in)
		if err != nil {
			return nil // the client has gone, or speaks something else
		}
		io.Copy(io.Discard, req.Body)
		body := fmt.Sprintf("%s %s\npod %s/%s, port %d\n", req.Method, req.URL.RequestURI(), pod.Namespace, pod.Name, port)
		res := http.Response{
			StatusCode: http.StatusOK, ProtoMajor: 1, ProtoMinor: 1, Request: req, Close: req.Close,
			Header: http.Header{"Content-Type": {"text/plain"}}, ContentLength: int64(len(body)),
			Body: io.NopCloser(strings.NewReader(body)),
		}
		if err := res.Write(stream); err != nil || req.Close {
			return err
		}
	}
}

// Dial connects to a port of the pod that has the address.
func (s *Server) Dial(ctx context.Context, address string) (net.Conn, error) {
	pod, port := s.podAt(address)
	if pod == nil {
		return nil, &net.OpError{Op: "dial", Net: "tcp", Addr: name(address), Err: fmt.Errorf("connect: no route to host")}
	}
	ours, theirs := net.Pipe()
	go s.answer(context.WithoutCancel(ctx), pod, port, theirs)
	return ours, nil
}

// Defines reports whether a definition answers at an address of a running pod.
func (s *Server) Defines(address string) bool {
	pod, port := s.podAt(address)
	if pod == nil {
		return false
	}
	_, ok := s.defs.Forward(pod, port)
	return ok
}

// podAt returns the running pod of an address and the port; nil if there is no such pod.
func (s *Server) podAt(address string) (*corev1.Pod, int32) {
	at, err := netip.ParseAddrPort(address)
	if err != nil {
		return nil, 0
	}
	pod := s.pods.PodAt(at.Addr().String())
	if pod == nil || pod.Status.Phase != corev1.PodRunning {
		return nil, 0
	}
	return pod, int32(at.Port())
}

// name is the address of a simulated endpoint.
type name string

func (n name) Network() string { return "tcp" }
func (n name) String() string  { return string(n) }
