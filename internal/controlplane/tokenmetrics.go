package controlplane

import "github.com/prometheus/client_golang/prometheus"

// tokenMetrics count uses of service accounts' tokens, under kube-apiserver's names.
type tokenMetrics struct {
	legacy, manual, generated, invalid, stale, valid prometheus.Counter
}

func newTokenMetrics() tokenMetrics {
	counter := func(name, help string) prometheus.Counter {
		return prometheus.NewCounter(prometheus.CounterOpts{Name: "serviceaccount_" + name, Help: help})
	}
	return tokenMetrics{
		legacy:    counter("legacy_tokens_total", "Uses of tokens that Secrets store."),
		manual:    counter("legacy_manual_token_uses_total", "Uses of tokens that users had stored in Secrets."),
		generated: counter("legacy_auto_token_uses_total", "Uses of tokens in Secrets that their service account lists."),
		invalid:   counter("invalid_legacy_auto_token_uses_total", "Uses of tokens in Secrets that are marked as no longer valid."),
		stale:     counter("stale_tokens_total", "Uses of pods' tokens that should have been replaced by newer ones."),
		valid:     counter("valid_tokens_total", "Uses of pods' tokens that need not have been replaced yet."),
	}
}

func (m tokenMetrics) register(r prometheus.Registerer) error {
	for _, c := range []prometheus.Counter{m.legacy, m.manual, m.generated, m.invalid, m.stale, m.valid} {
		if err := r.Register(c); err != nil {
			return err
		}
	}
	return nil
}
