package controlplane

import (
	"context"
	"time"

	"fairlead.dev/internal/server/spans"
)

// spansPatience is how long the end of a control plane waits for the receiver of its last spans.
const spansPatience = 5 * time.Second

// openTracing returns where spans of requests go; nil for a control plane that does not record them, such as a fork.
func (cp *ControlPlane) openTracing() (spans.Provider, error) {
	if cp.base != nil || cp.options.Front != nil || cp.options.TracingConfigFile == "" {
		return nil, nil
	}
	p, err := spans.FromFile(cp.options.TracingConfigFile, serverID())
	if err != nil {
		return nil, optionErrorf("--tracing-config-file: %w", err)
	}
	return p, nil
}

// closeTracing sends the last spans.
func (cp *ControlPlane) closeTracing() {
	if cp.spans == nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), spansPatience)
	defer cancel()
	if err := cp.spans.Shutdown(ctx); err != nil {
		cp.options.Log.Warn("the last spans of requests are lost", "err", err)
	}
}
