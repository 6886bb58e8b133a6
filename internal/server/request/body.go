package request

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
	// firstBody is the size in bytes of the first buffer of a body, whatever length the client
	// announces. The buffer doubles as bytes arrive.
	firstBody = 8 << 10
)

// Memory is where a body's bytes are accounted for as they come.
type Memory interface {
	// Hold takes n bytes more, or fails if there are too many.
	Hold(n int64) error
}

// Body is the body of a request, which is read once.
type Body struct {
	done bool
	data []byte
}

// Read returns the whole body. It may be called again.
func (b *Body) Read(req *http.Request, m Memory) (_ []byte, err error) {
	if !b.done {
		if b.data, err = readBody(req, m); err != nil {
			return nil, err
		}
		b.done = true
	}
	return b.data, nil
}

// readBody reads the body into memory that the request holds until it has been answered.
func readBody(req *http.Request, m Memory) ([]byte, error) {
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
	if err := m.Hold(size); err != nil {
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
		if err := m.Hold(more); err != nil {
			return nil, err
		}
		size += more
		buf = append(make([]byte, 0, size), buf...)
	}
}

func bodyTooLarge() error {
	return apierrors.NewRequestEntityTooLargeError(fmt.Sprintf("limit is %d", maxBody))
}
