package trace

import (
	"context"
	"encoding/binary"
	"encoding/hex"
	"net/http"
	"slices"
	"strconv"
	"strings"
)

// Parent is the origin of a request: its trace, the span within it, and, for a controller
// of this library, the events that the controller acted on.
type Parent struct {
	Trace  [16]byte
	Span   uint64
	Causes []int64
}

// The header fields, and the member of tracestate that is ours, by
// https://www.w3.org/TR/trace-context/.
const (
	headerParent = "Traceparent"
	headerState  = "Tracestate"
	stateKey     = "fairlead="
)

// maxPassedCauses is how many causes a Parent passes on: the first ones, and the last.
const maxPassedCauses = 8

// passedCauses are those of a work's causes that its writes name.
func passedCauses(causes []int64) []int64 {
	if len(causes) <= maxPassedCauses {
		return causes
	}
	return append(slices.Clone(causes[:maxPassedCauses-1]), causes[len(causes)-1])
}

// ParseParent reads a request's header. It returns the zero Parent if the header is missing
// or malformed, as the specification asks.
func ParseParent(h http.Header) Parent {
	text := first(h, headerParent)
	var p Parent
	if len(text) < 55 || text[2] != '-' || text[35] != '-' || text[52] != '-' || text[:2] == "ff" || text[:2] == "00" && len(text) != 55 {
		return p
	}
	var span [8]byte
	if _, err := hex.Decode(p.Trace[:], []byte(text[3:35])); err != nil || p.Trace == [16]byte{} {
		return Parent{}
	}
	if _, err := hex.Decode(span[:], []byte(text[36:52])); err != nil || span == [8]byte{} {
		return Parent{}
	}
	p.Span = binary.BigEndian.Uint64(span[:])
	for member := range strings.SplitSeq(first(h, headerState), ",") {
		causes, ok := strings.CutPrefix(strings.TrimSpace(member), stateKey)
		if !ok {
			continue
		}
		for c := range strings.SplitSeq(causes, ".") {
			if rev, err := strconv.ParseInt(c, 10, 64); err == nil && rev > 0 && len(p.Causes) < maxPassedCauses {
				p.Causes = append(p.Causes, rev)
			}
		}
	}
	return p
}

func first(h http.Header, key string) string {
	if v := h[key]; len(v) > 0 {
		return v[0]
	}
	return ""
}

// Set writes the header that ParseParent reads.
func (p *Parent) Set(h http.Header) {
	b := make([]byte, 0, 55)
	b = append(b, "00-"...)
	b = hex.AppendEncode(b, p.Trace[:])
	b = append(b, '-')
	b = hex.AppendEncode(b, binary.BigEndian.AppendUint64(nil, p.Span))
	b = append(b, "-01"...)
	h[headerParent] = []string{string(b)}
	if len(p.Causes) == 0 {
		return
	}
	b = append(b[:0], stateKey...)
	for i, rev := range p.Causes {
		if i > 0 {
			b = append(b, '.')
		}
		b = strconv.AppendInt(b, rev, 10)
	}
	h[headerState] = []string{string(b)}
}

type contextKey struct{}

// WithParent returns a context whose requests, made with this library's client, carry p as
// their parent.
func WithParent(ctx context.Context, p *Parent) context.Context {
	return context.WithValue(ctx, contextKey{}, p)
}

// FromContext is the context's Parent, or nil.
func FromContext(ctx context.Context) *Parent {
	p, _ := ctx.Value(contextKey{}).(*Parent)
	return p
}

// Revision is the number of a resourceVersion, 0 if it is not a number.
func Revision(resourceVersion string) int64 {
	n, err := strconv.ParseInt(resourceVersion, 10, 64)
	if err != nil || n < 0 {
		return 0
	}
	return n
}

// ID is the trace ID in the specification's format, or "".
func (p *Parent) ID() string {
	if p.Trace == [16]byte{} {
		return ""
	}
	return hex.EncodeToString(p.Trace[:])
}

// Reconcile is the number of the reconcile that is the Parent, 0 if the Parent is not a
// reconcile of this library.
func (p *Parent) Reconcile() uint64 {
	if binary.BigEndian.Uint64(p.Trace[8:]) != p.Span {
		return 0
	}
	return p.Span
}
