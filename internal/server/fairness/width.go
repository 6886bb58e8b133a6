package fairness

import (
	"math"
	"net/url"
	"strconv"
	"time"

	"fairlead.dev/internal/server/request"
)

// Width is how many seats a request takes: Initial while it runs, and Final for Linger after it, for the work that its event
// causes. It holds the larger number all the time.
type Width struct {
	Initial, Final int
	Linger         time.Duration
}

func (w Width) max() int { return max(w.Initial, w.Final) }

// The parameters of kube-apiserver.
const (
	// guess is the time that a request is expected to run.
	guess = 3 * time.Millisecond
	// maxListSeats and maxWriteSeats bound the width of one request.
	maxListSeats, maxWriteSeats = 100, 10
	bytesPerSeat                = 100_000
	// maxStreamed is the memory that a list takes at most, since it is sent in parts.
	maxStreamed = 1_000_000
	// largestObject stands for the size of objects of unknown size.
	largestObject = 1_500_000
	// watchersPerSeat occupy a seat for eventTime when an object changes.
	watchersPerSeat = 10
	eventTime       = 5 * time.Millisecond
)

// Objects describes the stored objects of a resource.
type Objects struct {
	Count int
	// Size is the mean of their sizes in bytes, 0 if it is not known.
	Size int
}

// Listed returns the objects that a list has, or that a watch begins with. Their number is 0 for other requests and if they are
// not known. Objects of unknown size count as large ones.
func Listed(in *request.Info, query url.Values, objects func(group, resource string) (Objects, bool)) Objects {
	switch in.Verb {
	case "list":
	case "watch":
		if v := query.Get("resourceVersion"); v != "" && v != "0" && !request.IsTrue(query["sendInitialEvents"]) {
			return Objects{}
		}
	default:
		return Objects{}
	}
	o, ok := objects(in.Group, in.Resource)
	if !ok {
		return Objects{}
	}
	if o.Size <= 0 {
		o.Size = largestObject
	}
	// The verb refuses a limit that is not a number.
	if limit, err := strconv.Atoi(query.Get("limit")); err == nil && limit > 0 {
		o.Count = min(o.Count, limit)
	}
	if in.Name != "" {
		o.Count = 1
	}
	return o
}

// Bytes returns the size of all of them.
func (o Objects) Bytes() int { return o.Count * o.Size }

// listWidth returns the width of a list, or of a watch that begins with one, by the bytes of its objects. Lists are served
// from memory here, so they are those that kube-apiserver serves from its cache.
func listWidth(bytes, atMost int) Width {
	memory := min(bytes, maxStreamed)
	return Width{Initial: clampSeats((memory+bytesPerSeat-1)/bytesPerSeat, atMost, maxListSeats)}
}

// clampSeats bounds seats by 1, by the level's number (0 is none) and by that of all levels.
func clampSeats(seats, level, all int) int {
	if level == 0 || level > all {
		level = all
	}
	return min(max(seats, 1), level)
}

// writeWidth returns the width of a write of an object that a number of watchers see. Their work is a rectangle of seats and
// time. A level that allows fewer seats gets it narrower and longer.
func writeWidth(watchers, atMost int) Width {
	w := Width{Initial: 1}
	if watchers >= watchersPerSeat {
		wanted := math.Ceil(float64(watchers) / watchersPerSeat)
		w.Final = clampSeats(int(wanted), atMost, maxWriteSeats)
		w.Linger = time.Duration(wanted * float64(eventTime) / float64(w.Final))
	}
	return w
}
