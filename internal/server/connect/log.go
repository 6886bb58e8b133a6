package connect

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/streaming/pkg/httpstream/wsstream"

	"fairlead.dev/internal/server/request"
)

// podLog answers with a container's log, which the kubelet has.
func podLog(c *Request) error {
	query, err := logQuery(c.Query)
	if err != nil {
		return apierrors.NewBadRequest(err.Error())
	}
	if errs := validateLog(query); len(errs) > 0 {
		return apierrors.NewInvalid(corev1.SchemeGroupVersion.WithKind("PodLogOptions").GroupKind(), c.Info.Name, errs)
	}
	pod, err := c.pod(c.Info.Name)
	if err != nil {
		return err
	}
	container, err := containerOf(pod, c.Query.Get("container"))
	if err != nil {
		return err
	}
	if pod.Spec.NodeName == "" { // nowhere yet: an empty log
		c.Writer.WriteHeader(http.StatusNoContent)
		return nil
	}
	to, err := c.kubelet(pod.Spec.NodeName)
	if err != nil {
		return err
	}
	to.Path, to.RawQuery = "/containerLogs/"+pod.Namespace+"/"+pod.Name+"/"+container, query.Encode()
	return c.copyLog(to, query.Has("follow"))
}

// copyLog copies the kubelet's response, with a flush after each read if the log is followed.
func (c *Request) copyLog(from *url.URL, follow bool) error {
	req, err := http.NewRequestWithContext(c.Context, http.MethodGet, from.String(), nil)
	if err != nil {
		return err
	}
	kubelet := http.Client{Transport: c.Network.KubeletTransport(from.Host), CheckRedirect: refuseRedirect}
	res, err := kubelet.Do(req)
	if err != nil {
		return err
	}
	defer res.Body.Close()
	if res.StatusCode < 200 || res.StatusCode > 206 {
		return refusedLog(res, c.Info.Name)
	}
	if wsstream.IsWebSocketRequest(c.HTTP) { // as messages, for browsers
		wsstream.NewReader(res.Body, true, wsstream.NewDefaultReaderProtocols()).Copy(c.Writer, c.HTTP)
		return nil
	}
	c.Writer.Header()["Content-Type"] = []string{"text/plain"}
	c.Writer.WriteHeader(http.StatusOK)
	if !follow {
		io.Copy(c.Writer, res.Body)
		return nil // the response has begun; the client sees that it is cut off
	}
	if err := c.Writer.FlushError(); err != nil {
		return nil
	}
	buf := make([]byte, 8<<10)
	for {
		n, err := res.Body.Read(buf)
		if _, e := c.Writer.Write(buf[:n]); e != nil || c.Writer.FlushError() != nil || err != nil {
			return nil
		}
	}
}

func refuseRedirect(*http.Request, []*http.Request) error { return errors.New("redirects forbidden") }

// refusedLog returns the error for a kubelet's refusal.
func refusedLog(res *http.Response, name string) error {
	body, err := io.ReadAll(io.LimitReader(res.Body, 4096))
	if err != nil {
		return apierrors.NewInternalError(err)
	}
	switch res.StatusCode {
	case http.StatusInternalServerError:
		return apierrors.NewInternalError(fmt.Errorf("%s", body))
	case http.StatusBadRequest:
		return apierrors.NewBadRequest(string(body))
	}
	logs := corev1.Resource("pods/log")
	return apierrors.NewGenericServerResponse(res.StatusCode, "", logs, name, string(body), 0, false)
}

// logQuery returns the options of a log that a kubelet takes.
func logQuery(in url.Values) (out url.Values, err error) {
	out = url.Values{}
	for _, flag := range []string{"follow", "previous", "timestamps"} {
		if request.IsTrue(in[flag]) {
			out.Set(flag, "true")
		}
	}
	for _, number := range []string{"sinceSeconds", "tailLines", "limitBytes"} {
		text := in.Get(number)
		if text == "" {
			continue
		}
		if _, err := strconv.ParseInt(text, 10, 64); err != nil {
			return nil, err
		}
		out.Set(number, text)
	}
	if text := in.Get("sinceTime"); text != "" {
		t, err := time.Parse(time.RFC3339, text)
		if err != nil {
			return nil, err
		}
		out.Set("sinceTime", metav1.NewTime(t).Format(time.RFC3339))
	}
	out.Set("stream", corev1.LogStreamAll)
	if stream := in.Get("stream"); stream != "" {
		out.Set("stream", stream)
	}
	return out, nil
}

// validateLog returns the errors in the options of a log.
func validateLog(q url.Values) (errs field.ErrorList) {
	number := func(name string) (int64, bool) {
		n, err := strconv.ParseInt(q.Get(name), 10, 64)
		return n, err == nil
	}
	if n, ok := number("tailLines"); ok && n < 0 {
		errs = append(errs, field.Invalid(field.NewPath("tailLines"), n, "must be greater than or equal to 0"))
	}
	if n, ok := number("limitBytes"); ok && n < 1 {
		errs = append(errs, field.Invalid(field.NewPath("limitBytes"), n, "must be greater than 0"))
	}
	n, seconds := number("sinceSeconds")
	switch {
	case seconds && q.Has("sinceTime"):
		errs = append(errs, field.Forbidden(field.NewPath(""), "at most one of `sinceTime` or `sinceSeconds` may be specified"))
	case seconds && n < 1:
		errs = append(errs, field.Invalid(field.NewPath("sinceSeconds"), n, "must be greater than 0"))
	}
	switch stream := q.Get("stream"); stream {
	case corev1.LogStreamAll:
	case corev1.LogStreamStdout, corev1.LogStreamStderr:
		if q.Has("tailLines") {
			errs = append(errs, field.Forbidden(field.NewPath(""), "`tailLines` and specific `stream` are mutually exclusive for now"))
		}
	default:
		errs = append(errs, field.NotSupported(field.NewPath("stream"), stream,
			[]string{corev1.LogStreamAll, corev1.LogStreamStderr, corev1.LogStreamStdout}))
	}
	return errs
}
