package serverflags

import (
	"errors"
	"fmt"
	"regexp"
	"strings"
	"time"

	"fairlead.dev/internal/controlplane"
	"github.com/spf13/pflag"
)

// httpFlags are the flags that have another form than their options.
type httpFlags struct {
	origins, hsts []string
	minTimeout    int
}

func (f *httpFlags) register(set *pflag.FlagSet, o *controlplane.Options) {
	set.StringSliceVar(&f.origins, "cors-allowed-origins", nil, "regular expressions for the origins of web pages that may send requests from a browser; each pins the host by ^ or // at its start and $ or : at its end, such as //example\\.com(:|$)")
	set.StringSliceVar(&f.hsts, "strict-transport-security-directives", nil, "directives of HSTS, such as max-age=31536000,includeSubDomains,preload")
	set.Float64Var(&o.HTTP.GoawayChance, "goaway-chance", 0, "fraction of requests over HTTP/2, up to 0.02, after which the client is told to connect anew; for several servers behind a load balancer")
	set.BoolVar(&o.HTTP.NoHTTP2, "disable-http2-serving", false, "serve HTTP/1.1 only")
	set.IntVar(&o.HTTP.MaxStreams, "http2-max-streams-per-connection", 0, "how many requests a connection over HTTP/2 has at once (default 100)")
	set.Int64Var(&o.HTTP.MaxBytesPerSec, "max-connection-bytes-per-sec", 0, "limit on each direction of exec, attach, port-forward and proxied connections, in bytes a second; 0 for no limit")
	set.IntVar(&f.minTimeout, "min-request-timeout", 1800, "least time, in seconds, of a watch whose client asks for no time; each gets up to twice that")
	set.DurationVar(&o.Termination.Delay, "shutdown-delay-duration", 0, "how long requests are still answered at the end, while /readyz fails")
	set.DurationVar(&o.Termination.Watches, "shutdown-watch-termination-grace-period", 0, "time at the end over which open watches are ended one after another, after other requests have ended, so that their clients do not all connect elsewhere at once; 0 ends them at once")
	set.BoolVar(&o.Termination.RetryAfter, "shutdown-send-retry-after", false, "answer new requests by 429 at the end, until those in progress are answered, in place of closing the port")
}

func (f *httpFlags) complete(o *controlplane.Options) error {
	for _, text := range f.origins {
		re, err := originOf(text)
		if err != nil {
			return err
		}
		o.HTTP.Origins = append(o.HTTP.Origins, re)
	}
	for _, d := range f.hsts {
		age, ok := strings.CutPrefix(d, "max-age=")
		switch {
		case strings.TrimSpace(d) == "":
			return errors.New("empty value in strict-transport-security-directives")
		case d != "includeSubDomains" && d != "preload" && (!ok || strings.Contains(age, "=")):
			return errors.New("--strict-transport-security-directives invalid, allowed values: max-age=expireTime, includeSubDomains, preload. see https://tools.ietf.org/html/rfc6797#section-6.1 for more information")
		}
	}
	o.HTTP.StrictTransportSecurity = strings.Join(f.hsts, "; ")
	switch {
	case o.HTTP.GoawayChance < 0 || o.HTTP.GoawayChance > 0.02:
		return errors.New("--goaway-chance can not be less than 0 or greater than 0.02")
	case o.HTTP.MaxStreams < 0:
		return errors.New("--http2-max-streams-per-connection can not be negative value")
	case f.minTimeout < 0:
		return errors.New("--min-request-timeout can not be negative value")
	case o.Termination.Delay < 0:
		return errors.New("--shutdown-delay-duration can not be negative value")
	case o.Termination.Watches < 0:
		return errors.New("shutdown-watch-termination-grace-period, if provided, can not be a negative value")
	}
	o.HTTP.WatchTimeout = time.Duration(f.minTimeout) * time.Second
	return nil
}

// originOf compiles an expression. One that does not pin the host would match the origins of other hosts.
func originOf(text string) (*regexp.Regexp, error) {
	if text == "" {
		return nil, errors.New("empty value in --cors-allowed-origins")
	}
	re, err := regexp.Compile(text)
	if err == nil && (!strings.Contains(text, "^") && !strings.Contains(text, "//") || !strings.Contains(text, "$") && !strings.Contains(text, ":")) {
		err = errors.New("regular expression does not pin to start/end of host in the origin header")
	}
	if err != nil {
		return nil, fmt.Errorf("--cors-allowed-origins has an invalid regular expression: %w", err)
	}
	return re, nil
}
