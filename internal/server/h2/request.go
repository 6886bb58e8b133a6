package h2

import (
	"errors"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"golang.org/x/net/http/httpguts"
	"golang.org/x/net/http2"
)

// read builds the request from its headers. It returns an error if they are malformed.
func (x *exchange) read(f *http2.MetaHeadersFrame) error {
	c := x.st.c
	var method, scheme, authority, path string
	for _, hf := range f.PseudoFields() {
		switch hf.Name {
		case ":method":
			method = hf.Value
		case ":scheme":
			scheme = hf.Value
		case ":authority":
			authority = hf.Value
		case ":path":
			path = hf.Value
		default: // extended CONNECT was not offered
			return errMalformed
		}
	}
	fields := f.RegularFields()
	header := make(http.Header, len(fields))
	values := make([]string, len(fields))
	for i, hf := range fields {
		key := http.CanonicalHeaderKey(hf.Name)
		if old := header[key]; old != nil {
			header[key] = append(old, hf.Value)
			continue
		}
		values[i] = hf.Value
		header[key] = values[i : i+1 : i+1]
	}
	req := &http.Request{
		Method: method, Header: header, RequestURI: path, RemoteAddr: c.remote,
		Proto: "HTTP/2.0", ProtoMajor: 2, Body: http.NoBody,
	}
	if scheme == "https" {
		req.TLS = c.tls
	}
	var err error
	if req.Host, err = host(authority, header); err != nil {
		return err
	}
	switch {
	case method == http.MethodConnect:
		if scheme != "" || path != "" || authority == "" {
			return errMalformed
		}
		req.URL, req.RequestURI = &url.URL{Host: authority}, authority
	case method == "" || scheme != "https" && scheme != "http":
		return errMalformed
	case path == "*" && method == http.MethodOptions:
		req.URL = &url.URL{Path: "*"}
	case path == "" || path[0] != '/':
		return errMalformed
	default:
		if req.URL, err = url.ParseRequestURI(path); err != nil {
			return err
		}
	}
	if cookies := header["Cookie"]; len(cookies) > 1 {
		header["Cookie"] = []string{strings.Join(cookies, "; ")}
	}
	req.Trailer = declaredTrailers(header)
	x.handleExpect(req)

	x.handler = c.handler
	switch {
	case f.Truncated:
		x.handler = http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			http.Error(w, "Request Header Field(s) Too Large", http.StatusRequestHeaderFieldsTooLarge)
		})
	default:
		if err := connectionSpecific(header); err != nil {
			x.handler = http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				http.Error(w, err.Error(), http.StatusBadRequest)
			})
		}
	}
	x.ctx.base = c.base
	x.req = req.WithContext(&x.ctx)
	x.w.x = x
	return nil
}

// handleExpect prepares for a body, if the request has one.
func (x *exchange) handleExpect(req *http.Request) {
	waits := httpguts.HeaderValuesContainsToken(req.Header["Expect"], "100-continue")
	if waits {
		delete(req.Header, "Expect")
	}
	if x.st.remoteEnded {
		return
	}
	req.ContentLength = -1
	if v, ok := req.Header["Content-Length"]; ok {
		n, err := strconv.ParseUint(v[0], 10, 63)
		if err != nil {
			n = 0
		}
		req.ContentLength = int64(n)
	}
	x.body = newBody(x, req.ContentLength)
	x.body.expects = waits
	req.Body = x.body
}

// host returns the host that the request is for. A Host header may replace :authority, or repeat it.
func host(authority string, header http.Header) (string, error) {
	if hosts, ok := header["Host"]; ok {
		if len(hosts) > 1 || authority != "" && hosts[0] != authority {
			return "", errMalformed
		}
		authority = hosts[0]
		delete(header, "Host")
	}
	if strings.Contains(authority, "@") || authority != "" && !httpguts.ValidHostHeader(authority) {
		return "", errMalformed
	}
	return authority, nil
}

// declaredTrailers moves the announced trailer names out of the header.
func declaredTrailers(header http.Header) (trailer http.Header) {
	for _, v := range header["Trailer"] {
		for key := range strings.SplitSeq(v, ",") {
			key = http.CanonicalHeaderKey(strings.TrimSpace(key))
			switch key {
			case "", "Transfer-Encoding", "Trailer", "Content-Length":
			default:
				if trailer == nil {
					trailer = http.Header{}
				}
				trailer[key] = nil
			}
		}
	}
	delete(header, "Trailer")
	return trailer
}

// connectionSpecific returns an error if a header belongs to HTTP/1.
func connectionSpecific(header http.Header) error {
	for _, k := range []string{"Connection", "Keep-Alive", "Proxy-Connection", "Transfer-Encoding", "Upgrade"} {
		if _, ok := header[k]; ok {
			return errors.New(`request header "` + k + `" is not valid in HTTP/2`)
		}
	}
	if te := header["Te"]; len(te) > 1 || len(te) == 1 && te[0] != "trailers" && te[0] != "" {
		return errors.New(`request header "TE" may only be "trailers" in HTTP/2`)
	}
	return nil
}
