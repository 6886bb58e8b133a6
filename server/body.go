package server

import (
	"errors"
	"fmt"
	"io"
	"net/http"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
)

const (
	// maxBody is the size in bytes up to which request bodies are read.
	maxBody = 3 << 20
	// firstBody is the memory in bytes that a body begins with, however long the client
	// says that it is. It doubles when so much has come.
	firstBody = 8 << 10
)

// body is the whole body of the request. It may be asked for again.
func (c *call) body() (_ []byte, err error) {
	if !c.sent.read {
		if c.sent.body, err = c.readBody(); err != nil {
			return nil, err
		}
		c.sent.read = true
	}
	return c.sent.body, nil
}

// readBody reads the body in memory that the request holds until it has been answered.
func (c *call) readBody() ([]byte, error) {
	req := c.req
	if req.Body == nil || req.Body == http.NoBody {
		return nil, nil
	}
	if req.ContentLength > maxBody {
		return nil, bodyTooLarge()
	}
	most := int64(maxBody + 1)
	if req.ContentLength >= 0 {
		most = req.ContentLength + 1 // for the read that finds the end
	}
	size := min(most, firstBody)
	if err := c.place.hold(size); err != nil {
		return nil, err
	}
	buf := make([]byte, 0, size)
	for {
		n, err := req.Body.Read(buf[len(buf):cap(buf)])
		buf = buf[:len(buf)+n]
		switch {
		case len(buf) > maxBody:
			return nil, bodyTooLarge()
		case errors.Is(err, io.EOF):
			return buf, nil
		case err != nil:
			return nil, apierrors.NewBadRequest(err.Error())
		}
		if int64(len(buf)) < size {
			continue
		}
		if size == most {
			return nil, apierrors.NewBadRequest("the body is longer than its Content-Length")
		}
		more := min(size, most-size)
		if err := c.place.hold(more); err != nil {
			return nil, err
		}
		size += more
		buf = append(make([]byte, 0, size), buf...)
	}
}

func bodyTooLarge() error {
	return apierrors.NewRequestEntityTooLargeError(fmt.Sprintf("limit is %d", maxBody))
}
