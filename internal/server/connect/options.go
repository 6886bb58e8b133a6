package connect

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime"

	"fairlead.dev/internal/server/auth"
	"fairlead.dev/internal/server/reach"
	"fairlead.dev/internal/server/request"
	"fairlead.dev/internal/server/respond"
)

// Request is a request to a subresource that leads to a node, a pod or a service.
type Request struct {
	HTTP    *http.Request
	Context context.Context
	Writer  *respond.Writer
	Query   url.Values
	Info    *request.Info
	Objects auth.Lookup
	Network *reach.Network
	// MaxBytesPerSec limits each direction of an upgraded connection; 0 does not.
	MaxBytesPerSec int64
	// Authorize asks whether the user may do the verb to the object in the path.
	Authorize func(verb string) error
	// Admit asks admission about the connection's options and returns them as mutating plugins
	// have left them.
	Admit func(options runtime.Object) (runtime.Object, error)
}

// Handler answers a request or returns why it cannot.
type Handler func(*Request) error

// admitConnect asks admission about the options of a connection.
func admitConnect[T runtime.Object](c *Request, options T) (T, error) {
	if len(c.Query["dryRun"]) > 0 {
		return options, apierrors.NewBadRequest("dryRun is not supported")
	}
	obj, err := c.Admit(options)
	if err != nil {
		return options, err
	}
	admitted, ok := obj.(T)
	if !ok {
		return options, fmt.Errorf("admission made a %T of a %T", obj, options)
	}
	return admitted, nil
}

// The options of streams are read from the query, and say it to the kubelet in its words.

func execOptions(q url.Values) (*corev1.PodExecOptions, error) {
	return &corev1.PodExecOptions{
		Stdin: request.IsTrue(q["stdin"]), Stdout: request.IsTrue(q["stdout"]), Stderr: request.IsTrue(q["stderr"]), TTY: request.IsTrue(q["tty"]),
		Container: q.Get("container"), Command: q["command"],
	}, nil
}

func attachOptions(q url.Values) (*corev1.PodAttachOptions, error) {
	return &corev1.PodAttachOptions{
		Stdin: request.IsTrue(q["stdin"]), Stdout: request.IsTrue(q["stdout"]), Stderr: request.IsTrue(q["stderr"]), TTY: request.IsTrue(q["tty"]),
		Container: q.Get("container"),
	}, nil
}

func forwardOptions(q url.Values) (*corev1.PodPortForwardOptions, error) {
	o := &corev1.PodPortForwardOptions{}
	for _, list := range q["ports"] {
		for text := range strings.SplitSeq(list, ",") {
			port, err := strconv.ParseUint(text, 10, 16)
			if err != nil {
				return nil, apierrors.NewBadRequest(fmt.Sprintf("cannot convert to []int32: %v", err))
			}
			o.Ports = append(o.Ports, int32(port))
		}
	}
	return o, nil
}

// forKubelet translates the options of a stream for a kubelet: the container, if the stream is
// one of a container, and the query.
func forKubelet(options runtime.Object) (container string, q url.Values, inContainer bool) {
	q = url.Values{}
	flags := func(in, out, err, tty bool) {
		for name, set := range map[string]bool{"input": in, "output": out, "error": err, "tty": tty} {
			if set {
				q.Set(name, "1")
			}
		}
	}
	switch o := options.(type) {
	case *corev1.PodExecOptions:
		flags(o.Stdin, o.Stdout, o.Stderr, o.TTY)
		if len(o.Command) > 0 {
			q["command"] = o.Command
		}
		return o.Container, q, true
	case *corev1.PodAttachOptions:
		flags(o.Stdin, o.Stdout, o.Stderr, o.TTY)
		return o.Container, q, true
	case *corev1.PodPortForwardOptions:
		var ports []string
		for _, p := range o.Ports {
			ports = append(ports, strconv.Itoa(int(p)))
		}
		if ports != nil {
			q.Set("port", strings.Join(ports, ","))
		}
	}
	return "", q, false
}

// proxyPath returns the path behind "proxy", as the options of a proxy have it.
func (c *Request) proxyPath() string {
	path := strings.Join(c.Info.Parts[3:], "/")
	if path != "" {
		path = "/" + path
	}
	if strings.HasSuffix(c.Info.Path, "/") && !strings.HasSuffix(path, "/") {
		path += "/"
	}
	return path
}
