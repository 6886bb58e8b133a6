//go:build !purego

// With the tag purego, net/http serves HTTP/2, and these tests are about this package's connections.

//lint:file-ignore SA1019 another client than net/http's own is wanted: the streams of one connection without a limit

package h2_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/net/http2"
)

// get queries a server under test, and the same server served by net/http.
func get(t *testing.T, s *httptest.Server, method string, body io.Reader) (*http.Response, string, error) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, s.URL+"/", body)
	if err != nil {
		t.Fatal(err)
	}
	resp, err := s.Client().Do(req)
	if err != nil {
		return nil, "", err
	}
	defer resp.Body.Close()
	data, err := io.ReadAll(resp.Body)
	return resp, string(data), err
}

// TestLikeNetHTTP serves each handler by net/http and by this package; clients must see the same.
func TestLikeNetHTTP(t *testing.T) {
	for _, q := range []struct {
		name, method string
		h            http.HandlerFunc
	}{
		{"nothing", "GET", func(http.ResponseWriter, *http.Request) {}},
		{"a word", "GET", func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, "word") }},
		{"html", "GET", func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, "<html>") }},
		{"long", "GET", func(w http.ResponseWriter, _ *http.Request) { w.Write(bytes.Repeat([]byte("0123456789"), 50_000)) }},
		{"in pieces", "GET", func(w http.ResponseWriter, _ *http.Request) {
			for i := range 5000 {
				fmt.Fprintln(w, i)
			}
		}},
		{"flushed", "GET", func(w http.ResponseWriter, _ *http.Request) {
			io.WriteString(w, "a")
			w.(http.Flusher).Flush()
			w.Header().Set("Late", "too")
			io.WriteString(w, "b")
		}},
		{"with its length", "GET", func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Length", "3")
			io.WriteString(w, "abc")
		}},
		{"head", "HEAD", func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, "abc") }},
		{"head with length", "HEAD", func(w http.ResponseWriter, _ *http.Request) { w.Header().Set("Content-Length", "7") }},
		{"no content", "GET", func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(204)
			_, err := io.WriteString(w, "abc")
			if !errors.Is(err, http.ErrBodyNotAllowed) {
				panic(err)
			}
		}},
		{"not modified", "GET", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(304) }},
		{"twice", "GET", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(404); w.WriteHeader(500) }},
		{"odd headers", "GET", func(w http.ResponseWriter, _ *http.Request) {
			h := w.Header()
			h["Date"] = nil
			h.Set("Connection", "keep-alive")
			h.Set("Transfer-Encoding", "chunked")
			h["a b"] = []string{"x"}
			h["Line"] = []string{"x\ny", "z"}
			h["lower"] = []string{"1", "2"}
		}},
		{"encoded", "GET", func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Encoding", "x")
			io.WriteString(w, "<html>")
		}},
		{"trailers", "GET", func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Trailer", "One, Two, Content-Length")
			io.WriteString(w, "abc")
			w.Header().Set("One", "1")
			w.Header().Set(http.TrailerPrefix+"Three", "3")
		}},
		{"early hints", "GET", func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Link", "x")
			w.WriteHeader(103)
			io.WriteString(w, "abc")
		}},
		{"abort", "GET", func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }},
		{"panic", "GET", func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, "lost"); panic("on purpose") }},
		{"abort in the middle", "GET", func(w http.ResponseWriter, _ *http.Request) {
			io.WriteString(w, "abc")
			w.(http.Flusher).Flush()
			panic(http.ErrAbortHandler)
		}},
		{"the request", "POST", func(w http.ResponseWriter, req *http.Request) {
			body, err := io.ReadAll(req.Body)
			fmt.Fprintln(w, req.Method, req.URL, req.RequestURI, req.Proto, req.ProtoMajor, req.Header, req.ContentLength, req.Trailer, len(body), err, req.TLS != nil)
			fmt.Fprintln(w, req.Context().Value(http.ServerContextKey) != nil, req.Context().Value(http.LocalAddrContextKey) != nil)
			http.NewResponseController(w).EnableFullDuplex()
		}},
		{"no body", "GET", func(w http.ResponseWriter, req *http.Request) {
			body, err := io.ReadAll(req.Body)
			fmt.Fprintln(w, req.ContentLength, len(body), err)
		}},
		{"write deadline", "GET", func(w http.ResponseWriter, req *http.Request) {
			http.NewResponseController(w).SetWriteDeadline(time.Now().Add(-time.Second))
			if _, err := w.Write(make([]byte, 100_000)); !errors.Is(err, os.ErrDeadlineExceeded) {
				panic(err)
			}
		}},
	} {
		t.Run(q.name, func(t *testing.T) {
			theirs := httptest.NewUnstartedServer(q.h)
			theirs.EnableHTTP2 = true
			theirs.Config.ErrorLog = quiet
			theirs.StartTLS()
			defer theirs.Close()
			ask := func(s *httptest.Server) string {
				var body io.Reader
				if q.method == "POST" {
					body = io.MultiReader(strings.NewReader(strings.Repeat("x", 3000)))
				}
				resp, text, err := get(t, s, q.method, body)
				if resp == nil {
					return fmt.Sprint("no answer: ", strings.ReplaceAll(err.Error(), s.URL, ""))
				}
				if resp.Header.Get("Date") != "" {
					resp.Header.Set("Date", "a date")
				}
				return fmt.Sprint(resp.Status, " ", resp.Proto, " ", resp.Header, " ", resp.ContentLength, " ", resp.Trailer, " ", len(text), " ", sha256.Sum256([]byte(text)), " ", text[:min(len(text), 500)], " ", err)
			}
			want, got := ask(theirs), ask(serve(t, q.h))
			if got != want {
				t.Errorf("got  %s\nwant %s", got, want)
			}
		})
	}
}

