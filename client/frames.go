package client

import (
	"bytes"
	"encoding/binary"
	stdjson "encoding/json"
	"errors"
	"fmt"
	"io"

	"google.golang.org/protobuf/encoding/protowire"
	"k8s.io/apimachinery/pkg/watch"
)

// frames reads the events of a watch without their objects decoded. raw is valid
// until the next call.
type frames interface {
	next() (typ watch.EventType, raw []byte, err error)
	// more reports whether all of the next event has been read from the connection.
	more() bool
}

var errUnknownError = errors.New("the server sent an error event that is no Status")

const maxFrame = 256 << 20 // more is no event but a broken stream

// protoFrames reads four bytes of length, then a metav1.WatchEvent, and so on.
type protoFrames struct {
	in   inbox
	last int // bytes of in that the frame before took
}

func (f *protoFrames) next() (watch.EventType, []byte, error) {
	f.in.skip(f.last)
	f.last = 0
	head, err := f.in.need(4)
	if err != nil {
		if len(head) > 0 {
			err = unexpected(err)
		}
		return "", nil, err
	}
	n := int(binary.BigEndian.Uint32(head))
	if n > maxFrame {
		return "", nil, fmt.Errorf("client: watch frame of %d bytes", n)
	}
	frame, err := f.in.need(4 + n)
	if err != nil {
		return "", nil, unexpected(err)
	}
	f.last = len(frame)
	return cutProtoEvent(frame[4:])
}

func (f *protoFrames) more() bool {
	there := f.in.unread()
	there = there[min(f.last, len(there)):]
	return len(there) >= 4 && uint64(len(there)) >= 4+uint64(binary.BigEndian.Uint32(there))
}

// cutProtoEvent finds type and object in a metav1.WatchEvent, without a copy.
func cutProtoEvent(b []byte) (typ watch.EventType, raw []byte, err error) {
	err = eachField(b, func(f protowire.Number, v []byte) error {
		switch f {
		case 1:
			if typ = eventType(v); typ == "" {
				return fmt.Errorf("client: watch event of unknown type %q", v)
			}
		case 2: // a runtime.RawExtension
			return eachField(v, func(f protowire.Number, v []byte) error {
				if f == 1 {
					raw = v
				}
				return nil
			})
		}
		return nil
	})
	return typ, raw, err
}

// jsonFrames reads JSON values that stand one per line, as servers send them, and
// values spread over lines as well.
type jsonFrames struct {
	in   inbox
	last int // bytes of in that the event before took
}

func (f *jsonFrames) next() (watch.EventType, []byte, error) {
	for {
		f.in.skip(f.last)
		f.last = 0
		typ, raw, err := f.event()
		if err != nil || typ != "" {
			return typ, raw, err
		}
	}
}

// event reads lines until they are an event. An empty line has none.
func (f *jsonFrames) event() (watch.EventType, []byte, error) {
	for {
		lines, err := f.in.line(f.last)
		if err != nil && err != io.EOF {
			return "", nil, err
		}
		f.last = len(lines)
		if typ, raw, ok := cutEvent(lines); ok {
			return typ, raw, nil
		}
		if len(bytes.TrimSpace(lines)) == 0 {
			return "", nil, err
		}
		typ, raw, perr := parseEvent(lines)
		switch {
		case perr == nil:
			return typ, raw, nil
		case err == io.EOF:
			return "", nil, io.ErrUnexpectedEOF
		case !isTruncated(perr):
			return "", nil, fmt.Errorf("client: watch event: %w", perr)
		}
	}
}

func (f *jsonFrames) more() bool {
	there := f.in.unread()
	there = there[min(f.last, len(there)):]
	end := bytes.IndexByte(there, '\n')
	if end < 0 {
		return false
	}
	_, _, ok := cutEvent(there[:end])
	return ok
}

// cutEvent finds type and object in the form that every known server writes,
// {"type":"ADDED","object":{...}}, without parsing the object: decoding it later fails if
// it is malformed.
func cutEvent(line []byte) (watch.EventType, []byte, bool) {
	rest, ok := bytes.CutPrefix(line, []byte(`{"type":"`))
	if !ok {
		return "", nil, false
	}
	i := bytes.IndexByte(rest, '"')
	if i < 0 {
		return "", nil, false
	}
	typ := eventType(rest[:i])
	rest, ok = bytes.CutPrefix(rest[i+1:], []byte(`,"object":{`))
	if !ok || typ == "" {
		return "", nil, false
	}
	rest = bytes.TrimRight(rest, " \r\n")
	if !bytes.HasSuffix(rest, []byte(`}}`)) {
		return "", nil, false
	}
	start := len(`{"type":"`) + i + len(`","object":`) // of the object, brace included
	return typ, line[start : start+len(rest)], true
}

func eventType(b []byte) watch.EventType {
	switch string(b) {
	case "ADDED":
		return watch.Added
	case "MODIFIED":
		return watch.Modified
	case "DELETED":
		return watch.Deleted
	case "BOOKMARK":
		return watch.Bookmark
	case "ERROR":
		return watch.Error
	}
	return ""
}

// parseEvent reads an event of any form.
func parseEvent(b []byte) (watch.EventType, []byte, error) {
	var ev struct {
		Type   string             `json:"type"`
		Object stdjson.RawMessage `json:"object"`
	}
	if err := stdjson.Unmarshal(b, &ev); err != nil {
		return "", nil, err
	}
	typ := eventType([]byte(ev.Type))
	if typ == "" {
		return "", nil, fmt.Errorf("unknown type %q", ev.Type)
	}
	return typ, ev.Object, nil
}

func isTruncated(err error) bool {
	var syntax *stdjson.SyntaxError
	return errors.As(err, &syntax) && syntax.Error() == "unexpected end of JSON input"
}

func unexpected(err error) error {
	if err == io.EOF {
		return io.ErrUnexpectedEOF
	}
	return err
}
