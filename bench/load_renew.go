package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"regexp"
	"time"
)

const renewedPath = "/apis/coordination.k8s.io/v1/namespaces/" + namespace + "/leases"

// renewed is how many Leases there are, and renewals how often each is renewed.
const (
	renewed  = 500
	renewals = 6
)

var resourceVersion = regexp.MustCompile(`"resourceVersion":"(\d+)"`)

// renew renews Leases as kubelets do: the owner of each writes the whole object with the version that it knows. The renewals of a
// Lease come one after another.
func renew(ctx context.Context, b *bench) ([]figure, error) {
	known := make([]string, renewed)
	round := func() error {
		return each(ctx, renewed, writers, func(ctx context.Context, i int) error { return b.renew(ctx, i, &known[i]) })
	}
	if err := round(); err != nil { // which creates them
		return nil, err
	}
	cpu, wall, err := b.spent(func() error {
		for range renewals {
			if err := round(); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return b.withEtcd("renew", cpu,
		figure{"renew", us(cpu) / (renewed * renewals)},
		figure{"renew-rate", renewed * renewals / wall.Seconds()},
	), nil
}

// renew writes a Lease whose version is known, or else creates it.
func (b *bench) renew(ctx context.Context, i int, known *string) error {
	name := fmt.Sprintf("node-%05d", i)
	r := request{method: http.MethodPost, path: renewedPath, want: http.StatusCreated}
	version := ""
	if *known != "" {
		r.method, r.path, r.want = http.MethodPut, renewedPath+"/"+name, http.StatusOK
		version = fmt.Sprintf(`"resourceVersion":%q,`, *known)
	}
	r.body = fmt.Appendf(nil, `{"apiVersion":"coordination.k8s.io/v1","kind":"Lease","metadata":{"name":%q,%s"ownerReferences":[{"apiVersion":"v1","kind":"Node","name":%q,"uid":"6ba7b810-9dad-11d1-80b4-00c04fd430c8"}]},`+
		`"spec":{"holderIdentity":%q,"leaseDurationSeconds":40,"renewTime":%q}}`, name, version, name, name, time.Now().UTC().Format("2006-01-02T15:04:05.000000Z"))
	r.read = func(in io.Reader) error {
		text, err := io.ReadAll(in)
		if err != nil {
			return err
		}
		found := resourceVersion.FindSubmatch(text)
		if found == nil || bytes.Equal(found[1], []byte(*known)) {
			return fmt.Errorf("lease %s has no new version", name)
		}
		*known = string(found[1])
		return nil
	}
	return b.conn(i).call(ctx, r)
}
