package processors_test

import (
	"runtime"
	"testing"
	"testing/synctest"
	"time"

	"fairlead.dev/internal/processors"
)

// TestBooster: the processors are doubled once however often work waits, and are as before some seconds after the last that waited.
func TestBooster(t *testing.T) {
	t.Setenv("GOMAXPROCS", "")
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
	runtime.SetDefaultGOMAXPROCS() // the tests may have been started with another number
	usual := runtime.GOMAXPROCS(0)
	synctest.Test(t, func(t *testing.T) {
		b := processors.New()
		for range 2 { // it can be repeated
			for range 10 {
				b.Overloaded()
				time.Sleep(2 * time.Second)
				if n := runtime.GOMAXPROCS(0); n != 2*usual {
					t.Fatalf("%d processors in place of %d while work waits", n, 2*usual)
				}
			}
			time.Sleep(20 * time.Second)
			synctest.Wait()
			if n := runtime.GOMAXPROCS(0); n != usual {
				t.Fatalf("%d processors in place of %d at rest", n, usual)
			}
		}
	})
}

// TestGivenProcessors: a number of processors that the environment sets is left as it is.
func TestGivenProcessors(t *testing.T) {
	t.Setenv("GOMAXPROCS", "3")
	given := runtime.GOMAXPROCS(0)
	processors.New().Overloaded()
	if n := runtime.GOMAXPROCS(0); n != given {
		t.Errorf("%d processors in place of %d", n, given)
	}
}
