package server

import (
	"fmt"
	"net/url"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime"

	"fairlead.dev/internal/server/admission"
	"fairlead.dev/internal/server/request"
)

// admitConnect asks admission about a connection, of which the options say what the client wants
// of it, and returns what has become of them: a mutator may want something else.
func admitConnect[T runtime.Object](c *call, options T) (T, error) {
	if len(c.query["dryRun"]) > 0 {
		return options, apierrors.NewBadRequest("dryRun is not supported")
	}
	r := c.admission(admission.Connect, options, nil, nil)
	if err := c.chain().All(c.ctx, r); err != nil {
		return options, err
	}
	r.Done(true)
	admitted, ok := r.Object.(T)
	if !ok {
		return options, fmt.Errorf("admission made a %T of a %T", r.Object, options)
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

// forKubelet says options of streams in a kubelet's words: which container they are about, if
// that is what they are about, and its query.
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

// proxyPath is the path behind "proxy", as the options of a proxy have it.
func (c *call) proxyPath() string {
	path := strings.Join(c.info.Parts[3:], "/")
	if path != "" {
		path = "/" + path
	}
	if strings.HasSuffix(c.info.Path, "/") && !strings.HasSuffix(path, "/") {
		path += "/"
	}
	return path
}
