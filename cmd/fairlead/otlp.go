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

// otlpFlags say where to send the lives of events.
type otlpFlags struct{ endpoint string }

// headersVariable has what is sent with each request, a token say, as OpenTelemetry's own
// exporters take it: name=value, percent-encoded, with commas between.
const headersVariable = "OTEL_EXPORTER_OTLP_HEADERS"

func (f *otlpFlags) register(flags *pflag.FlagSet) {
	flags.StringVar(&f.endpoint, "otlp-endpoint", "", "URL of an OpenTelemetry receiver to send the lives of events to, such as http://localhost:4318 (default none); $"+headersVariable+" is sent along")
}

// start exports what l knows until stop, which sends the last of it.
func (f *otlpFlags) start(l *trace.Log) (stop func(), err error) {
	if f.endpoint == "" {
		return func() {}, nil
	}
	if err := export.Check(f.endpoint); err != nil {
		return nil, usageError{fmt.Errorf("--otlp-endpoint=%w", err)}
	}
	if l == nil {
		return nil, usageError{errors.New("--otlp-endpoint has nothing to send with --trace-events=0")}
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
