package podcontrol

import "sync"

// maxInFlight bounds the requests that one batch has in flight.
const maxInFlight = 64

// SlowStart calls f count times in batches of 1, 2, 4, ... and stops after the first batch in which a call failed,
// so that an error common to all calls occurs once and not count times. It returns the number of successful calls
// and the first error.
func SlowStart(count int, f func(i int) error) (done int, err error) {
	for size := min(count, 1); size > 0; size = min(2*size, count-done) {
		first := done
		failed, err := Parallel(size, func(i int) error { return f(first + i) })
		done += size - failed
		if err != nil {
			return done, err
		}
	}
	return done, nil
}

// Parallel calls f for 0..count-1, several at a time, and waits for all. It returns the number of failed calls and
// the first error.
func Parallel(count int, f func(i int) error) (failed int, err error) {
	if count == 1 {
		if err := f(0); err != nil {
			return 1, err
		}
		return 0, nil
	}
	var state struct {
		sync.Mutex
		next, failed int
		err          error
	}
	next := func(last error) int {
		state.Lock()
		defer state.Unlock()
		if last != nil {
			state.failed++
			if state.err == nil {
				state.err = last
			}
		}
		state.next++
		return state.next - 1
	}
	var wg sync.WaitGroup
	for range min(count, maxInFlight) {
		wg.Go(func() {
			for i := next(nil); i < count; {
				i = next(f(i))
			}
		})
	}
	wg.Wait()
	return state.failed, state.err
}
