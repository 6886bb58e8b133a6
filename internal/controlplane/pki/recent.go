package pki

import (
	"crypto/tls"
	"sync"
	"time"
)

// recent are the certificates of the last hour, which forks of one control plane share.
type recent struct {
	sync.Mutex
	pairs map[string]pair
}

// pair is a certificate with its key, in PEM and, for a server's, parsed.
type pair struct {
	cert, key []byte
	serving   tls.Certificate
	issued    time.Time
}

// get returns the pair of the last hour, by the clock of now, for a request, or else issues one.
func (r *recent) get(request string, now time.Time, issue func() (pair, error)) (pair, error) {
	r.Lock()
	defer r.Unlock()
	if p, ok := r.pairs[request]; ok && now.Sub(p.issued) < time.Hour {
		return p, nil
	}
	p, err := issue()
	if err != nil {
		return pair{}, err
	}
	p.issued = now
	if r.pairs == nil {
		r.pairs = map[string]pair{}
	}
	r.pairs[request] = p
	return p, nil
}
