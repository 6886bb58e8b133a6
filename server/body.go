package server

import (
	"bytes"
	"fmt"
	"io"
	"net/http"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
)

// maxBody is the size in bytes up to which request bodies are read.
const maxBody = 3 << 20

// body is the whole body of the request. It may be asked for again.
func (c *call) body() (_ []byte, err error) {
	if !c.sent.read {
		if c.sent.body, err = readBody(c.req); err != nil {
			return nil, err
		}
		c.sent.read = true
	}
	return c.sent.body, nil
}

// readBody reads the whole body of a request.
func readBody(req *http.Request) ([]byte, error) {
	if req.Body == nil || req.Body == http.NoBody {
		return nil, nil
	}
	if req.ContentLength > maxBody {
		return nil, bodyTooLarge()
	}
	var buf bytes.Buffer
	if req.ContentLength > 0 {
		buf.Grow(int(req.ContentLength) + bytes.MinRead)
	}
	n, err := buf.ReadFrom(io.LimitReader(req.Body, maxBody+1))
	if err != nil {
		return nil, apierrors.NewBadRequest(err.Error())
	}
	if n > maxBody {
		return nil, bodyTooLarge()
	}
	return buf.Bytes(), nil
}

func bodyTooLarge() error {
	return apierrors.NewRequestEntityTooLargeError(fmt.Sprintf("limit is %d", maxBody))
}
