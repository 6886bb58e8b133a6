package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"strings"

	"github.com/spf13/pflag"

	"fairlead.dev/internal/trace/export"
	"fairlead.dev/trace"
)

// otlpFlags configure the receiver of events.
type otlpFlags struct{ endpoint string }

// headersVariable has headers for each request, a token for example, in the format of
// OpenTelemetry's own exporters: name=value, percent-encoded, separated by commas.
const headersVariable = "OTEL_EXPORTER_OTLP_HEADERS"

func (f *otlpFlags) register(flags *pflag.FlagSet) {
	flags.StringVar(&f.endpoint, "otlp-endpoint", "", "URL of an OpenTelemetry receiver to send the lives of events to, such as http://localhost:4318 (default none); the headers in $"+headersVariable+" are added")
}

// start exports l's events until stop, which sends the last ones.
func (f *otlpFlags) start(l *trace.Log) (stop func(), err error) {
	if f.endpoint == "" {
		return func() {}, nil
	}
	if err := export.Check(f.endpoint); err != nil {
		return nil, usageError{fmt.Errorf("--otlp-endpoint=%w", err)}
	}
	if l == nil {
		return nil, usageError{errors.New("--otlp-endpoint needs --trace-events above 0")}
	}
	o := export.Options{Endpoint: f.endpoint, Header: http.Header{}}
	for pair := range strings.SplitSeq(os.Getenv(headersVariable), ",") {
		name, value, ok := strings.Cut(pair, "=")
		if name = strings.TrimSpace(name); name == "" && !ok {
			continue
		}
		if value, err = url.PathUnescape(strings.TrimSpace(value)); err != nil || !ok || name == "" {
			return nil, usageError{fmt.Errorf("%s: want name=value, percent-encoded, with commas between", headersVariable)}
		}
		o.Header.Add(name, value)
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_ = export.Run(ctx, l, o) // fails for an endpoint alone, which has been checked
	}()
	return func() { cancel(); <-ended }, nil
}
