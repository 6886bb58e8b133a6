package spans

import (
	"context"
	"fmt"
	"os"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/sdk/resource"
	"k8s.io/apiserver/pkg/apis/apiserver"
	utilfeature "k8s.io/apiserver/pkg/util/feature"
	"k8s.io/component-base/tracing"
	tracingapi "k8s.io/component-base/tracing/api/v1"

	"fairlead.dev/internal/apiserverconfig"
)

// Provider is where spans go: an OpenTelemetry receiver, by OTLP over gRPC.
type Provider = tracing.TracerProvider

// FromFile returns the Provider of a TracingConfiguration of apiserver.config.k8s.io. server is the identity of the API server. It
// connects to the receiver when there are spans, and keeps some of them while it does not answer. Shutdown sends the last ones.
func FromFile(path, server string) (Provider, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("failed to read tracing config: %w", err)
	}
	decoded, err := apiserverconfig.Decode(text)
	if err != nil {
		return nil, fmt.Errorf("failed to read tracing config: %s: %w", path, err)
	}
	config, ok := decoded.(*apiserver.TracingConfiguration)
	if !ok {
		return nil, fmt.Errorf("failed to read tracing config: %s: expected TracingConfiguration, got %T", path, decoded)
	}
	if errs := tracingapi.ValidateTracingConfiguration(&config.TracingConfiguration, utilfeature.DefaultFeatureGate, nil); len(errs) > 0 {
		return nil, fmt.Errorf("failed to validate tracing configuration: %s: %w", path, errs.ToAggregate())
	}
	return tracing.NewProvider(context.Background(), &config.TracingConfiguration, nil, []resource.Option{
		resource.WithAttributes(attribute.String("service.name", "apiserver"), attribute.String("service.instance.id", server)),
	})
}
