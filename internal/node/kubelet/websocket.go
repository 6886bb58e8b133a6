package kubelet

import (
	"encoding/json"
	"net/http"
	"slices"
	"strconv"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/cri-streaming/pkg/streaming/remotecommand"
	"k8s.io/streaming/pkg/httpstream/wsstream"
)

// closes reports whether the client wants v5.channel.k8s.io, in which it can close stdin. Clients ask for it
// first; the streaming library of kubelets prefers the older ones.
func closes(req *http.Request) bool { return wsstream.IsWebSocketRequestWithStreamCloseProtocol(req) }

// openWebSocket plays a session over v5.channel.k8s.io: each message begins with the
// number of its stream, and one of 255 and a number ends a stream.
func (s *Server) openWebSocket(w http.ResponseWriter, req *http.Request, o *remotecommand.Options, se session) {
	channel := func(on bool, t wsstream.ChannelType) wsstream.ChannelType {
		if on {
			return t
		}
		return wsstream.IgnoreChannel
	}
	conn := wsstream.NewConn(map[string]wsstream.ChannelProtocolConfig{remotecommand.StreamProtocolV5Name: {
		Binary: true,
		Channels: []wsstream.ChannelType{
			remotecommand.StreamStdIn:  channel(o.Stdin, wsstream.ReadChannel),
			remotecommand.StreamStdOut: channel(o.Stdout, wsstream.WriteChannel),
			remotecommand.StreamStdErr: channel(o.Stderr, wsstream.WriteChannel),
			remotecommand.StreamErr:    wsstream.WriteChannel,
			remotecommand.StreamResize: wsstream.ReadChannel,
		},
	}})
	conn.SetIdleTimeout(idle)
	_, streams, err := conn.Open(w, req)
	if err != nil {
		return // the client has got an error
	}
	defer conn.Close()
	first := slices.Index([]bool{false, o.Stdout, o.Stderr, true}, true)
	streams[first].Write(nil) // signals that the connection is ready
	go drain(streams[remotecommand.StreamResize])

	t := terminal{tty: o.TTY}
	if o.Stdin {
		t.in = streams[remotecommand.StreamStdIn]
	}
	if o.Stdout {
		t.out = streams[remotecommand.StreamStdOut]
	}
	if o.Stderr {
		t.err = streams[remotecommand.StreamStdErr]
	}
	code, err := se.run(req.Context(), t)
	if text, err := json.Marshal(outcome(code, err)); err == nil {
		streams[remotecommand.StreamErr].Write(text)
	}
}

// outcome is the message about the end of a command.
func outcome(code int, err error) metav1.Status {
	switch {
	case err != nil:
		return metav1.Status{
			Status: metav1.StatusFailure, Reason: metav1.StatusReasonInternalError, Code: http.StatusInternalServerError,
			Message: "Internal error occurred: " + err.Error(),
		}
	case code != 0:
		n := strconv.Itoa(code)
		return metav1.Status{
			Status: metav1.StatusFailure, Reason: remotecommand.NonZeroExitCodeReason,
			Message: strings.Join([]string{"command terminated with non-zero exit code: command terminated with exit code", n}, " "),
			Details: &metav1.StatusDetails{Causes: []metav1.StatusCause{{Type: remotecommand.ExitCodeCauseType, Message: n}}},
		}
	}
	return metav1.Status{Status: metav1.StatusSuccess}
}