// TestContentLength checks that a handler cannot write more than it has declared, and that writing less fails the
// response.
func TestContentLength(t *testing.T) {
	s := serve(t, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Length", "3")
		if _, err := io.WriteString(w, "abcd"); !errors.Is(err, http.ErrContentLength) {
			t.Error(err)
		}
	}))
	if _, _, err := get(t, s, "GET", nil); err == nil {
		t.Error("the answer was whole")
	}
}

// TestUploads echoes bodies larger than every window, in parallel.
func TestUploads(t *testing.T) {
	s := serve(t, http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		w.WriteHeader(200)
		io.Copy(w, req.Body)
	}))
	data := bytes.Repeat([]byte("0123456789abcdef"), 1<<16)
	var wg sync.WaitGroup
	for i := range 20 {
		wg.Go(func() {
			resp, err := s.Client().Post(s.URL, "text/plain", io.MultiReader(bytes.NewReader(data[i:])))
			if err != nil {
				t.Error(err)
				return
			}
			defer resp.Body.Close()
			back, err := io.ReadAll(resp.Body)
			if err != nil || !bytes.Equal(back, data[i:]) {
				t.Error(len(back), err)
			}
		})
	}
	wg.Wait()
}

// TestBodyNotRead checks that a handler may return while the client still sends: the client is told, and other
// bodies get the credit.
func TestBodyNotRead(t *testing.T) {
	s := serve(t, http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) { w.WriteHeader(413) }))
	for range 50 {
		resp, err := s.Client().Post(s.URL, "text/plain", io.MultiReader(bytes.NewReader(make([]byte, 1<<20))))
		if err != nil {
			t.Fatal(err)
		}
		resp.Body.Close()
		if resp.StatusCode != 413 || resp.ProtoMajor != 2 {
			t.Fatal(resp.Status, resp.Proto)
		}
	}
}

func TestRequestTrailers(t *testing.T) {
	s := serve(t, http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		_, before := req.Trailer["Sum"]
		io.Copy(io.Discard, req.Body)
		fmt.Fprint(w, before, req.Trailer)
	}))
	req, _ := http.NewRequest("POST", s.URL, io.MultiReader(strings.NewReader("body")))
	req.Trailer = http.Header{"Sum": {"42"}}
	resp, err := s.Client().Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	if data, _ := io.ReadAll(resp.Body); string(data) != "true map[Sum:[42]]" {
		t.Errorf("%s", data)
	}
}

func TestExpectContinue(t *testing.T) {
	s := serve(t, echo)
	tr := s.Client().Transport.(*http.Transport)
	tr.ExpectContinueTimeout = time.Hour
	req, _ := http.NewRequest("POST", s.URL, strings.NewReader("held back"))
	req.Header.Set("Expect", "100-continue")
	resp, err := s.Client().Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	if data, _ := io.ReadAll(resp.Body); string(data) != "held back" {
		t.Errorf("%s", data)
	}
}

// key is a context key.
type key struct{}

// TestClientDisconnects checks that the handler's context and its children end.
func TestClientDisconnects(t *testing.T) {
	begun, done := make(chan struct{}), make(chan error, 1)
	s := serve(t, http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		ctx, cancel := context.WithTimeout(context.WithValue(req.Context(), key{}, "v"), time.Hour)
		defer cancel()
		close(begun)
		<-ctx.Done()
		done <- ctx.Err()
	}))
	ctx, cancel := context.WithCancel(t.Context())
	req, _ := http.NewRequestWithContext(ctx, "GET", s.URL, nil)
	go func() {
		<-begun
		cancel()
	}()
	s.Client().Do(req)
	if err := <-done; !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

// TestManyStreams runs thousands of requests at once on one connection.
func TestManyStreams(t *testing.T) {
	const n = 3000
	all := make(chan struct{})
	var here sync.WaitGroup
	here.Add(n)
	s := serve(t, http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		here.Done()
		<-all
		io.WriteString(w, req.URL.Path)
	}), func(hs *http.Server) { hs.HTTP2 = &http.HTTP2Config{MaxConcurrentStreams: n} })
	tr := &http2.Transport{TLSClientConfig: clientTLS(s), StrictMaxConcurrentStreams: true}
	defer tr.CloseIdleConnections()
	var wg sync.WaitGroup
	for i := range n {
		wg.Go(func() {
			req, _ := http.NewRequest("GET", fmt.Sprint(s.URL, "/", i), nil)
			resp, err := tr.RoundTrip(req)
			if err != nil {
				t.Error(err)
				return
			}
			defer resp.Body.Close()
			if data, _ := io.ReadAll(resp.Body); string(data) != fmt.Sprint("/", i) {
				t.Errorf("%d: %s", i, data)
			}
		})
	}
	here.Wait()
	close(all)
	wg.Wait()
}

// TestShutdown checks that started requests finish and that no new ones are accepted.
func TestShutdown(t *testing.T) {
	begun, goOn := make(chan struct{}), make(chan struct{})
	s := serve(t, http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		close(begun)
		<-goOn
		io.WriteString(w, "done")
	}))
	answer := make(chan string, 1)
	go func() {
		_, text, err := get(t, s, "GET", nil)
		answer <- fmt.Sprint(text, err)
	}()
	<-begun
	down := make(chan error, 1)
	go func() { down <- s.Config.Shutdown(t.Context()) }()
	close(goOn)
	if got := <-answer; got != "done<nil>" {
		t.Error(got)
	}
	if err := <-down; err != nil {
		t.Error(err)
	}
}
