package main

import (
	"errors"
	"fmt"
	"io/fs"
	"net"
	"net/url"
	"os"
	"strings"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

// message words an error for a person. An error of the network, which Go's libraries wrap
// several times, becomes one sentence that names the server; one of a file begins with its path.
func message(err error) string {
	var request *url.Error
	if errors.As(err, &request) {
		if at, parseErr := url.Parse(request.URL); parseErr == nil && at.Host != "" {
			return fmt.Sprintf("%s://%s does not answer: %s", at.Scheme, at.Host, networkCause(request.Err))
		}
	}
	text := err.Error()
	var file *fs.PathError
	if errors.As(err, &file) { // without the system call
		text = strings.Replace(text, file.Error(), file.Path+": "+file.Err.Error(), 1)
	}
	return text
}

// networkCause returns the text of a network error without the addresses and system calls around it.
func networkCause(err error) string {
	var call *os.SyscallError
	if errors.As(err, &call) {
		return call.Err.Error()
	}
	var op *net.OpError
	if errors.As(err, &op) {
		return op.Err.Error()
	}
	if st, ok := status.FromError(err); ok && st.Code() != codes.Unknown {
		return st.Message()
	}
	return err.Error()
}
