package trace

// Stream is a watch that somebody has open, or had. It must not be changed once it has
// been given to a Log.
type Stream struct {
	// ID counts the server's streams.
	ID uint64 `json:"id"`
	// User and Agent are who reads it, with what program.
	User  string `json:"user,omitempty"`
	Agent string `json:"agent,omitempty"`
	// Resource is "plural.group"; the rest what it was narrowed down to.
	Resource  string `json:"resource"`
	Namespace string `json:"namespace,omitempty"`
	Name      string `json:"name,omitempty"`
	Labels    string `json:"labelSelector,omitempty"`
	Fields    string `json:"fieldSelector,omitempty"`
}

// delivery is what one stream sent in one turn.
type delivery struct {
	stream *Stream
	revs   [DeliveryEvents]int64
	events int
	at     [Deliveries]Instant
}

// DeliveryEvents is how many events a delivery holds at most.
const DeliveryEvents = 8

// DeliveryHop is a place on an event's way to one client.
type DeliveryHop uint8

const (
	// Framed: its bytes are appended to what the connection will write.
	Framed DeliveryHop = iota
	// Flushed: the connection has written them.
	Flushed
	// Deliveries is how many there are.
	Deliveries
)

var deliveryNames = [Deliveries]string{"framed", "flushed"}

func (h DeliveryHop) String() string { return deliveryNames[h] }

// Sent enters that a stream has framed the events of these revisions, DeliveryEvents at
// most. It returns the number by which Flushed knows the delivery.
func (l *Log) Sent(to *Stream, revs []int64, framed Instant) uint64 {
	if l == nil {
		return 0
	}
	d := delivery{stream: to}
	d.at[Framed] = framed
	d.events = copy(d.revs[:], revs)
	return l.deliveries.put(d)
}

// Flushed enters that a delivery has been written.
func (l *Log) Flushed(sent uint64, i Instant) {
	if l == nil {
		return
	}
	l.deliveries.change(sent, func(d *delivery) { d.at[Flushed] = i })
	l.bell.ring()
}
