package semantics_test

import (
	"bufio"
	"context"
	"crypto/tls"
	"encoding/binary"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	"golang.org/x/net/websocket"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// patience is the time limit for an event.
const patience = time.Minute

// watching is an open watch.
type watching struct {
	name, path, contentType string
	brief                   bool
	events                  chan tree // closed at the end
	close                   func()
}

// open opens a watch. The response is printed only if it is not a stream.
func (r *run) open(b *block, name, method, path string, client *http.Client) string {
	ctx, cancel := context.WithCancel(context.Background())
	headers, _ := r.parts(b)
	resp, err := client.Do(r.build(ctx, method, path, headers, ""))
	if err != nil {
		r.t.Fatal(err)
	}
	out := r.head(b, resp)
	w := &watching{name: name, path: path, contentType: resp.Header.Get("Content-Type"), events: make(chan tree, 100), close: cancel}
	_, w.brief = b.options["brief"]
	if resp.StatusCode != http.StatusOK {
		defer cancel()
		defer resp.Body.Close()
		data, _ := io.ReadAll(resp.Body)
		return out + r.print(b, path, w.contentType, data)
	}
	r.watches[name] = w
	body := bufio.NewReader(resp.Body)
	go func() {
		defer close(w.events)
		defer resp.Body.Close()
		for {
			var frame []byte
			var err error
			if w.proto() {
				var size [4]byte
				if _, err = io.ReadFull(body, size[:]); err == nil {
					frame = make([]byte, binary.BigEndian.Uint32(size[:]))
					_, err = io.ReadFull(body, frame)
				}
			} else {
				frame, err = body.ReadBytes('\n')
			}
			if err != nil || !w.push(r, frame) {
				return
			}
		}
	}()
	return out
}

func (w *watching) proto() bool {
	return strings.HasPrefix(w.contentType, "application/vnd.kubernetes.protobuf")
}

// push decodes a frame.
func (w *watching) push(r *run, frame []byte) bool {
	if !w.proto() {
		v, ok := r.decode("", frame)
		if ok {
			w.events <- v
		}
		return ok
	}
	var e metav1.WatchEvent
	if err := e.Unmarshal(frame); err != nil {
		r.t.Errorf("frame: %v", err)
		return false
	}
	object, ok := r.decodeProto(e.Object.Raw)
	if ok {
		w.events <- tree{"type": e.Type, "object": object}
	}
	return ok
}

// openSocket opens a watch through a WebSocket.
func (r *run) openSocket(b *block, name, path string) string {
	cfg, err := websocket.NewConfig(strings.Replace(r.g.base, "https", "wss", 1)+path, r.g.base)
	if err != nil {
		r.t.Fatal(err)
	}
	cfg.TlsConfig = &tls.Config{InsecureSkipVerify: true, NextProtos: []string{"http/1.1"}}
	headers, _ := r.parts(b)
	for _, h := range headers {
		k, v, _ := strings.Cut(h, ": ")
		cfg.Header.Set(k, v)
		if k == "Sec-WebSocket-Protocol" {
			cfg.Protocol = strings.Split(v, ", ")
		}
	}
	if r.g.token != "" {
		cfg.Header.Set("Authorization", "Bearer "+r.g.token)
	}
	conn, err := websocket.DialConfig(cfg)
	if err != nil {
		return fmt.Sprintln("refused:", strings.TrimPrefix(err.Error(), "websocket.Dial "+cfg.Location.String()+": "))
	}
	w := &watching{name: name, path: path, events: make(chan tree, 100), close: func() { conn.Close() }}
	_, w.brief = b.options["brief"]
	r.watches[name] = w
	go func() {
		defer close(w.events)
		for {
			var frame []byte
			if websocket.Message.Receive(conn, &frame) != nil {
				return
			}
			if !w.push(r, frame) {
				return
			}
		}
	}()
	return "open\n"
}

// read prints the next n events, or with -1 all until the end.
func (w *watching) read(r *run, n int) (out string) {
	late := time.After(patience)
	for i := 0; i != n; i++ {
		select {
		case v, ok := <-w.events:
			if !ok {
				return out + "end\n"
			}
			out += w.show(r, v)
		case <-late:
			return out + "nothing more\n"
		}
	}
	return out
}

func (w *watching) show(r *run, v tree) string {
	kind, _ := v["type"].(string)
	object, _ := v["object"].(tree)
	switch {
	case kind == "BOOKMARK" && object["kind"] != "Table":
		m := object["metadata"].(tree)
		rev, _ := m["resourceVersion"].(string)
		delete(m, "resourceVersion")
		return kind + " " + r.names.list(rev, false) + " " + r.text(object) + "\n"
	case kind == "ERROR":
		return kind + " " + r.text(object) + "\n"
	}
	return kind + " " + r.show(object, w.brief, false)
}
