package aggregate

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"sync"
	"time"

	"fairlead.dev/internal/server/auth"
	"fairlead.dev/internal/server/openapi"
)

const (
	// reread is how long a remote's OpenAPI documents count.
	reread = time.Minute
	// readTimeout bounds the read of one document, which may be large and be built on request.
	readTimeout = time.Minute
	// maxDocument bounds a document in bytes.
	maxDocument = 64 << 20
)

// reader is the user of requests for OpenAPI documents.
var reader = auth.User{Name: "system:aggregator"}

// readDocuments reads a remote's OpenAPI documents once it has responded to a check: again after a minute or, if the read
// failed, after the next check.
func (s *Services) readDocuments(ctx context.Context, r *remote) {
	once := sync.OnceFunc(func() { close(r.read) })
	defer once()
	for {
		select {
		case <-ctx.Done():
			return
		case <-r.seen:
		}
		documents, err := s.documents(ctx, r)
		s.setDocuments(r, documents)
		once()
		if err != nil {
			s.o.Log.Debug("OpenAPI documents of an API service cannot be read", "name", r.name, "error", err)
			continue
		}
		t := time.NewTimer(reread)
		select {
		case <-ctx.Done():
		case <-t.C:
		}
		t.Stop()
	}
}

// awaitDocuments triggers a read of the remote's OpenAPI documents and waits for the first one, for checkTimeout at most, so
// that a client that sees the remote available finds it described.
func (s *Services) awaitDocuments(ctx context.Context, r *remote) {
	select {
	case r.seen <- struct{}{}:
	default:
	}
	t := time.NewTimer(checkTimeout)
	defer t.Stop()
	select {
	case <-r.read:
	case <-ctx.Done():
	case <-t.C:
	}
}

// documents reads the remote's documents. Documents that cannot be read keep their last state.
func (s *Services) documents(ctx context.Context, r *remote) (openapi.Remote, error) {
	documents := r.documents // written by this goroutine alone
	documents.GroupVersion = r.gv()
	v3, err3 := s.index(ctx, r)
	if err3 == nil {
		documents.V3 = v3
	}
	err2 := s.readV2(ctx, r, &documents)
	return documents, errors.Join(err3, err2)
}

// index returns the remote's index of v3 documents, nil if it does not support v3.
func (s *Services) index(ctx context.Context, r *remote) (map[string]string, error) {
	code, text, _, err := s.text(ctx, r, "/openapi/v3", nil)
	if err != nil || code == http.StatusNotFound {
		return nil, err
	}
	var list struct {
		Paths map[string]struct {
			URL string `json:"serverRelativeURL"`
		} `json:"paths"`
	}
	if err := json.Unmarshal(text, &list); err != nil {
		return nil, err
	}
	urls := map[string]string{}
	for path, at := range list.Paths {
		urls[path] = at.URL
	}
	return urls, nil
}

// readV2 reads the remote's v2 document if it has changed.
func (s *Services) readV2(ctx context.Context, r *remote, documents *openapi.Remote) error {
	header := http.Header{"Accept": {"application/json"}}
	if r.readTag != "" {
		header.Set("If-None-Match", r.readTag)
	}
	code, text, tag, err := s.text(ctx, r, "/openapi/v2", header)
	if err != nil || code != http.StatusOK {
		return err
	}
	v2, hash, err := openapi.Pack(text)
	if err != nil {
		return err
	}
	if hash != documents.V2Hash {
		documents.V2, documents.V2Hash = v2, hash
	}
	r.readTag = tag
	return nil
}

// text reads one document. A missing document and an unchanged one, by the tag in header, are not errors.
func (s *Services) text(ctx context.Context, r *remote, path string, header http.Header) (code int, text []byte, tag string, err error) {
	ctx, cancel := context.WithTimeout(ctx, readTimeout)
	defer cancel()
	resp, err := s.send(ctx, r, &reader, path, header)
	if err != nil {
		return 0, nil, "", err
	}
	defer resp.Body.Close()
	switch resp.StatusCode {
	case http.StatusOK, http.StatusNotFound, http.StatusNotModified:
	default:
		return 0, nil, "", fmt.Errorf("bad status from %v: %d", resp.Request.URL, resp.StatusCode)
	}
	text, err = io.ReadAll(io.LimitReader(resp.Body, maxDocument))
	return resp.StatusCode, text, resp.Header.Get("ETag"), err
}
