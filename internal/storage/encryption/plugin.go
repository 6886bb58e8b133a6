package encryption

import (
	"bytes"
	"context"
	"sync"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

const (
	// shortRest is the time for which a KMS plugin that has failed to answer is not asked, and longRest that for which it
	// is only asked again about values that it has been asked about.
	shortRest = time.Second
	longRest  = time.Minute
)

// plugins are the KMS plugins that values name.
type plugins struct{ byName sync.Map }

var kmsPrefix = []byte("k8s:enc:kms:v2:")

// of returns the plugin that the data key of a value comes from, nil for a value of another provider.
func (p *plugins) of(v []byte) *plugin {
	rest, ok := bytes.CutPrefix(v, kmsPrefix)
	if !ok {
		return nil
	}
	name, _, _ := bytes.Cut(rest, []byte(":"))
	if found, ok := p.byName.Load(string(name)); ok {
		return found.(*plugin)
	}
	found, _ := p.byName.LoadOrStore(string(name), &plugin{})
	return found.(*plugin)
}

// plugin is how a KMS plugin answered last.
type plugin struct {
	mu struct {
		sync.Mutex
		// failure is why the last caller got no answer, nil if it got one.
		failure error
		// failed is the time of the failure; asking, that a caller asks again.
		failed time.Time
		asking bool
	}
}

// ask calls decrypt, which asks the plugin if the data key is not known. While the plugin rests, decrypt gets an ended
// context, with which it succeeds only without the plugin.
func (p *plugin) ask(ctx context.Context, again bool, decrypt func(context.Context) error) error {
	rest := longRest
	if again {
		rest = shortRest
	}
	p.mu.Lock()
	failure := p.mu.failure
	rests := failure != nil && (p.mu.asking || time.Since(p.mu.failed) < rest)
	if !rests {
		p.mu.asking = failure != nil
	}
	p.mu.Unlock()
	if rests {
		ended, end := context.WithCancel(ctx)
		end()
		err := decrypt(ended)
		if status.Code(err) == codes.Canceled || isUnanswered(err) {
			return failure
		}
		return err
	}
	err := decrypt(ctx)
	p.mu.Lock()
	defer p.mu.Unlock()
	p.mu.failure, p.mu.asking = nil, false
	if isUnanswered(err) {
		p.mu.failure, p.mu.failed = err, time.Now()
	}
	return err
}

// isUnanswered reports whether an error means that the plugin did not answer.
func isUnanswered(err error) bool {
	code := status.Code(err)
	return code == codes.Unavailable || code == codes.DeadlineExceeded
}
